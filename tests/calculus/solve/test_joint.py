"""Two calculi together and boxes, against regions and intervals that were drawn."""

from itertools import permutations

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.calculi.orders import ALLEN
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.blocks import PARTS, close_blocks, direction
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.joint import LINKS, joint
from epignn.errors import BadArgument

RCC8, POINT, INTERVALS = load("rcc8"), load("point"), load("allen")
BY_SIGNS = {signs: name for name, signs in ALLEN.items()}


def allen(a, b):
    return BY_SIGNS[tuple(int(np.sign(x - y)) for x in a for y in b)]


def drawn(seed, count=7):
    rng = np.random.default_rng(seed)
    return {str(n): tuple(sorted(rng.choice(12, 2, replace=False).tolist())) for n in range(count)}


@pytest.mark.parametrize("seed", range(10))
def test_what_is_so_is_never_excluded(seed):
    """Facts of intervals and their lengths, some of them widened: what was drawn stays possible."""
    rng, things = np.random.default_rng(seed), drawn(seed)
    where, length = [], []
    for a, b in permutations(things, 2):
        if rng.random() < 0.3:
            noise = "|".join(rng.choice(INTERVALS.relations, 2))
            where.append((a, f"{allen(things[a], things[b])}|{noise}", b))
        if rng.random() < 0.3:
            size = [end - start for start, end in (things[a], things[b])]
            length.append((a, "<=>"[int(np.sign(size[0] - size[1])) + 1], b))
    names = tuple(things)
    apart = Network.of(INTERVALS, where, names), Network.of(POINT, length, names)
    both = joint(*apart)
    assert both.answer is Answer.CLOSED
    for a, b in permutations(things, 2):
        assert allen(things[a], things[b]) in both.first.relations(a, b)
    assert (both.first.matrix() & ~close(apart[0]).matrix() == 0).all()
    assert (both.second.matrix() & ~close(apart[1]).matrix() == 0).all()


def test_size_and_place_tell_each_other():
    where = Network.of(RCC8, [("a", "tpp|tppi", "b"), ("b", "ntpp", "c")], ("a", "b", "c"))
    size = Network.of(POINT, [("a", "<", "b")], ("c", "b", "a"))  # in another order
    both = joint(where, size)
    assert both.first.relations("a", "b") == ("TPP",)
    assert both.second.relations("a", "c") == ("<",)
    assert close(where).relations("a", "c") != ("NTPP",)
    clash = joint(where, Network.of(POINT, [("a", "<", "b"), ("c", "<", "a")]))
    assert (clash.answer, clash.consistent) == (Answer.INCONSISTENT, False)


def test_what_cannot_be_closed_together():
    where = Network.of(RCC8, [("a", "ec", "b")])
    with pytest.raises(BadArgument, match="over the same entities; list all of them in both"):
        joint(where, Network.of(POINT, [("a", "<", "c")]))
    with pytest.raises(BadArgument, match="what rcc8 says of allen is not known; there is rcc8 with point"):
        joint(where, Network.of(INTERVALS, [("a", "<", "b")]))


@pytest.mark.parametrize("pair", list(LINKS))
def test_what_is_said_of_converses_is_converse(pair):
    one, two = map(load, pair)
    for r, name in enumerate(one.relations):
        said = two.parse(LINKS[pair][name]) if name in LINKS[pair] else two.universal
        other = one.relations[one.converses[r]]
        turned = two.parse(LINKS[pair][other]) if other in LINKS[pair] else two.universal
        assert two.converse(said) == turned


@pytest.mark.parametrize("axes", [2, 3])
def test_boxes_that_were_drawn(axes):
    boxes = [drawn(seed, 6) for seed in range(axes)]
    rng = np.random.default_rng(axes)
    pairs = [pair for pair in permutations(boxes[0], 2) if rng.random() < 0.5]
    facts = [(a, tuple(allen(axis[a], axis[b]) for axis in boxes), b) for a, b in pairs]
    found = close_blocks(facts)
    assert found.answer is Answer.CONSISTENT
    for a, b in permutations(boxes[0], 2):
        assert all(
            allen(axis[a], axis[b]) in words for axis, words in zip(boxes, found.relations(a, b), strict=True)
        )
    a, sets, b = facts[0]
    turned = (b, (*(INTERVALS.format(1 << 1) for _ in sets[1:]), sets[0]), a)
    assert close_blocks([*facts, turned, (a, turned[1], b)]).answer is Answer.INCONSISTENT


def test_facts_of_boxes_need_as_many_axes():
    for facts in ([], [("a", ("d", "d"), "b"), ("a", ("d",), "b")]):
        with pytest.raises(BadArgument, match="a set for each axis"):
            close_blocks(facts)


def tiles(a, b):
    """The tiles around box b that box a lies in, by their coordinates."""
    found = set()
    for number, name in enumerate(("SW", "S", "SE", "W", "B", "E", "NW", "N", "NE")):
        y, x = divmod(number, 3)
        lines = [(-99, *side, 99) for side in b]
        shared = [
            min(mine[1], line[place + 1]) - max(mine[0], line[place])
            for mine, line, place in zip(a, lines, (x, y), strict=True)
        ]
        if min(shared) > 0:
            found.add(name)
    return found


def test_directions_of_regions():
    axes = drawn(3, 9), drawn(4, 9)
    boxes = {name: (axes[0][name], axes[1][name]) for name in axes[0]}
    told = {(a, b): ":".join(sorted(tiles(boxes[a], boxes[b]))) for a, b in permutations(boxes, 2)}
    rng = np.random.default_rng(0)
    facts = [(a, direction(said), b) for (a, b), said in told.items() if rng.random() < 0.5]
    found = close_blocks(facts)
    assert found.answer is not Answer.INCONSISTENT
    for (a, b), said in told.items():
        assert set(said.split(":")) in [set(one.split(":")) for one in found.directions(a, b)]
    assert close_blocks([("a", direction("NE"), "b"), ("b", direction("N"), "c")]).directions("a", "c") == (
        "N", "N:NE", "NE"
    )  # fmt: skip
    assert close_blocks([("a", direction("N"), "b"), ("b", direction("N"), "a")]).answer is Answer.INCONSISTENT


def test_the_parts_of_an_axis_are_all_of_allens_relations():
    assert sorted("|".join(PARTS.values()).split("|")) == sorted(INTERVALS.relations)
    assert len({direction(one) for one in ("N", "B", "B:N:NE:E", "sw", "W:B:E")}) == 5
    for wrong, message in (("NNE", "'NNE' is no tile"), ("N:S", "no box lies in N:S and in no other tile")):
        with pytest.raises(BadArgument, match=message):
            direction(wrong)
