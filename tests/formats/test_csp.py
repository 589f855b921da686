"""GQR's `.csp` files: what is read, and what each mistake says."""

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile
from epignn.formats.csp import MAX_NODES, parse_csp, write_csp
from epignn.formats.raw import RawFact

TWO = """2 #first one
 0  1 ( EC PO )
 1  2 (TPP)

.
0 # alone
.
"""


def test_two_networks() -> None:
    first, second = parse_csp(TWO, "f")
    assert (first.title, first.names) == ("first one", ("0", "1", "2"))
    assert first.facts == [RawFact(("EC", "PO"), "0", "1", 2, 9), RawFact(("TPP",), "1", "2", 3, 8)]
    assert (second.title, second.names, second.facts) == ("alone", ("0",), [])


def test_liberties() -> None:
    """A header without a name, an empty set, loops, converse order and leading zeros are read."""
    [network] = parse_csp("1\n1 0 ( )\n1 1 ( EQ )\n\t00 0000000000001(DC)\n.", "f")
    assert [(f.relations, f.head, f.tail) for f in network.facts] == [
        ((), "1", "0"),
        (("EQ",), "1", "1"),
        (("DC",), "0", "1"),
    ]


def test_nothing() -> None:
    assert parse_csp("\n \n", "f") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 ( EC )\n.\n", "f:1:1: expected the header of a network, such as '19 #name' for nodes 0 to 19"),
        ("1 #x\n 0 2 ( EC )\n.\n", "f:2:4: node 2 is out of range: the header says 0 to 1."),
        ("1 #x\n0 1 EC\n.\n", "f:2:1: expected '(' before the relations. A constraint looks like '0 3 ("),
        ("1 #x\n  0 1 ( EC\n.\n", "f:2:3: expected ')' after the relations. A constraint"),
        ("1 #x\n0 ( EC )\n.\n", "f:2:1: expected two node numbers and relations in one pair of parentheses."),
        ("1 #x\n0 1 ( (EC) )\n.\n", "f:2:1: expected two node numbers and relations in one pair"),
        ("1 #x\n0 -1 ( EC )\n.\n", "f:2:1: expected two node numbers"),
        (
            "1 #x\n0 1 ( EC )\n1 #y\n.\n",
            "f:3:1: a new header, but the network before it has no end; add a line",
        ),
        ("1 #x\n.\n1 #y\n0 1 ( EC )", "f:4: the network of line 3 has no end; add a line with '.' after it."),
        (f"{MAX_NODES} #x\n.\n", "f:1: more than 5,000,000 nodes; number them from 0 on, or split the file."),
        ("3000000 #x\n.\n3000000 #y\n.\n", "f:3: more than 5,000,000 nodes"),
        ("9" * 5000 + " #x\n.\n", "f:1: more than 5,000,000 nodes"),
        ("1 #x\n0 " + "9" * 5000 + " (EC)\n.", "f:2:3: node 99999999999999999999 is out of range"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_csp(text, "f")
    assert str(caught.value).startswith(message)


def test_written() -> None:
    network = Network.of(load("rcc8"), [("a", "ec|po", "b"), ("b", 0, "a")], names=["c"], title="a\nname")
    assert write_csp(network) == "2 #a name\n 1  2 ( EC PO )\n 2  1 ( )\n.\n"


def test_no_entities() -> None:
    with pytest.raises(BadArgument, match="without entities cannot be written as csp"):
        write_csp(Network.of(load("rcc8"), []))
