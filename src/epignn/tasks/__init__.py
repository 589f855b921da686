"""What models are trained and tested on: published data sets, generated ones, files of one's own. No torch.

A task is one class in one file, and one line in `TASKS`. Its fields are the settings of the `data` section of an
experiment; `task_kind` tells by the name in `data.task` which class is meant.
"""

from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.calculus import ALIASES, CALCULI
from epignn.entries import Code, Entries, is_file
from epignn.errors import BadArgument, unknown

CARRIED = ("nations", "umls", "kinships")
"""Small graphs that are tested on the entities of training."""
TASKS = Entries(
    "task",
    "epignn.tasks",
    MappingProxyType(
        {
            "star": "epignn.tasks.star:Star",
            "clutrr": "epignn.tasks.published:Published",
            "graphlog": "epignn.tasks.published:Published",
            "families": "epignn.tasks.families:Families",
            "world": "epignn.tasks.worlds:World",
            "files": "epignn.tasks.own:Files",
            "wn18rr": "epignn.tasks.links:Grail",
            "fb237": "epignn.tasks.links:Grail",
            "nell": "epignn.tasks.links:Grail",
            "wn18rr-e": "epignn.tasks.links:Clustered",
            "codex-m-e": "epignn.tasks.links:Clustered",
            "hetionet-e": "epignn.tasks.links:Clustered",
            "fb237-er": "epignn.tasks.links:Clustered",
            "codex-m-er": "epignn.tasks.links:Clustered",
            **dict.fromkeys(CARRIED, "epignn.tasks.links:Carried"),
            "triples": "epignn.tasks.links:Triples",
        }
    ),
)
"""All tasks by the word before the colon of their names; `clutrr:db9b8f04` is a version of `clutrr`."""
SPLITS = tuple(f"{name}:v{version}" for name in ("wn18rr", "fb237") for version in (1, 2, 3, 4))
"""The inductive splits of GraIL that the paper has."""
CSV = (".csv", ".csv.gz")
SAME = MappingProxyType({"fb15k-237": "fb237", "fb15k237": "fb237"})
"""Other words for a task."""


def task_kind(name: str) -> str:
    """The entry of the list that a task belongs to, by its name.

    A name is one of the list, with a version after a colon where it has some; a calculus, whose problems are
    generated; a folder or a file; or `path/to/file.py:Class`, which is an entry by itself.

    Raises:
        UnknownName: it is none of these.
    """
    word = name.partition(":")[0].casefold()
    word = SAME.get(word, word)
    if is_file(name) or word in TASKS.names():
        return name if is_file(name) else word
    if word in (*CALCULI, *ALIASES) or name.endswith(".toml"):
        return "star"
    from epignn.tasks.links import holds_triples

    path = Path(name)
    if holds_triples(path):
        return "triples"
    if path.is_dir():
        return "files"
    if name.endswith(CSV):
        plain = name.removesuffix(".gz").removesuffix(".csv")
        raise BadArgument(
            f"training takes no single CSV file. If {name} holds triples, write them with tabs between head, "
            f"relation and tail: `tr , '\\t' < {plain}.csv > {plain}.tsv`, and `epignn train {plain}.tsv`. "
            "If it holds labelled graphs, name the folder that it is in."
        )
    raise unknown("task", name, [*CALCULI, *TASKS.names(), "a folder of files", "a file of triples (.tsv)"])


def task_of(name: str, code: Code = frozenset()) -> Any:
    """A task by its name, with the settings that it has by default."""
    kind = task_kind(name)
    return TASKS.get(kind, code)(kind=kind, task=name)
