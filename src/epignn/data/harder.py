"""Training sets that tell less: graphs left out, facts that lead nowhere, labels that are wrong.

Every function takes a data set and gives another; what is random depends on the generator alone.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadArgument, lookup


def with_labels(data: Dataset, names: Sequence[str]) -> Dataset:
    """The graphs whose label is one of the named relations.

    Raises:
        UnknownName: a name is not that of a relation.
    """
    numbers = {name: number for number, name in enumerate(data.relations)}
    chosen = [lookup("relation", name, numbers) for name in names]
    return data.select(np.isin(data.label, chosen))


def never_adjacent(data: Dataset, pairs: Sequence[str]) -> Dataset:
    """The graphs in which no edge of the first relation of a pair, `TPP NTPP`, ends where one of the second begins.

    Raises:
        BadArgument: a pair is not two names.
        UnknownName: a name is not that of a relation.
    """
    numbers = {name: number for number, name in enumerate(data.relations)}
    whole = data.disjoint()
    nodes = int(whole.start[-1])
    adjacent = np.zeros(len(data), dtype=bool)
    for pair in pairs:
        names = pair.split()
        if len(names) != 2:
            raise BadArgument(f"a pair of relations is written like 'TPP NTPP', not {pair!r}.")
        first, second = (lookup("relation", name, numbers) for name in names)
        ends = np.zeros(nodes, dtype=bool)
        ends[whole.target[data.edge_label == first]] = True
        follows = (data.edge_label == second) & ends[whole.source]
        adjacent[whole.graph[follows]] = True
    return data.select(~adjacent)


def with_noise(data: Dataset, count: int, rng: np.random.Generator) -> Dataset:
    """The same graphs with `count` facts more, each about an entity of its own.

    A fact leads from some entity of the graph, perhaps one that was added before, to the new one, or back. No path
    from head to tail is added, and whatever followed before follows still.
    """
    graphs = len(data)
    nodes = data.node_count.astype(np.int64)[:, None] + np.arange(count)
    some = (rng.random((graphs, count)) * nodes).astype(np.int64)
    away = rng.random((graphs, count)) < 0.5
    relation = rng.integers(0, len(data.relations), (graphs, count))
    ends = np.cumsum(data.edge_count)
    place = np.repeat(ends, count)

    def added(given: np.ndarray, more: np.ndarray) -> np.ndarray:
        return np.insert(given, place, more.ravel())

    return replace(
        data,
        node_count=data.node_count + count,
        edge_offset=offsets(data.edge_count + count),
        edge_source=added(data.edge_source, np.where(away, some, nodes)),
        edge_target=added(data.edge_target, np.where(away, nodes, some)),
        edge_label=added(data.edge_label, relation),
    )


def with_wrong_labels(data: Dataset, share: float, rng: np.random.Generator) -> Dataset:
    """The same graphs, a share of which has another relation as the label, drawn evenly among all others."""
    wrong = rng.random(len(data)) < share
    step = rng.integers(1, len(data.relations), len(data))
    label = np.where(wrong, (data.label + step) % len(data.relations), data.label)
    return replace(data, label=label)
