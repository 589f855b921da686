"""What relations mean in plain words: a sentence about `{a}` and `{b}` for each relation of the shipped calculi."""

from types import MappingProxyType

from epignn.calculus.algebra import Calculus, members
from epignn.calculus.calculi import indu

_RCC8 = {
    "DC": "{a} is apart from {b}",
    "EC": "{a} touches {b} from outside",
    "PO": "{a} overlaps {b} in part",
    "TPP": "{a} lies inside {b} and touches its edge",
    "NTPP": "{a} lies well inside {b}",
    "TPPI": "{a} contains {b}, which touches its edge",
    "NTPPI": "{a} contains {b} well inside",
    "EQ": "{a} and {b} are the same",
}
_RCC5 = {
    "DR": "{a} does not overlap {b}",
    "PO": "{a} overlaps {b} in part",
    "PP": "{a} is a part of {b}",
    "PPI": "{a} contains {b}",
    "EQ": "{a} and {b} are the same",
}
_ALLEN = {
    "=": "{a} takes the same time as {b}",
    "<": "{a} ends before {b} begins",
    ">": "{a} begins after {b} has ended",
    "d": "{a} takes place during {b}",
    "di": "{a} goes on before, during and after {b}",
    "o": "{a} begins first and overlaps {b}",
    "oi": "{a} begins during {b} and ends after it",
    "m": "{a} ends just when {b} begins",
    "mi": "{a} begins just when {b} ends",
    "s": "{a} begins with {b} and ends earlier",
    "si": "{a} begins with {b} and ends later",
    "f": "{a} begins after {b} and ends with it",
    "fi": "{a} begins before {b} and ends with it",
}
_LONGER = {"<": "and is shorter", "=": "and is as long", ">": "and is longer"}
_INDU = {name: f"{_ALLEN[indu.allen_of(name)]}, {_LONGER[name[-1]]}" for name in indu.RELATIONS}
_POINT = {"<": "{a} is before {b}", "=": "{a} is at the same place as {b}", ">": "{a} is after {b}"}
_CARDINAL = {
    "EQ": "{a} is at the same place as {b}",
    "N": "{a} is due north of {b}",
    "NE": "{a} is north-east of {b}",
    "E": "{a} is due east of {b}",
    "SE": "{a} is south-east of {b}",
    "S": "{a} is due south of {b}",
    "SW": "{a} is south-west of {b}",
    "W": "{a} is due west of {b}",
    "NW": "{a} is north-west of {b}",
}
_KINSHIP = {
    "self": "{a} and {b} are one person",
    "other-man": "{b} is a man to whom {a} has no closer tie",
    "other-woman": "{b} is a woman to whom {a} has no closer tie",
}
_STAR = {
    **_CARDINAL,
    "NE": "{a} is exactly north-east of {b}",
    "SE": "{a} is exactly south-east of {b}",
    "SW": "{a} is exactly south-west of {b}",
    "NW": "{a} is exactly north-west of {b}",
    "NNE": "{a} is between north and north-east of {b}",
    "ENE": "{a} is between north-east and east of {b}",
    "ESE": "{a} is between east and south-east of {b}",
    "SSE": "{a} is between south-east and south of {b}",
    "SSW": "{a} is between south and south-west of {b}",
    "WSW": "{a} is between south-west and west of {b}",
    "WNW": "{a} is between west and north-west of {b}",
    "NNW": "{a} is between north-west and north of {b}",
}
_SEES = {
    "front": "straight ahead",
    "left": "to the left",
    "back": "straight behind",
    "right": "to the right",
}
_OPRA = {
    **{
        f"{mine}-{theirs}": f"{{a}} sees {{b}} {here}, and {{b}} sees {{a}} {there}"
        for mine, here in _SEES.items()
        for theirs, there in _SEES.items()
    },
    "same": "{a} and {b} are at one place and look the same way",
    "same-left": "{a} and {b} are at one place, and {b} looks to the left of {a}",
    "same-back": "{a} and {b} are at one place and look opposite ways",
    "same-right": "{a} and {b} are at one place, and {b} looks to the right of {a}",
}
MEANINGS = MappingProxyType(
    {
        "rcc8": _RCC8,
        "rcc5": _RCC5,
        "allen": _ALLEN,
        "point": _POINT,
        "cardinal": _CARDINAL,
        "kinship": _KINSHIP,
        "indu": _INDU,
        "star4": _STAR,
        "opra1": _OPRA,
    }
)
"""Sentences by calculus and relation; terms of kinship need none of their own."""


MOST_KEYS = 13
"""So many lines are enough for the key of a drawing."""


def key(calculus: Calculus, mask: int) -> list[str]:
    """What the relations of a set mean, a line each, for the key of a drawing; none where nothing is known.

    >>> from epignn.calculus import load
    >>> key(load("rcc8"), 0b11)
    ['DC: a is apart from b', 'EC: a touches b from outside']
    >>> key(load("kinship"), load("kinship").parse("aunt"))
    ['aunt: b is the aunt of a']
    """
    if calculus.name == "kinship":
        told_of, words = meanings(calculus), calculus.words(mask)[:MOST_KEYS]
        return [f"{word}: {told_of[word].format(a='a', b='b')}" for word in words if word in told_of]
    known = MEANINGS.get(calculus.name, {})
    told = [(calculus.format(1 << r), known.get(calculus.relations[r], "")) for r in members(mask)]
    return [f"{word}: {sentence.format(a='a', b='b')}" for word, sentence in told[:MOST_KEYS] if sentence]


def meanings(calculus: Calculus) -> dict[str, str]:
    """A sentence for every word of a calculus; for one that has none, the relation between the two names.

    >>> from epignn.calculus import load
    >>> meanings(load("rcc8"))["EC"].format(a="the pier", b="the city")
    'the pier touches the city from outside'
    >>> meanings(load("kinship"))["aunt"].format(a="Ann", b="Eve")
    'Eve is the aunt of Ann'
    """
    known = MEANINGS.get(calculus.name, {})
    plain = "{b} is the %s of {a}" if calculus.name == "kinship" else "{a} %s {b}"
    return {
        word: known.get(word, plain % word.replace("{", "{{").replace("}", "}}"))
        for word in calculus.words(calculus.universal)
    }
