"""Which of several answers counts: by the product of weights along a walk, or by frequency."""

import numpy as np

from epignn.data.dataset import Dataset
from epignn.distil.choose import chosen
from epignn.distil.reason import reason
from epignn.distil.rules import Rule, RuleSet

NAMES = ("a", "b", "c", "d")
A, B, C, D = range(4)


def diamond() -> Dataset:
    """Two ways from 0 to 4: a, b; and a, a, b."""
    return Dataset(NAMES, [5], [0, 5], [0, 1, 0, 2, 3], [1, 4, 2, 3, 4], [A, B, A, A, B], [0], [4], [C])


def test_the_way_of_fewer_doubts_counts():
    rules = RuleSet(NAMES, 4, (Rule(A, B, C, 0.6), Rule(A, A, A, 0.6), Rule(A, C, D, 0.6)), ties=(0, 0, 0, 9))
    possible = reason(rules, diamond()).possible
    assert possible.tolist() == [[False, False, True, True]]
    assert chosen(rules, diamond(), possible).tolist() == [C]  # d needs one rule more


def test_frequency_decides_where_strength_does_not():
    for ties, answer in (((0, 0, 1, 9), D), ((0, 0, 9, 1), C), ((), C)):
        rules = RuleSet(NAMES, 4, (Rule(A, B, C, 0.6), Rule(A, B, D, 0.6)), ties=ties)
        possible = np.array([[False, False, True, True]])
        assert chosen(rules, diamond(), possible).tolist() == [answer]


def test_invented_relations_stand_for_their_bodies():
    rules = RuleSet(
        (*NAMES, "a∘a"), 4, (Rule(A, A, 4, 1.0), Rule(4, B, C, 0.9), Rule(A, B, D, 0.9), Rule(A, D, D, 0.85))
    )
    possible = np.array([[False, False, True, True]])
    assert chosen(rules, diamond(), possible).tolist() == [C]


def test_one_answer_or_none_is_left_as_it_is():
    rules = RuleSet(NAMES, 4, (Rule(A, B, C, 0.6),))
    possible = np.array([[False, True, False, False], [False] * 4])
    assert chosen(rules, Dataset.concat([diamond()] * 2), possible).tolist() == [B, A]
    assert chosen(rules, diamond().select(slice(0, 0)), possible[:0]).tolist() == []
