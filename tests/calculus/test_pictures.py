"""Pictures of relations: what they show has the relation."""

from epignn.calculus import CALCULI, load
from epignn.calculus.calculi.orders import ALLEN, sign
from epignn.calculus.pictures import AS_BARS, bars, pictures


def stretch(picture: str, marks: str) -> tuple[int, int]:
    at = [x for x, mark in enumerate(picture) if mark in marks]
    assert at == list(range(at[0], at[-1] + 1))
    return at[0], at[-1] + 1


def test_bars_lie_as_the_relation_says() -> None:
    for relation, signs in ALLEN.items():
        a, b = stretch(bars(relation), "▀█"), stretch(bars(relation), "▄█")
        assert signs == (sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1]))


def test_bars_of_indu_are_as_long_as_the_relation_says() -> None:
    for relation, picture in pictures(load("indu")).items():
        a, b = stretch(picture, "▀█"), stretch(picture, "▄█")
        signs = (sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1]))
        [allen] = [name for name, expected in ALLEN.items() if expected == signs]
        longer = sign(a[1] - a[0], b[1] - b[0])
        assert relation == {"<": "b", ">": "bi", "=": "eq"}.get(allen, allen) + "<=>"[longer + 1]


def test_every_picture_is_of_one_relation() -> None:
    for calculus in map(load, CALCULI):
        found = pictures(calculus)
        assert set(found) in (set(), set(calculus.relations))
        assert len(set(found.values())) == len(found)


def test_regions_are_shown_as_their_converse_is_turned_round() -> None:
    rcc8, allen = load("rcc8"), load("allen")
    for name in rcc8.relations:
        other = rcc8.format(rcc8.converse(rcc8.parse(name)))
        if other != name:
            assert allen.converse(allen.parse_one(AS_BARS[name])) == allen.parse_one(AS_BARS[other])
