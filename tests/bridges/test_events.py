"""Events: relations against all ends that could be and the geological time scale; rows that are refused."""

from itertools import product

import numpy as np
import pytest

from epignn.bridges.events import from_intervals
from epignn.bridges.world import refuted
from epignn.calculus import load
from epignn.calculus.calculi.orders import ALLEN
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument
from epignn.formats.facts import parse_facts
from epignn.formats.frames import read_frame
from epignn.formats.networks import as_networks

pandas = pytest.importorskip("pandas")
BY_SIGNS = {signs: name for name, signs in ALLEN.items()}


def frame(*rows):
    return pandas.DataFrame(rows, columns=["name", "start", "end"])


def by_trial(a, b):
    """All relations that two intervals can have when what is None is tried at every place of a fine grid."""
    places = np.arange(-1, 10, 0.25)
    found = set()
    for one in product(*([value] if value is not None else places for value in a)):
        for other in product(*([value] if value is not None else places for value in b)):
            if one[0] < one[1] and other[0] < other[1]:
                found.add(BY_SIGNS[tuple(int(np.sign(x - y)) for x in one for y in other)])
    return found


@pytest.mark.parametrize("unknown", [(), (3,), (2,), (1, 3), (0, 3), (1, 2)])
def test_every_end_that_could_be(unknown):
    rng = np.random.default_rng(len(unknown) + sum(unknown))
    allen = load("allen")
    for _ in range(4 if len(unknown) == 2 else 15):
        times = [*np.sort(rng.choice(6, 2, replace=False)), *np.sort(rng.choice(6, 2, replace=False))]
        times = [None if place in unknown else float(value) for place, value in enumerate(times)]
        a, b = tuple(times[:2]), tuple(times[2:])
        world = from_intervals(frame(("a", *a), ("b", *b)))
        mask = int(world.network.masks[0]) if len(world.network) else allen.universal
        assert set(allen.names(mask)) == by_trial(a, b), (a, b)


def test_dates_and_unknown_ends():
    table = frame(("dig", "2024-03-01", "2024-03-08"), ("pour", "2024-03-08", None), ("plan", None, "2024-02-01"))
    world = from_intervals(table)
    assert str(world.network).splitlines() == ["m(dig, pour)", ">(dig, plan)", ">(pour, plan)"]
    assert world.notes == ("2 starts or ends are not known: the sets that are possible were taken",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("b", 5, 3), "row 2: 'b' ends before it starts; exchange the two"),
        (("b", 5, 5), "row 2: 'b' starts and ends at the same time"),
        (("a", 5, 6), "row 2: 'a' is also the name of row 1"),
        (("b", "soon", 6), "column 'start': neither numbers nor dates"),
    ],
)
def test_rows_that_are_no_interval(row, message):
    table = frame(("a", 1, 2), row)
    with pytest.raises(BadArgument, match=message):
        from_intervals(table)
    if "column" not in message:
        world = from_intervals(table, skip_bad=True)
        assert world.network.names == ("a",)
        assert world.notes[0].startswith("1 rows")


def test_a_column_that_is_not_there():
    with pytest.raises(BadArgument, match=r"Unknown column 'begin'. .*Known: end, name, start"):
        from_intervals(frame(("a", 1, 2)), start="begin")


@pytest.fixture(scope="module")
def periods(time_scale):
    table = read_frame(time_scale)
    named = table[table["Period"].notna() & table["Superepoch"].isna() & table["Epoch"].isna()]
    return named[named["Age"].isna()]


def test_geological_periods(periods):
    world = from_intervals(periods, "Start", "End", "Period", backwards=True)
    facts = set(str(world.network).splitlines())
    assert {"mi(Neogene, Paleogene)", "mi(Cretaceous, Jurassic)"} <= facts
    assert {fact.partition("(")[0] for fact in facts} == {"mi", ">"}
    assert close(world.network).answer is Answer.CONSISTENT


def test_claims_that_the_time_scale_refutes(periods):
    world = from_intervals(periods, "Start", "End", "Period", backwards=True)
    right = "before(Jurassic, Neogene)\nmeets(Triassic, Jurassic)\nafter|meets(Jurassic, Cretaceous)\n"
    text = right + "o(Triassic, Jurassic)"
    raws = parse_facts(text, "claims")
    [claims] = as_networks(raws, load("allen"), "claims")
    told = [str(one) for one in refuted(world, claims, raws[0], "claims")]
    assert told == ["o(Triassic, Jurassic) is not so: meets(Triassic, Jurassic)"]
