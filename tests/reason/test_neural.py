"""Questions to a model: facts in any direction, and errors that say what is wrong."""

import numpy as np
import pytest

from epignn import Neural
from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.data.statements import Statements
from epignn.errors import BadArgument, UnknownName
from epignn.tasks.star import generated
from tests.graphs import untrained

pytestmark = pytest.mark.numeric
RCC8 = load("rcc8")


@pytest.fixture
def model() -> Neural:
    return Neural.of(untrained(RCC8.relations))


def test_answers_are_the_likeliest_two(model):
    data = generated(RCC8, 3, 2, 3, 0)
    chances = model.probabilities(data)
    np.testing.assert_allclose(chances.sum(1), 1)
    for row, answer in zip(chances, model.answer(data), strict=True):
        first, second = np.sort(row)[::-1][:2]
        assert answer.probability == pytest.approx(first)
        assert answer.runner_up_probability == pytest.approx(second)
        assert row[RCC8.relations.index(answer.relation)] == pytest.approx(first)


@pytest.mark.parametrize(
    ("facts", "pair", "error", "message"),
    [
        ([("a", "ec", "b"), ("c", "ec", "d")], ("a", "d"), BadArgument, "no facts connect 'a' with 'd'"),
        ([("a", "ec|dc", "b")], ("a", "b"), BadArgument, r"DC\|EC\(a, b\) has several"),
        ([("a", "ec", "b")], ("a", "a"), BadArgument, "asked about itself"),
        ([("alpha", "ec", "b")], ("alpa", "b"), UnknownName, "Did you mean 'alpha'"),
    ],
)
def test_bad_questions(model, facts, pair, error, message):
    question = Network.of(RCC8, facts), *pair
    with pytest.raises(error, match=message):
        model.graph(*question)
    with pytest.raises(error, match=message):
        model.predict([question])


def test_what_it_cannot_read_has_no_answer_and_the_rest_has(model):
    facts = Network.of(RCC8, [("a", "ec", "b"), ("c", "ec", "d"), ("b", "po", "e")])
    several = Network.of(RCC8, [("a", "ec|dc", "b")])
    first, none, unread, last = model.answer(
        [(facts, "a", "b"), (facts, "a", "d"), (several, "a", "b"), (facts, "e", "a")]
    )
    assert none.reason.startswith("no answer: no facts connect 'a' with 'd'")
    assert "has several" in unread.reason
    assert (none.relation, none.relations, none.to_dict()["reason"]) == ("?", (), none.reason)
    for found, pair in ((first, ("a", "b")), (last, ("e", "a"))):
        (alone,) = model.answer([(facts, *pair)])
        assert (found.relation, found.reason) == (alone.relation, "")
        assert found.probability == pytest.approx(alone.probability)


def test_other_relations_are_refused(model):
    with pytest.raises(BadArgument, match="the facts of allen"):
        model.answer([(Network.of(load("allen"), [("a", "<", "b")]), "a", "b")])
    with pytest.raises(BadArgument, match="the facts of p q"):
        model.answer([(Statements.of(("p", "q"), [("a", "p", "b")]), "a", "b")])
