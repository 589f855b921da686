"""Questions of many heads as jobs: each worker answers some heads over a graph that all share, into a shard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from epignn.bridges.shards import Shards
from epignn.data.graph import Graph, Ints
from epignn.data.shared import graph_of_arrays
from epignn.reason.answers import Answers, Finder
from epignn.reason.links import Links
from epignn.workers import Shared
from epignn.workers.api import Tell


@dataclass(frozen=True)
class Asking:
    """What all shards of a table share: plain values.

    Attributes:
        models: the name of a model, or of several with commas between.
        device: where they run.
        code: files that models are classes of.
        graph: its arrays; see `epignn.data.shared`.
        top, include_known, least: which answers are told.
        paths: whether they are told with what supports them.
        out, about: of the table, as `Shards` takes them.
    """

    models: str
    device: str
    code: tuple[Path, ...]
    graph: Shared
    top: int
    include_known: bool
    least: float
    paths: bool
    out: Path
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A shard: its number, and the heads whose questions it answers."""

    asking: Asking
    number: int
    questions: Sequence[tuple[int, Ints]]


_opened: dict[str, tuple[Links, Graph]] = {}
"""The model and the graph that this process had last: all shards of a table have the same."""


def write_part(part: Part, tell: Tell) -> int:
    """Answer the questions of a shard and write it; returns how many answers it has."""
    torch.set_num_threads(1)  # the same bits whoever does it
    asking = part.asking
    links, graph = _open(asking)
    finder = links.finder(graph) if asking.paths else None
    found = links.answers(graph, part.questions, asking.top, asking.include_known, asking.least)
    columns = columns_of(list(found), finder)
    Shards(asking.out, asking.about).write(part.number, columns)
    return len(columns["tail"])


def _open(asking: Asking) -> tuple[Links, Graph]:
    key = f"{asking.models} {sorted(asking.about.items())}"
    if key not in _opened:
        _opened.clear()
        _opened[key] = Links.load(asking.models, asking.device, asking.code), graph_of_arrays(asking.graph.open())
    return _opened[key]


def columns_of(parts: Sequence[Answers], finder: Finder | None) -> dict[str, list[Any]]:
    """The columns of several parts, with paths where there is a finder."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        columns = part.columns()
        if finder is not None:
            columns["path"] = [str(one.path or "") for one in part.rows(finder)]
        for name, values in columns.items():
            found.setdefault(name, []).extend(values)
    return found
