"""Facts as text: what is read, and what each mistake says."""

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile
from epignn.formats.facts import parse_facts, write_facts


def triples(text: str) -> list[tuple[str, str, str]]:
    return [
        ("|".join(fact.relations), fact.head, fact.tail)
        for network in parse_facts(text, "f")
        for fact in network.facts
    ]


@pytest.mark.parametrize(
    "text",
    [
        "ntpp(a, b)\nec|dc(b, c)\n",
        "ntpp(a, b). ec|dc(b, c).",
        "ntpp(a,b),ec|dc(b,c)",
        "ntpp(a,b);;ec|dc(b,c);",
        "ntpp(a,b)ec|dc(b,c)",
        "  ntpp (a , b)\tec | dc ( b, c )  ",
        'ntpp("a", b) # ec(x, y)\n% dc(x, y)\nec|dc(b, "c")',
        "ntpp(a, # the first\n b)\r\nec|dc(b,\n\n c\n)",
    ],
)
def test_ways_to_write_two_facts(text: str) -> None:
    assert triples(text) == [("ntpp", "a", "b"), ("ec|dc", "b", "c")]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("<(a, b)", ("<", "a", "b")),
        ("<=|=(a, b)", ("<=|=", "a", "b")),
        ("*(a, b)", ("*", "a", "b")),
        ("?(a, b)", ("?", "a", "b")),
        ("part of(a, b)", ("part of", "a", "b")),
        ("ec(New York, the  U.S.; 50 states)", ("ec", "New York", "the  U.S.; 50 states")),
        ('ec("a, (b)|#%", "")', ("ec", "a, (b)|#%", "")),
        ('ec("  a ", Łódź)', ("ec", "  a ", "Łódź")),
        ("ec(a, a)", ("ec", "a", "a")),
    ],
)
def test_names(text: str, fact: tuple[str, str, str]) -> None:
    assert triples(text) == [fact]


def test_order_and_repetitions_are_kept() -> None:
    assert [relations for relations, _, _ in triples("ec(a,b) dc(a,b) ec(a,b)")] == ["ec", "dc", "ec"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", " . ; , %"])
def test_nothing(text: str) -> None:
    assert parse_facts(text, "f") == []


def test_places() -> None:
    text = 'ec(a, b)  dc(b, c)\n\n   # comment\n  ec("#", c). po(c,\nd) eq(d, e)'
    [network] = parse_facts(text, "f")
    assert [(fact.line, fact.column) for fact in network.facts] == [(1, 1), (1, 11), (4, 3), (4, 15), (5, 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a, b)", "f:1:1: expected a relation, found '(a, b)'. A fact looks like ntpp(a, b)."),
        ("ec(a, b)\nec a, b", "f:2:5: expected '(' after 'ec a', found ', b'. A fact looks like ntpp(a, b)."),
        ("ec", "f:1:3: expected '(' after 'ec', found the end. A fact looks like ntpp(a, b)."),
        ("ec(, b)", "f:1:4: expected an entity after '(', found ', b)'. A fact looks like ntpp(a, b)."),
        (
            "ec(a)",
            "f:1:5: expected ',' and a second entity after 'a', found ')'. A fact looks like ntpp(a, b).",
        ),
        ("ec(a, )", "f:1:6: expected a second entity after ',', found ')'. A fact looks like ntpp(a, b)."),
        ("ec(a, b, c)", "f:1:8: expected ')' after 'b', found ', c)'. A fact looks like ntpp(a, b)."),
        (
            "ec(a, b\ndc(b, c)",
            "f:1:8: expected ')' after 'b', found 'dc(b, c)'. A fact looks like ntpp(a, b).",
        ),
        (
            'ec(a, "b)',
            "f:1:6: expected a second entity after ',', found '\"b)'. Close the quote on its line.",
        ),
        ('ec(a "b", c)', "expected ',' and a second entity after 'a', found '\"b\", c)'. A fact"),
        ('# "\n\nec("a\n", b)', "f:3:4: expected an entity after '(', found '\"a'. Close the quote"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_facts(text, "f")
    assert message in str(caught.value)


def test_written_names_are_quoted_only_where_needed() -> None:
    facts: list[tuple[str, str | int, str]] = [
        ("New York", "ec|dc", "a,b"),
        (" c", "*", "#1"),
        ("", 0, "d.e"),
    ]
    network = Network.of(load("rcc8"), facts, title="two\nlines")
    assert write_facts(network) == ('# two lines\nDC|EC(New York, "a,b")\n*(" c", "#1")\n∅("", d.e)\n')


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\rb", "a\0b"])
def test_names_that_text_cannot_hold(name: str) -> None:
    with pytest.raises(BadArgument, match="cannot be written as facts; write JSON instead"):
        write_facts(Network.of(load("rcc8"), [(name, "ec", "b")]))
