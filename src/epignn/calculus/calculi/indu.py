"""INDU: Allen's intervals with their durations compared, derived by enumeration."""

from itertools import combinations

from epignn.calculus.algebra import Calculus, derive
from epignn.calculus.calculi.orders import ALLEN, sign

PLACES = 13
"""The table is the same from 12 places on; a test compares it with that of more."""
DURATIONS = {-1: "<", 0: "=", 1: ">"}
LONGER = {"d": (-1,), "s": (-1,), "f": (-1,), "di": (1,), "si": (1,), "fi": (1,), "=": (0,)}
"""What the relation alone says of the durations; the others leave all three open."""
WORDS = {"<": "b", ">": "bi", "=": "eq"}

RELATIONS = tuple(
    WORDS.get(name, name) + DURATIONS[longer] for name in ALLEN for longer in LONGER.get(name, (-1, 0, 1))
)


def allen_of(name: str) -> str:
    """The relation of Allen's that a relation of INDU refines.

    >>> allen_of("b<"), allen_of("oi="), allen_of("eq=")
    ('<', 'oi', '=')
    """
    return {word: name for name, word in WORDS.items()}.get(name[:-1], name[:-1])


def indu(places: int = PLACES) -> Calculus:
    """INDU: `m<(a, b)` says that a meets b and is the shorter one.

    Its composition is weak: closure finds no contradiction in some networks that have no model.
    """
    by_signs = {signs: WORDS.get(name, name) for name, signs in ALLEN.items()}

    def relate(a: tuple[int, int], b: tuple[int, int]) -> str:
        where = by_signs[sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1])]
        return where + DURATIONS[sign(a[1] - a[0], b[1] - b[0])]

    aliases = {
        word: "|".join(name for name in RELATIONS if name[:-1] == word)
        for word in dict.fromkeys(name[:-1] for name in RELATIONS)
    }
    aliases |= {
        word: "|".join(name for name in RELATIONS if name.endswith(end))
        for word, end in (("shorter", "<"), ("equally-long", "="), ("longer", ">"))
    }
    return derive(
        "indu",
        RELATIONS,
        relate,
        list(combinations(range(places), 2)),
        title="INDU: how two stretches of time lie to each other, and which one is longer",
        source=f"derived from all triples of intervals over {places} places; A. Pujari, G. Kumari, A. Sattar 1999",
        aliases=aliases,
        associative=False,
    )
