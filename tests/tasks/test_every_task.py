"""What holds of every task of the list: one vocabulary, a split that the seed decides, tests apart from it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.entries import allowed
from epignn.formats.star_csv import write_csv
from epignn.tasks import TASKS, task_of
from epignn.tasks.api import GraphTask, LinkTask
from epignn.tasks.star import generated
from tests.conftest import made_here
from tests.links import family, lines

OWN = Path(__file__).parents[2] / "examples" / "task.py"
GRAPHS = {
    "star": ("rcc8", (5, 1)),
    "clutrr": ("clutrr:db9b8f04", (6, 0)),
    "graphlog": ("graphlog:world_32", (0, 0)),
    "families": ("families", (5, 0)),
    "world": ("world:32", (0, 0)),
    "files": ("files", None),
    "own": (f"{OWN}:Clock", (5, 0)),
}
"""By entry: a name of a task, and a cell that it is tested on."""
LINKS = {
    "wn18rr": "wn18rr:v1",
    "fb237": "fb237:v2",
    "nell": "nell:v3",
    "wn18rr-e": "wn18rr-e:1",
    "codex-m-e": "codex-m-e",
    "hetionet-e": "hetionet-e:0",
    "fb237-er": "fb237-er",
    "codex-m-er": "codex-m-er:1",
    "nations": "nations",
    "umls": "umls",
    "kinships": "Kinships",
    "triples": "own.tsv",
}


def test_the_cases_are_all_of_the_list():
    assert {*GRAPHS, *LINKS} - {"own"} == set(TASKS.names())


@pytest.fixture(params=GRAPHS)
def graphs(request, registered, tmp_path) -> tuple[GraphTask, tuple[int, int] | None]:
    name, cell = GRAPHS[request.param]
    if name == "files":
        name = str(tmp_path / "folder")
        Path(name).mkdir()
        write_csv(Path(name) / "a.csv.gz", [generated(load("rcc8"), 2, 1, 20, 0)])
    task = task_of(name, allowed([OWN]))
    small = {field: 20 for field in ("per_label", "walks") if hasattr(task, field)}
    return replace(task, **small), cell


def same(one: Dataset, other: Dataset) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("edge_label", "label"))


def test_graphs_are_split_by_the_seed(graphs):
    task, cell = graphs
    assert isinstance(task, GraphTask)
    train, valid = task.split(0)
    assert len(train) > 0
    assert len(valid) > 0
    assert train.relations == valid.relations
    assert all(map(same, task.split(0), (train, valid)))
    if task.examples()[1] is None:
        assert not same(task.split(1)[0], train)
    if cell is not None:
        test = task.cell(*cell, 5, train.relations)
        assert len(test) > 0
        assert test.relations == train.relations
        assert same(task.cell(*cell, 5, train.relations), test)


@pytest.fixture(params=LINKS)
def links(request, registered, tmp_path) -> LinkTask:
    name = LINKS[request.param]
    if not made_here(registered) and request.param not in ("wn18rr", "fb237", "triples"):
        pytest.skip("not among the published files at hand")
    if request.param == "triples":
        side = family(0)
        name = str(tmp_path / name)
        Path(name).write_text(lines(side.graph.facts, side.graph))
    return task_of(name)


def test_links_are_over_one_vocabulary_and_what_is_held_out_is_no_fact(links):
    assert isinstance(links, LinkTask)
    found = links.links(0)
    learnt = found.train.graph.relations
    assert found.test.graph.relations[: len(learnt)] == learnt
    assert len(found.train.valid) > 0
    assert len(found.test.test) > 0
    for side, held in ((found.train, found.train.valid), (found.test, found.test.test)):
        facts = set(map(tuple, side.graph.facts.tolist()))
        assert not facts & set(map(tuple, held.tolist()))
    assert links.links(0).train.digest() == found.train.digest()
