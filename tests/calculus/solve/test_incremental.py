"""Facts that come and go: after every step the network is what closing anew gives, reasons suffice, copies part."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.incremental import Incremental
from epignn.errors import BadArgument, UnknownName
from epignn.kernels import native

BACKENDS = ["plain", pytest.param("compiled", marks=pytest.mark.skipif(native() is None, reason="not built"))]
CALCULI = ["rcc8", "allen", "point", "kinship"]


def compare(growing: Incremental) -> None:
    """The same answer as closing anew and, where there is no clash, the same sets."""
    anew = close(growing.network)
    assert growing.answer == anew.answer
    if anew.consistent:
        assert (growing.matrix() == anew.matrix()).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("calculus", CALCULI)
def test_a_stream_is_what_closing_anew_gives(calculus, backend):
    """Random facts, among them many that clash, come and go over a few entities."""
    rng = np.random.default_rng(5)
    chosen = load(calculus)
    growing = Incremental(chosen, backend)
    told: list[tuple[str, int, str]] = []
    clashes = 0
    for step in range(120 if calculus != "kinship" else 40):
        if told and rng.random() < 0.4:
            growing.retract(*told.pop(int(rng.integers(len(told)))))
        else:
            head, tail = rng.choice(8, size=2, replace=bool(rng.random() < 0.05))
            size = int(rng.integers(1, max(2, len(chosen) // 3)))
            mask = sum(1 << int(r) for r in rng.choice(len(chosen), size=size, replace=False))
            told.append((str(head), mask, str(tail)))
            growing.add(*told[-1])
        clashes += growing.answer is Answer.INCONSISTENT
        compare(growing)
        assert len(growing.network) == len(told), step
    assert clashes > 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_reasons_suffice(backend):
    rcc8 = load("rcc8")
    facts = [("a", "tpp", "b"), ("b", "ntpp", "c"), ("c", "dc", "d"), ("x", "po", "y"), ("a", "dc|ec|po", "x")]
    growing = Incremental(rcc8, backend)
    for fact in facts:
        growing.add(*fact)
    names = list("abcdxy")
    for head in names:
        for tail in names:
            reason = growing.reason(head, tail)
            part = Network.of(rcc8, [(f.head, f.relations, f.tail) for f in reason], names)
            assert close(part).mask(head, tail) == growing.mask(head, tail)
    assert [str(fact) for fact in growing.reason("a", "d")] == ["TPP(a, b)", "NTPP(b, c)", "DC(c, d)"]
    assert growing.reason("d", "y") == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_if_disturbs_nothing(backend):
    point = load("point")
    line = Incremental(point, backend)
    for fact in [("a", "<", "b"), ("b", "<", "c"), ("c", "<=", "d")]:
        line.add(*fact)
    line.retract("c", "<=", "d")  # so that copies are of both kinds
    before = line.matrix()
    other = line.what_if([("c", "<", "d"), ("d", "<", "e")])
    assert point.format(other.mask("a", "e")) == "<"
    other.retract("a", "<", "b")
    assert point.format(other.mask("a", "c")) == "*"
    assert (line.matrix() == before).all()
    assert point.format(line.mask("a", "c")) == "<"
    assert len(line.network) == 2
    compare(other)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fact_said_twice_goes_one_at_a_time(backend):
    line = Incremental(load("point"), backend)
    for _ in range(2):
        line.add("a", "<", "b")
    line.retract("a", "<", "b")
    assert line.mask("a", "b") == 1
    line.retract("a", "<", "b")
    assert line.mask("a", "b") == load("point").universal
    with pytest.raises(BadArgument, match=r"<\(a, b\) was not added, or was taken back already"):
        line.retract("a", "<", "b")
    with pytest.raises(UnknownName, match="Unknown entity 'x'"):
        line.retract("a", "<", "x")


@pytest.mark.parametrize("backend", BACKENDS)
def test_entities_that_come_after_the_first_retraction(backend):
    line = Incremental.over(Network.of(load("point"), [("0", "<", "1"), ("1", "<", "2")]), backend)
    line.retract("0", "<", "1")
    for number in range(1, 80):
        line.add(str(number), "<", str(number + 1))
    assert load("point").format(line.mask("1", "80")) == "<"
    compare(line)
