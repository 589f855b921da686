"""Contractions: charts against brute force, forms, noise, several walks, and worlds whose rules are known."""

import math
from collections import Counter
from itertools import pairwise, product

import pytest

from epignn.data.contract import Contractions, contractions, counted, forms, judged, needed, said, used
from epignn.data.ways import problems
from epignn.formats.readers import read_graphs, vocabulary

A, B, C, D, E = range(5)


def answers(weights, walk, itself=True):
    """What a walk comes to, with the product of weights."""
    found = Contractions(weights).chart(walk, itself)[0, len(walk)]
    return {head: math.exp(-made.cost) for head, made in found.items()}


def by_brute_force(weights, walk):
    """The largest product for every relation that a walk can be rewritten to, part by part, in any order."""
    best = {walk: 1.0}
    waiting = [walk]
    while waiting:
        now = waiting.pop()
        for first, last in ((i, j) for i in range(len(now)) for j in range(i + 2, len(now) + 1)):
            for head, weight in weights.get(now[first:last], {}).items():
                after, product_ = (*now[:first], head, *now[last:]), best[now] * weight
                if product_ > best.get(after, 0.0) + 1e-12:
                    best[after] = product_
                    waiting.append(after)
    return {walk[0]: strength for walk, strength in best.items() if len(walk) == 1}


def test_charts_find_what_rewriting_in_any_order_finds(rng):
    for _ in range(40):
        bodies = [tuple(rng.integers(0, 4, int(rng.integers(2, 5))).tolist()) for _ in range(9)]
        weights = {body: {int(rng.integers(4)): float(rng.uniform(0.1, 1)) for _ in range(2)} for body in bodies}
        walk = tuple(rng.integers(0, 4, 6).tolist())
        expected = by_brute_force(weights, walk)
        found = answers(weights, walk)
        assert found.keys() == expected.keys()
        assert all(found[head] == pytest.approx(expected[head]) for head in found)


def test_what_a_walk_says_itself_can_be_left_out():
    weights = {(A, B, C): {D: 0.9}, (A, B): {E: 0.5}, (E, C): {A: 0.5}}
    assert answers(weights, (A, B, C)) == pytest.approx({D: 0.9, A: 0.25})
    assert answers(weights, (A, B, C), itself=False) == pytest.approx({A: 0.25})


def test_the_contractions_that_are_used_multiply_to_the_strength(rng):
    weights = {(A, B): {C: 0.5}, (C, C, A): {D: 0.8}, (D, B): {E: 0.9}}
    walk = (A, B, A, B, A, B)
    chart = Contractions(weights).chart(walk)
    steps = list(used(chart, 0, 6, E))
    assert sorted(steps) == [((A, B), C), ((A, B), C), ((C, C, A), D), ((D, B), E)]
    assert math.exp(-chart[0, 6][E].cost) == pytest.approx(math.prod(weights[body][head] for body, head in steps))


def test_shortest_forms():
    known = Contractions({(A, B): {C: 1.0}, (B, A): {D: 1.0}})
    assert set(forms(known.chart((A, B, A)), 3)) == {(C, A), (A, D)}
    assert forms(known.chart((A, A, A)), 3) == [(A, A, A)]
    assert len(forms(known.chart((A, B, A)), 3, most=1)) == 1


def test_a_form_says_what_no_walk_says():
    """A, B comes to C; so A, B, D, which comes to E, says that C, D does, and B, B, C, D that E follows B, B."""
    votes = {(A, B): Counter({C: 8}), (A, B, D): Counter({E: 6})}
    weights = said(votes).weights
    assert weights[C, D] == {E: 6 / 8}
    assert answers(weights, (A, B, D), itself=False).keys() == {E}
    assert said(votes, {(A, B): {C: 1.0, D: 0.5}}).weights[A, B] == {C: 9 / 10}


def test_what_misleads_held_out_walks_loses_weight():
    """A, B was seen as D twice; a longer walk shows that it is C, and another that B, B is not E."""
    votes = {(A, B): Counter({C: 2, D: 2}), (C, E): Counter({A: 9}), (D, E): Counter({B: 9})}
    votes |= {
        (A, B, E): Counter({A: 4}),
        (B, B): Counter({E: 1}),
        (E, C): Counter({D: 9}),
        (B, B, C): Counter({A: 3}),
    }
    before, after = said(votes).weights, judged(said(votes).weights, votes)
    assert after[A, B][C] > before[A, B][C] == before[A, B][D] == after[A, B][D]
    assert after[B, B][E] < before[B, B][E]
    assert all(0 < weight <= 1 for heads in after.values() for weight in heads.values())


def test_bodies_that_shorter_ones_explain_are_not_needed():
    weights = {(A, B): {C: 0.9}, (C, D): {E: 0.9}, (A, B, D): {E: 0.9}, (A, B, A): {D: 0.9}, (B, D, B): {A: 0.9}}
    assert needed(weights) == {body: weights[body] for body in weights if body != (A, B, D)}
    assert needed({**weights, (A, B, D): {A: 0.9}})[A, B, D] == {A: 0.9}  # shorter ones bring it to another


def test_of_several_walks_the_one_that_explains_the_label_counts():
    one = [(((A, B),), C)] * 5 + [(((C, D),), E)] * 5
    both = [(((B, B), (A, B, D)), E)] * 3
    assert counted(one + both)[A, B, D] == Counter({E: 3})
    assert (B, B) not in counted(one + both)
    assert counted([*one, (((B, B), (B, B, B)), E)])[B, B] == Counter({E: 1})  # nothing explains it: the shortest


def test_sums_of_any_order_are_learnt_from_short_walks(rng):
    """The label is the sum of the steps modulo five; one in ten is wrong; walks have three or four steps."""
    walks = [tuple(rng.integers(0, 5, int(rng.integers(3, 5))).tolist()) for _ in range(4000)]
    wrong = rng.random(len(walks)) < 0.1
    told = [((walk,), (sum(walk) + int(bad)) % 5) for walk, bad in zip(walks, wrong.tolist(), strict=True)]
    told += [(((a, b),), (a + b) % 5) for a, b in product(range(5), repeat=2) if a < 4 or b < 4]
    known = Contractions(contractions(told).weights)
    right = 0
    for walk in rng.integers(0, 5, (100, 9)).tolist():
        found = known.chart(tuple(walk))[0, 9]
        right += min(found, key=lambda head: found[head].cost) == sum(walk) % 5
    assert right == 100


def test_a_generated_world_is_read_off_its_graphs(tmp_path):
    """Rules of a small world, with noise edges; the test asks for sequences that no training graph has."""
    from epignn.data.worlds import WorldShape
    from epignn.tasks.world_files import generate_world

    shape = WorldShape(8, 60, 3.5, 8.0, 3.0, 9.0, pairs=6, rules=10, longest=6, train=800, valid=1, test=150)
    generate_world(shape, 3, tmp_path)
    relations = vocabulary([tmp_path / "train.jsonl.gz"])
    train, test = (read_graphs(tmp_path / f"{split}.jsonl.gz", relations) for split in ("train", "test"))
    asked = problems(test)
    seen = {walk for walks, _ in problems(train) for walk in walks}
    assert sum(not seen & {*walks} for walks, _ in asked) > 50
    known = Contractions(contractions(problems(train)).weights)
    right = 0
    for walks, label in asked:
        costs = [(made.cost, head) for walk in walks for head, made in known.chart(walk)[0, len(walk)].items()]
        right += bool(costs) and min(costs)[1] == label
    assert right >= 0.9 * len(asked)
    assert all(a != b for a, b in pairwise(sorted(costs)))
