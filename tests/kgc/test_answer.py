"""Answers, their probabilities and the paths that support them."""

import numpy as np
import pytest
import torch

from epignn.data.graph import Graph, both_sides
from epignn.errors import BadArgument, UnknownName
from epignn.kgc.answer import answer, probabilities
from epignn.kgc.calibrate import calibrate, calibration_error
from epignn.kgc.evaluate import ModelScorer, matrices
from epignn.kgc.paths import PRICE, PathFinder, distances

from .families import RELATIONS, family


@pytest.fixture(scope="module")
def new() -> Graph:
    """Two branches of a family that the model has never seen."""
    names = ("anna", "bert", "carl", "dora", "emil", "fay")
    facts = [(0, 1, 1), (1, 1, 2), (0, 1, 3), (3, 1, 4), (1, 2, 3), (3, 2, 1)]
    return Graph(names, RELATIONS, np.array(facts, dtype=np.int32))


def test_answers_in_a_new_graph(trained, new):
    first, second, *_ = answer(trained, new, [("anna", "grandparent")], top=3)
    assert {first.tail, second.tail} == {"carl", "emil"}
    assert first.rank == 1
    assert first.probability >= second.probability > 0
    assert str(first.path).startswith("anna --parent--> ")
    assert str(first.path).endswith(f"--parent--> {first.tail}")
    (backwards, *_) = answer(trained, new, [("emil", "grandparent^-1")], top=1)
    assert backwards.tail == "anna"
    assert [step.relation for step in backwards.path.steps] == ["parent^-1", "parent^-1"]


def test_what_is_stated_is_left_out_unless_asked_for(trained, new):
    stated = {"bert", "dora"}
    plain = answer(trained, new, [("anna", "parent")], top=10)
    assert not stated & {one.tail for one in plain}
    everything = answer(trained, new, [("anna", "parent")], top=10, include_known=True)
    assert {one.tail for one in everything if one.known} == stated
    assert sum(one.probability for one in everything) == pytest.approx(1)
    assert len(everything) == len(new.entities)


def test_batches_keep_the_order_of_questions(trained, new):
    questions = [("emil", "sibling"), ("anna", "grandparent"), ("emil", "parent^-1"), ("anna", "sibling")]
    together = answer(trained, new, questions, top=2, paths=False)
    apart = [one for question in questions for one in answer(trained, new, [question], top=2, paths=False)]
    assert [(a.head, a.relation, a.rank, a.tail) for a in together] == [
        (a.head, a.relation, a.rank, a.tail) for a in apart
    ]
    assert np.allclose([a.probability for a in together], [a.probability for a in apart], rtol=1e-4)


def test_unconnected_answers_have_no_path(trained, new):
    found = {one.tail: one.path for one in answer(trained, new, [("fay", "parent")], top=6)}
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    ("question", "error", "says"),
    [
        (("anne", "parent"), UnknownName, "Did you mean 'anna'"),
        (("anna", "parents"), UnknownName, "Did you mean 'parent'"),
    ],
)
def test_unknown_names(trained, new, question, error, says):
    with pytest.raises(error, match=says):
        answer(trained, new, [question])
    with pytest.raises(BadArgument, match="top must be 1"):
        answer(trained, new, [("anna", "parent")], top=0)


def test_the_best_path_is_the_best_of_all(trained):
    """Against every simple path, found by depth-first search."""
    side = family(4, people=25)
    graph = side.graph
    with torch.no_grad():
        table, vectors = matrices(trained.model).numpy(), trained.model.relation_vectors().numpy()
    finder = PathFinder(graph, table, vectors, longest=3)
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
                fit = -(np.log(np.maximum(state, 1e-10)) * vectors[relation]).sum()
                scores.append(fit + PRICE * len(labels))
        found = finder.best(head, relation, tail)
        assert (found is None) == (not scores)
        if found is not None:
            assert found.score == pytest.approx(min(scores), rel=1e-4)


def test_distances(new):
    assert distances(new, 0, 6).tolist() == [0, 1, 2, 1, 2, 7]
    assert distances(new, 2, 1).tolist() == [2, 1, 0, 2, 2, 2]


def test_calibration_recovers_a_temperature():
    """Answers drawn from the softmax at a temperature of 3 choose that temperature."""
    rng = np.random.default_rng(0)
    table = rng.normal(0, 6, (400, 40)).astype(np.float32)
    chances = np.stack([probabilities(row, np.zeros(0, dtype=np.int32), 3.0) for row in table])
    tails = [rng.choice(40, p=row) for row in chances]
    questions = np.array([(q, 0, t) for q, t in enumerate(tails)], dtype=np.int32)

    class Nothing:
        def answers(self, head, relation):
            return np.zeros(0, dtype=np.int32)

    found = calibrate(questions, lambda head, relations: table[[head]], Nothing())
    assert found.temperature == pytest.approx(3.0, rel=0.15)
    assert found.error < 0.1 < found.uncalibrated_error


def test_calibration_error_by_hand():
    confidence = np.array([0.95, 0.85, 0.15])
    assert calibration_error(confidence, np.array([True, True, False])) == pytest.approx((0.05 + 0.15 + 0.15) / 3)


def test_calibration_of_a_model(trained):
    side = family(0)
    found = calibrate(both_sides(side.valid, 3), ModelScorer(trained.model, side.graph), side.known())
    assert found.questions == 2 * len(side.valid)
    assert 0 <= found.error <= 1
