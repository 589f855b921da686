"""Tasks: the published splits, folders and files of one's own."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.tasks import SPLITS, task_of
from epignn.tasks.api import Links, LinkTask
from epignn.tasks.links import read_graph


def load_task(name: str, seed: int = 0) -> Links:
    return task_of(name).links(seed)


SIZES = {  # entities, relations, facts, valid, test; then the twin's: the paper's table
    "fb237:v1": (1594, 180, 4245, 489, 1093, 1993, 205),
    "wn18rr:v1": (2746, 9, 5410, 630, 922, 1618, 188),
    "wn18rr:v4": (3861, 9, 7940, 934, 7084, 12334, 1429),
}


def folder(tmp_path, name: str = "own", **parts: str):
    path = tmp_path / name
    path.mkdir()
    for part, text in parts.items():
        (path / f"{part}.txt").write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", list(SIZES))
def test_published_sizes(name, data, monkeypatch):
    monkeypatch.setenv("EPIGNN_DATA", str(data))
    task = load_task(name)
    train, test = task.train, task.test
    sizes = (len(train.graph.entities), len(train.graph.relations), len(train.graph.facts), len(train.valid))
    assert (*sizes, len(test.graph.entities), len(test.graph.facts), len(test.test)) == SIZES[name]
    assert not task.notes
    assert train.graph.relations == test.graph.relations
    assert not set(train.graph.entities) & set(test.graph.entities)
    assert len(SPLITS) == 8


def test_folder_with_twin_and_notes(tmp_path):
    own = folder(tmp_path, train="a r b\nb s c\n\n", valid="a s c\n", test="c r d\n")
    folder(tmp_path, "own_ind", train="x s y\n", test="y r x\n")
    assert isinstance(task_of(str(own)), LinkTask)
    task = load_task(str(own))
    assert task.test.graph.relations == task.train.graph.relations == ("r", "s")
    assert task.test.graph.facts.tolist() == [[0, 1, 1]]
    assert len(task.test.valid) == 0
    notes = " ".join(task.notes)
    assert "1 blank lines passed over" in notes
    assert "1 entities occur in no fact" in notes


def test_without_a_twin_the_same_graph_is_tested(tmp_path):
    task = load_task(str(folder(tmp_path, train="a r b\nb r c\n", test="a r c\n")))
    assert task.test is task.train


@pytest.mark.parametrize("side", ["valid", "test", "ind"])
def test_relations_that_training_never_saw_are_named_and_tested(tmp_path, side):
    own = folder(tmp_path, train="a bought b\n", **({side: "a bought b\nb sold a\n"} if side != "ind" else {}))
    if side == "ind":
        folder(tmp_path, "own_ind", train="x bought y\nx sold y\n", test="y sold x\n")
    task = load_task(str(own))
    assert "training never saw the relation 'sold'" in " ".join(task.notes)
    assert task.train.graph.relations == ("bought",)
    assert task.test.graph.relations == ("bought", "sold")
    assert (len(task.train.valid), len(task.test.valid)) == ((1, 2) if side == "valid" else (0, 0))
    assert (len(task.train.test), len(task.test.test)) == {"valid": (0, 0), "test": (1, 2), "ind": (0, 1)}[side]


def test_a_new_graph_judges_by_its_own_facts(tmp_path):
    """Only of relations that are learnt; validation and test triples of that graph are not read."""
    train = "".join(f"a{n} r a{n + 1}\na{n} s a{n + 1}\n" for n in range(12))
    own = folder(tmp_path, train=train, valid="a1 r a3\n")
    facts = "".join(f"b{n} r b{(n + 1) % 15}\n" for n in range(15))
    folder(tmp_path, "own_ind", train=facts + "b1 t b2\n", valid="b1 s b4\n", test="b3 r b1\n")
    links = replace(task_of(str(own)), holdout="asked", turns=4).split(0)
    assert len(links.judged) == 4
    assert links.train.graph.facts.tolist() == load_task(str(own)).train.graph.facts.tolist()
    for judge in links.judged:
        assert judge.graph.relations == ("r", "s")
        triples = [tuple(row) for row in np.concatenate([judge.graph.facts, judge.valid]).tolist()]
        names = {(judge.graph.entities[h], "rs"[r], judge.graph.entities[t]) for h, r, t in triples}
        assert names == {tuple(line.split()) for line in facts.splitlines()}
        assert len(judge.valid) and not len(judge.test)


def test_a_new_graph_may_share_entities_but_no_facts(tmp_path):
    """The two graphs of WN18RR v3 share eight entities."""
    own = folder(tmp_path, train="a r b\nb r c\nc r d\n", valid="a r c\n")
    facts = "".join(f"b{n} r b{(n + 1) % 15}\n" for n in range(15))
    folder(tmp_path, "own_ind", train=facts + "a r b0\nb r b0\n")
    assert len(replace(task_of(str(own)), holdout="asked").split(0).judged) == 10
    (tmp_path / "own_ind" / "train.txt").write_text(facts + "b r c\n")
    with pytest.raises(BadArgument, match=r"shares facts .* \(1 of 16\)"):
        replace(task_of(str(own)), holdout="asked").split(0)


def test_the_graph_that_is_learnt_cannot_judge_by_its_own_facts(tmp_path):
    own = folder(tmp_path, train="a r b\nb r c\n", valid="a r c\n")
    with pytest.raises(BadArgument, match="choose holdout = 'triples'"):
        replace(task_of(str(own)), holdout="asked").split(0)
    with pytest.raises(BadArgument, match="triples, entities or asked, not 'x'"):
        replace(task_of(str(own)), holdout="x")


def test_a_slip_in_a_relation_is_told(tmp_path):
    own = folder(tmp_path, train="a bought b\n", test="a bougth b\n")
    assert "is 'bought' meant?" in " ".join(load_task(str(own)).notes)


def test_one_file_is_split(tmp_path):
    rng = np.random.default_rng(0)
    lines = {f"e{a}\tr{r}\te{b}" for a, r, b in rng.integers(0, 12, (200, 3)).tolist()}
    path = tmp_path / "own.tsv"
    path.write_text("\n".join(sorted(lines)) + "\n")
    task = load_task(str(path), seed=3)
    parts = [task.train.graph.facts, task.train.valid, task.train.test]
    together = np.concatenate(parts)
    assert len(together) == len(np.unique(together, axis=0)) == len(lines)
    assert len(parts[1]) == len(parts[2]) == round(0.1 * len(lines))
    assert set(parts[0][:, 1].tolist()) == set(range(12)), "every relation is learnt"
    again = load_task(str(path), seed=3)
    assert np.array_equal(again.train.valid, parts[1])
    assert not np.array_equal(load_task(str(path), seed=4).train.valid, parts[1])


def test_too_small_a_file(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text("a r b\nb s c\n")
    with pytest.raises(BadFile, match="too few"):
        load_task(str(path))


def test_names_that_are_not_known(tmp_path, monkeypatch):
    with pytest.raises(UnknownName, match=r"Did you mean 'wn18rr'"):
        load_task("wn18:v1")
    with pytest.raises(UnknownName, match=r"Did you mean 'wn18rr:v1'"):
        load_task("wn18rr:v11")
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path))
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BadFile, match=r"epignn data get WN18RR_v1"):
        load_task("wn18rr:v1")
    assert not isinstance(task_of("rcc8"), LinkTask)
    with pytest.raises(BadFile, match="No such file"):
        load_task("nowhere.tsv")


def test_a_split_is_found_in_the_cache(tmp_path, monkeypatch):
    """`epignn data get` puts files there."""
    monkeypatch.delenv("EPIGNN_DATA", raising=False)
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path))
    for name in ("fb237_v2", "fb237_v2_ind"):
        (tmp_path / "inductive_kgc" / name).mkdir(parents=True)
        (tmp_path / "inductive_kgc" / name / "train.txt").write_text("a r b\n")
    assert len(load_task("fb15k-237:v2").train.graph.facts) == 1


def test_a_new_graph(tmp_path):
    path = tmp_path / "new.tsv"
    path.write_text("p s q\np t q\n")
    graph, (note,) = read_graph(path, ("r", "s"))
    assert graph.relations == ("r", "s", "t")
    assert graph.facts.tolist() == [[0, 1, 1], [0, 2, 1]]
    assert note.startswith(f"{path}: training never saw the relation 't' (1 triples")
    with pytest.raises(BadFile, match="no fact in it"):
        read_graph(path, ("u",))
