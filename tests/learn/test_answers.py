"""Probabilities of single answers: against truth drawn from known chances, and on a family's questions."""

import json

import numpy as np
import pytest

from epignn.data.graph import Graph, Side
from epignn.errors import BadFile
from epignn.learn.answers import calibrate_answers, several
from epignn.learn.checkpoint import CALIBRATION, load_model
from tests.links import experiment, family, trained_on

pytestmark = pytest.mark.numeric


class Drawn:
    """Scores whose shares are known: those that the truth was drawn with."""

    chunk = 1

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores

    def prepare(self, heads: np.ndarray) -> None:
        pass

    def __call__(self, head: int, relations: np.ndarray) -> np.ndarray:
        return self.scores[head, relations]


def test_answers_that_were_drawn_with_known_chances():
    """Every entity is an answer with a chance of its own: questions of relation 1 have ten times as many."""
    rng = np.random.default_rng(0)
    entities = 120
    shares = rng.dirichlet(np.full(entities, 0.2), (entities, 2))
    means = np.array([1.0, 10.0])
    held = rng.random(shares.shape) < 1 - np.exp(-means[:, None] * shares)
    triples = np.argwhere(held).astype(np.int32)
    facts = np.array([(h, 0, h) for h in range(10)] + [(h, 1, t) for h in range(10) for t in range(10)])
    graph = Graph(tuple(map(str, range(entities))), ("one", "many"), facts.astype(np.int32))
    side = Side(graph, triples, triples[:0])
    scores = np.log(np.concatenate([shares, shares.transpose(2, 1, 0)], 1) + 1e-12)
    found = calibrate_answers(side, Drawn(scores), 1.0)
    assert found.expected == pytest.approx(found.found, rel=0.03)
    assert found.calibration_error < 0.05
    usual = several(graph)
    assert usual[1] == pytest.approx(np.log(10))
    chances = found.chances(scores[5, :2], usual[:2], 1.0)
    assert chances[1].sum() > 3 * chances[0].sum(), "a relation of many answers has more"
    assert chances[1].sum() > 1.5, "no softmax"


def test_in_the_folder_of_a_run(tmp_path):
    run = trained_on(family(0), experiment(epochs=2), out=tmp_path)
    answers = run.calibration.answers
    assert run.trained.answers == answers == load_model(str(tmp_path)).answers
    assert "probabilities of answers" in str(run.calibration)
    assert answers.expected == pytest.approx(answers.found, rel=0.25)
    none = answers.chances(np.full((1, 4), -np.inf), np.zeros(1), 1.0)
    assert not none.any()
    path = tmp_path / CALIBRATION
    document = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in document.items() if k != "answers"}))
    assert load_model(str(tmp_path)).answers is None
    for bad in ({"weights": [1.0]}, {"weights": "x"}, {"colour": 1}, 3):
        path.write_text(json.dumps({**document, "answers": bad}))
        with pytest.raises(BadFile, match="calibration"):
            load_model(str(tmp_path))
