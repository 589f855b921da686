"""Answers, their probabilities and the paths that support them."""

import numpy as np
import pytest
import torch

from epignn.data.graph import Graph, both_sides
from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.explain.support import PRICE, PathFinder, distances
from epignn.models.epignn import right_matrices
from epignn.reason.links import Links
from tests.learn.objectives.test_rank import roundings
from tests.links import RELATIONS, experiment, family, trained_on
from tests.rounding import close

pytestmark = pytest.mark.numeric


@pytest.fixture(scope="module")
def links() -> Links:
    """A model that has learnt what a grandparent is."""
    return Links(trained_on(family(0), experiment(epochs=50, batch_size=4, schedule="one_cycle")).trained)


@pytest.fixture(scope="module")
def new() -> Graph:
    """Two branches of a family that the model has never seen."""
    names = ("anna", "bert", "carl", "dora", "emil", "fay")
    facts = [(0, 1, 1), (1, 1, 2), (0, 1, 3), (3, 1, 4), (1, 2, 3), (3, 2, 1)]
    return Graph(names, RELATIONS, np.array(facts, dtype=np.int32))


def test_answers_in_a_new_graph(links, new):
    first, second, *_ = links.answer(new, [("anna", "grandparent")], top=3)
    assert {first.tail, second.tail} == {"carl", "emil"}
    assert first.rank == 1
    assert first.probability >= second.probability > 0
    assert str(first.path).startswith("anna --parent--> ")
    assert str(first.path).endswith(f"--parent--> {first.tail}")
    (backwards, *_) = links.answer(new, [("emil", "grandparent^-1")], top=1)
    assert backwards.tail == "anna"
    assert [step.relation for step in backwards.path.steps] == ["parent^-1", "parent^-1"]


def test_what_is_stated_is_left_out_unless_asked_for(links, new):
    stated = {"bert", "dora"}
    plain = links.answer(new, [("anna", "parent")], top=10)
    assert not stated & {one.tail for one in plain}
    everything = links.answer(new, [("anna", "parent")], top=10, include_known=True)
    assert {one.tail for one in everything if one.known} == stated
    assert len(everything) == len(new.entities)


def test_batches_keep_the_order_of_questions(links, new):
    questions = [("emil", "sibling"), ("anna", "grandparent"), ("emil", "parent^-1"), ("anna", "sibling")]
    together = links.answer(new, questions, top=6, paths=False)
    apart = [one for question in questions for one in links.answer(new, [question], top=6, paths=False)]
    assert [(a.head, a.relation, a.rank) for a in together] == [(a.head, a.relation, a.rank) for a in apart]
    # Carl and Emil have the same place in the family: rounding decides which of them is told first.
    scores = [{(a.head, a.relation, a.tail): a.score for a in found} for found in (together, apart)]
    assert scores[0].keys() == scores[1].keys()
    both = np.array([(scores[0][one], scores[1][one]) for one in scores[0]], dtype=np.float32)
    close(both[:, 0], both[:, 1], roundings(links.trained.model, new))


def test_unconnected_answers_have_no_path(links, new):
    found = {one.tail: one.path for one in links.answer(new, [("fay", "parent")], top=6)}
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    ("question", "error", "says"),
    [
        (("anne", "parent"), UnknownName, "Did you mean 'anna'"),
        (("anna", "parents"), UnknownName, "Did you mean 'parent'"),
    ],
)
def test_unknown_names(links, new, question, error, says):
    with pytest.raises(error, match=says):
        links.answer(new, [question])
    with pytest.raises(BadArgument, match="top must be 1"):
        links.answer(new, [("anna", "parent")], top=0)


def test_the_best_path_is_the_best_of_all(links):
    """Against every simple path, found by depth-first search."""
    side, model = family(4, people=25), links.trained.model
    graph = side.graph
    with torch.no_grad():
        vectors = model.relation_vectors()
        table, vectors = right_matrices(vectors, model.composition_table()).numpy(), vectors.numpy()
    finder = PathFinder(graph, model)
    edges = graph.edges

    def walks(path, labels):
        yield path, labels
        if len(labels) < 3:
            for e in range(len(edges.source)):
                into = int(np.searchsorted(edges.offset, e, side="right")) - 1
                if edges.source[e] == path[-1] and into not in path:
                    yield from walks([*path, into], [*labels, int(edges.label[e])])

    for head, relation, tail in both_sides(side.test, 3)[:3].tolist():
        scores = []
        for path, labels in walks([head], []):
            if path[-1] == tail and labels:
                state = np.eye(vectors.shape[2])[[0] * vectors.shape[1]]
                for label in labels:
                    state = np.einsum("fi,fik->fk", state, table[label])
                fit = (np.log(np.maximum(state, 1e-10)) * vectors[relation]).sum()
                scores.append(fit - PRICE * len(labels))
        found = finder.best(head, relation, tail)
        assert (found is None) == (not scores)
        if found is not None:
            close(found.score, max(scores), roundings(model, graph), dtype=np.float32)


def test_distances(new):
    assert distances(new, 0, 6).tolist() == [0, 1, 2, 1, 2, 7]
    assert distances(new, 2, 1).tolist() == [2, 1, 0, 2, 2, 2]


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str]]:
    side = family(0)
    names, relations = side.graph.entities, side.graph.relations
    triples = np.concatenate([side.graph.facts, side.valid, side.test]).tolist()
    return [(names[h], relations[r], names[t]) for h, r, t in triples]


SETTINGS = ("training.epochs=2", "model.dim=16", "model.facets=2", "model.rounds=3")


def test_from_python_on_lists(rows, tmp_path):
    fitted = Links.fit(rows, settings=SETTINGS, out=str(tmp_path / "run"))
    assert len(fitted.run_.history) == 2
    assert len(fitted.held_out_.test) == round(0.1 * len(rows))
    found = fitted.predict(["p010", "p011"], "sibling", top=3)
    assert [one.head for one in found] == ["p010"] * 3 + ["p011"] * 3
    loaded = Links.load(str(tmp_path / "run"))
    assert loaded.predict(["p010", "p011"], "sibling", top=3, graph=rows) == found
    own = fitted.predict(["p010", "p011"], ["sibling", "parent^-1"], top=1, paths=True)
    assert [one.relation for one in own] == ["sibling", "parent^-1"]
    likely = fitted.predict(["p010", "p011"], "sibling", top=3, least=found[0].probability)
    assert likely == [one for one in found if one.probability >= found[0].probability]
    assert len(likely) < len(found)
    assert fitted.evaluate(fitted.held_out_)["model"]["mrr"] > 0
    for other in (loaded.held_out_, "own.tsv"):
        with pytest.raises(BadArgument, match="what is it to be tested on"):
            loaded.evaluate(other)
    with pytest.raises(BadArgument, match="2 heads and 1 relations"):
        fitted.predict(["p010", "p011"], ["sibling"])
    with pytest.raises(BadArgument, match="which facts"):
        loaded.predict("p010", "sibling")
    with pytest.raises(BadFile, match="a triple is head, relation and tail"):
        Links.fit([("a", "b")])


def test_names_that_are_numbers():
    numbers = [(n, "next", n + 1) for n in range(30)]
    fitted = Links.fit(numbers, settings=SETTINGS)
    assert [one.head for one in fitted.predict(3, "next", top=2)] == ["3", "3"]
    assert fitted.predict(np.array([3]), "next", top=2) == fitted.predict("3", "next", top=2)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_from_python_on_frames(rows, library):
    frames = pytest.importorskip(library)
    table = frames.DataFrame(dict(zip(("subject", "predicate", "object"), zip(*rows, strict=True), strict=True)))
    fitted = Links.fit(table, settings=SETTINGS)
    found = fitted.predict(table["subject"][:4], "parent", top=2)
    assert isinstance(found, frames.DataFrame)
    assert list(found.columns) == ["head", "relation", "rank", "tail", "probability", "score", "known"]
    plain = Links.fit(rows, settings=SETTINGS).predict([row[0] for row in rows[:4]], "parent", top=2)
    assert found["tail"].to_list() == [one.tail for one in plain]
    with pytest.raises(BadArgument, match="which columns"):
        Links.fit(frames.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"], "d": ["w"]}))
