"""The words of a calculus: what each relation looks like, means and is also called."""

from epignn.calculus.algebra import Calculus
from epignn.calculus.meanings import meanings
from epignn.calculus.pictures import pictures

COLUMNS = ("relation", "picture", "meaning", "also called")


def vocabulary(calculus: Calculus) -> tuple[list[str], list[list[str]]]:
    """A table of the words of a calculus; columns that would be empty are left out.

    >>> from epignn.calculus import load
    >>> columns, rows = vocabulary(load("rcc8"))
    >>> columns
    ['relation', 'picture', 'meaning', 'also called']
    >>> rows[1]
    ['EC', '▀▀▀▄▄▄', 'a touches b from outside', 'touches, meet']
    """
    words, drawn, sentences = _words(calculus), pictures(calculus), meanings(calculus)
    others = _others(calculus)
    rows = [
        [word, drawn.get(word, ""), sentences[word].format(a="a", b="b"),
         ", ".join(alias for alias, meant in others.items() if meant == mask)]
        for word, mask in words.items()
    ]  # fmt: skip
    keep = [c for c in range(len(COLUMNS)) if any(row[c] for row in rows)]
    return [COLUMNS[c] for c in keep], [[row[c] for c in keep] for row in rows]


def unions(calculus: Calculus) -> dict[str, str]:
    """Words that stand for several relations, and for which.

    >>> from epignn.calculus import load
    >>> unions(load("rcc8"))["inside"]
    'TPP|NTPP'
    """
    words = set(_words(calculus).values())
    return {word: calculus.format(meant) for word, meant in _others(calculus).items() if meant not in words}


def _words(calculus: Calculus) -> dict[str, int]:
    return {word: calculus.parse_one(word) for word in calculus.words(calculus.universal)}


def _others(calculus: Calculus) -> dict[str, int]:
    words = _words(calculus)
    return {alias: calculus.parse_one(alias) for alias in calculus.aliases if alias not in words}
