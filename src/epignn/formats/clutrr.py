"""The CSV files in which CLUTRR's kinship problems were published: a walk through a family a row.

    …,target,…,story_edges,edge_types,query_edge,…
    …,son,…,"[(0, 1), (1, 2)]","['daughter', 'brother']","(0, 2)",…

An edge `(a, b)` of type `r` reads "b is the r of a". Columns are found by their names, in any order; those with
stories and proofs are passed over. A row with more edges than types, or fewer, is refused. Walks may visit a person
twice, so that edges may be opposite or parallel. `1.<k>_test.csv` in a name gives the hops of all rows.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from epignn.data.dataset import Dataset
from epignn.formats.columns import Columns

COLUMNS = ("story_edges", "edge_types", "query_edge", "target")

_HOPS = re.compile(r"\d+\.(\d+)_[^,]*\.csv(\.gz)?")


def read_clutrr(path: Path, relations: Sequence[str] | None = None) -> Dataset:
    """Read a published file; the edges of a graph are in the order of its walk.

    Args:
        path: a CSV file, also gzipped.
        relations: the vocabulary, such as a model's; the sorted names that occur in the file if left out.

    Raises:
        BadFile: it cannot be read, a row is malformed, or a relation is not in the vocabulary.
    """
    path = Path(path)
    columns = Columns.read(path, COLUMNS)
    hops = _HOPS.fullmatch(path.name)
    return columns.dataset(*columns.codes.vocabulary(relations, str(path)), k=int(hops[1]) if hops else 0)
