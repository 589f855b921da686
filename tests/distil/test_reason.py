"""Reasoning with rules: against all bracketings, against plain forward chaining, and a thousand hops."""

from itertools import product

import numpy as np
import pytest

from epignn.data.dataset import Dataset, offsets
from epignn.distil.reason import reason
from epignn.distil.rules import GRADES, Rule, RuleSet
from epignn.errors import BadArgument

NAMES = ("p", "q", "r", "s")


def random_rules(rng: np.random.Generator, count: int, invented: int = 0) -> RuleSet:
    names = NAMES + tuple(f"new{i}" for i in range(invented))
    ends = rng.integers(0, len(names), (count, 3)).tolist()
    weights = rng.choice([0.93, 0.98, 0.71, 0.5, 0.2], count).tolist()
    return RuleSet(names, len(NAMES), tuple(Rule(*e, w) for e, w in zip(ends, weights, strict=True)))


def chains(rng: np.random.Generator, count: int, longest: int) -> Dataset:
    lengths = rng.integers(1, longest + 1, count)
    within = np.concatenate([np.arange(n) for n in lengths])
    labels = rng.integers(0, len(NAMES), len(within))
    zeros = np.zeros(count)
    return Dataset(NAMES, lengths + 1, offsets(lengths), within, within + 1, labels, zeros, lengths, zeros)


def bracketings(chain: tuple[int, ...], rules: RuleSet) -> dict[int, float]:
    """The strength of every relation that some bracketing of the chain derives, by recursion over all of them."""
    if len(chain) == 1:
        return {chain[0]: 1.0}
    best: dict[int, float] = {}
    for cut in range(1, len(chain)):
        left, right = bracketings(chain[:cut], rules), bracketings(chain[cut:], rules)
        for (a, x), (b, y), rule in product(left.items(), right.items(), rules.rules):
            if (rule.left, rule.right) == (a, b):
                strength = min(x, y, rule.grade / GRADES)
                best[rule.head] = max(best.get(rule.head, 0.0), strength)
    return best


@pytest.mark.parametrize("invented", [0, 2])
def test_chains_against_all_bracketings(rng, invented):
    rules = random_rules(rng, 14, invented)
    data = chains(rng, 60, 6)
    found = reason(rules, data)
    answered = 0
    for g in range(len(data)):
        chain = tuple(data.edge_label[data.edge_offset[g] : data.edge_offset[g + 1]].tolist())
        best = {r: x for r, x in bracketings(chain, rules).items() if r < len(NAMES)}
        strongest = max(best.values(), default=0.0)
        assert found.strength[g] == pytest.approx(strongest)
        assert set(np.flatnonzero(found.possible[g])) == {r for r, x in best.items() if x == strongest}
        answered += len(chain) > 2 and bool(best)
    assert answered >= 10


def forward_chaining(edges: set[tuple[int, int, int]], rules: list[Rule]) -> set[tuple[int, int, int]]:
    facts = {fact for fact in edges if fact[1] != fact[2]}
    while True:
        new = {
            (rule.head, i, j)
            for rule in rules
            for r, i, m in facts
            for s, n, j in facts
            if (r, s) == (rule.left, rule.right) and m == n and i != j
        } - facts
        if not new:
            return facts
        facts |= new


def test_graphs_with_cycles_against_forward_chaining(rng):
    rules = random_rules(rng, 8)
    graphs, sizes, edges = [], rng.integers(3, 7, 25), []
    for size in sizes:
        count = int(rng.integers(2, 9))
        graphs.append(np.c_[rng.integers(0, 4, count), rng.integers(0, size, (count, 2))])
        edges.append(count)
    flat = np.concatenate(graphs)
    head, tail = np.zeros(25), sizes - 1
    data = Dataset(NAMES, sizes, offsets(np.array(edges)), flat[:, 1], flat[:, 2], flat[:, 0], head, tail, head)
    found = reason(rules, data)
    for g, graph in enumerate(graphs):
        given = set(map(tuple, graph.tolist()))
        expected, strength = set(), 0.0
        for grade in (None, *sorted({rule.grade for rule in rules.rules}, reverse=True)):
            used = [rule for rule in rules.rules if grade is not None and rule.grade >= grade]
            expected = {r for r, i, j in forward_chaining(given, used) if (i, j) == (0, tail[g])}
            strength = 1.0 if grade is None else grade / GRADES
            if expected:
                break
        assert set(np.flatnonzero(found.possible[g])) == expected
        assert found.strength[g] == pytest.approx(strength if expected else 0.0)


def test_a_thousand_hops():
    """Steps around a circle: relation r moves r on, and r, s -> r + s."""
    order = 3
    names = tuple(f"by{r}" for r in range(order))
    rules = RuleSet(
        names, order, tuple(Rule(r, s, (r + s) % order, 0.95) for r, s in product(range(order), repeat=2))
    )
    steps = np.random.default_rng(0).integers(0, order, 1000)
    data = Dataset(names, [1001], [0, 1000], range(1000), range(1, 1001), steps, [0], [1000], [steps.sum() % order])
    found = reason(rules, data)
    assert np.flatnonzero(found.possible[0]).tolist() == data.label.tolist()


def test_no_graphs_and_other_relations(rng):
    rules = random_rules(rng, 3)
    assert reason(rules, chains(rng, 4, 3).select([])).possible.shape == (0, 4)
    with pytest.raises(BadArgument, match="different relations"):
        reason(RuleSet(("x",), 1, ()), chains(rng, 2, 2))
