"""The compiled readers and writers against their plain twins, on texts that are right, odd and broken."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadFile
from epignn.formats.csp import parse_csp, parse_csp_plain
from epignn.formats.facts import parse_facts, parse_facts_plain
from epignn.formats.networks import parse_table, parse_table_plain
from epignn.formats.raw import RawFact, RawNetwork
from epignn.formats.rows import plain_text_of_rows, text_of_rows
from epignn.formats.triples import parse_triples_plain, read_triples
from epignn.kernels import native

needs_kernels = pytest.mark.skipif(native() is None, reason="no compiled kernels")

PIECES = {
    "facts": ("ec", "ec | dc", "(", ")", "a", '"b, c"', '"', ",", ".", " ", "\n", "# x\n", "%", "é", "\u2003", "|"),
    "csp": (
        "1 #two\n",
        "2\n",
        "0 1 ( EC )\n",
        "01  2(PO)\n",
        " 1 0 ( )\n",
        ".\n",
        "\n",
        "0 1 (",
        "é",
        "#",
        "9",
        " ",
    ),
    "table": (
        "a",
        "b c",
        ",",
        '"',
        '"x ""y"" z"',
        " ",
        "\n",
        "\r\n",
        "\r",
        "a,r,b\n",
        "head,relation,tail\n",
        "\0",
        "é",
        "\u2003",
    ),
    "triples": ("a", "b c", "\t", " ", "\n", "r", "a\tr\tb\n", "a r b\n", "\u00a0", "\x1c", "é"),
}


def outcome(read: Callable[[], object]) -> object:
    """What a reader finds, or the text of its error."""
    try:
        found = read()
    except BadFile as error:
        return str(error)
    if isinstance(found, list):
        return [(raw.names, raw.title, raw.facts) for raw in found]
    return (found.triples, found.entities, found.relations, found.lines.tolist(), found.blank, found.repeated)


def texts(kind: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(PIECES[kind]), max_size=30).map("".join)


@needs_kernels
@given(texts("facts"))
def test_facts(text):
    assert outcome(lambda: parse_facts(text, "f")) == outcome(lambda: parse_facts_plain(text, "f"))


@needs_kernels
@given(texts("csp"))
def test_constraints(text):
    assert outcome(lambda: parse_csp(text, "f")) == outcome(lambda: parse_csp_plain(text, "f"))


@needs_kernels
@given(texts("table"))
def test_tables(text):
    assert outcome(lambda: parse_table(text, "f")) == outcome(lambda: parse_table_plain(text, "f"))


@needs_kernels
def test_the_kernel_reads_cells_in_quotes():
    found = native().read_table(b'id,A,relation,B\n1,"a, ""b""",ec,c\r\n', ",", 16, 1, 2, 3)
    assert (found[4], found[5]) == (["ec"], ['a, "b"', "c"])


@needs_kernels
@given(texts("triples"))
def test_triples(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("triples") / "f"
    path.write_text(text, encoding="utf-8", newline="")
    assert outcome(lambda: read_triples(path)) == outcome(lambda: parse_triples_plain(text, str(path)))


@needs_kernels
@pytest.mark.parametrize(
    "text", ['ec(a, "b # c"). dc|po(New York, é)  # said\n%x\n\n ec (\n c ,d)', "ec(a,b)" * 2000]
)
def test_the_kernel_reads_what_is_right(text):
    assert native().read_facts(text.encode()) is not None
    assert outcome(lambda: parse_facts(text, "f")) == outcome(lambda: parse_facts_plain(text, "f"))


@needs_kernels
@pytest.mark.parametrize("text", ["ec(a, b) x", "ec(a,\u2003b)", "ec((a, b)"])
def test_the_kernel_leaves_the_rest(text):
    assert native().read_facts(text.encode()) is None


def test_half_a_character_is_read_by_the_twin():
    [network] = parse_facts("ec(a\udce9, b)", "f")
    assert network.names == ("a\udce9", "b")


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2)), st.lists(st.text(max_size=3), min_size=3, max_size=3))
def test_rows(numbers, pieces):
    which = np.array(numbers, dtype=np.int32).reshape(-1, 2)
    columns = [(np.ascontiguousarray(which[:, 0]), pieces), (np.ascontiguousarray(which[:, 1]), pieces[::-1])]
    expected = "".join(f"<{pieces[a]}é{pieces[::-1][b]}>" for a, b in numbers)
    assert text_of_rows(columns, ["<", "é", ">"]) == plain_text_of_rows(columns, ["<", "é", ">"]) == expected


@pytest.mark.parametrize("calculus", ["rcc8", "kinship"])
def test_distinct_sets(calculus):
    chosen = load(calculus)
    network = Network.of(chosen, [("a", mask, "b") for mask in (5, 1, 5, chosen.universal)])
    masks, which = network.distinct_sets()
    assert sorted(masks) == [1, 5, chosen.universal]
    assert [masks[w] for w in which] == [5, 1, 5, chosen.universal]


def test_the_first_use_of_a_name_is_told():
    facts = [RawFact(("x", "y"), "a", "b", 1), RawFact(("y",), "a", "b", 2), RawFact(("z", "x"), "b", "c", 3)]
    uses = RawNetwork.of(facts).first_uses()
    assert {name: fact.line for name, fact in uses.items()} == {"x": 1, "y": 1, "z": 3}
