"""Files of networks: the choice of format and calculus, what each mistake says, published files."""

import gzip
import io
import sys
from pathlib import Path

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.data.statements import Statements
from epignn.errors import BadFile, UnknownName
from epignn.formats import networks
from epignn.formats.facts import parse_facts
from epignn.formats.networks import as_statements, guess_calculus, read_networks, write_network
from tests.conftest import if_published, made_here
from tests.samples import PER_LABEL

CSV = "edges,edge_labels,query_edge,query_label\n"


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def told(network: Network) -> list[tuple[str, str, str]]:
    return [(f.head, f.relations, f.tail) for f in map(network.fact, range(len(network)))]


# -- formats --


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f", "EC(0, 1)\nntpp|TPP(1, 0)"),
        ("f.txt", "\ufeffec(0, 1)\r\ntpp|ntpp(1, 0)\r\n"),
        ("f.pl", "ec(0, 1).\rtpp|ntpp(1, 0)."),
        ("f.csp", "1 #x\r0 1 ( EC )\r1 0 ( NTPP TPP )\r."),
        ("f.CSP", "1 #x\r\n0 1 ( EC )\r\n1 0 ( NTPP TPP )\r\n.\r\n"),
        ("f.json", '\ufeff{"facts": [["0", "EC", "1"], ["1", "tpp|ntpp", "0"]]}'),
        ("f.csv", CSV + '"[(0, 1), (1, 0)]","[\'EC\', \'TPP|NTPP\']","(0, 1)",EC\n'),
        ("f.csv", ',query_edge,edge_labels,edges\r\n7,"(0,1)","[\'EC\',\'TPP|NTPP\']","[(0,1),(1,0)]"\r\n'),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_one_network_in_every_format(tmp_path: Path, name: str, content: str, packed: bool) -> None:
    path = put(tmp_path, name + ".gz", gzip.compress(content.encode())) if packed else put(tmp_path, name, content)
    [network] = read_networks(path)
    assert network.calculus.name == "rcc8"
    assert told(network) == [("0", "EC", "1"), ("1", "TPP|NTPP", "0")]
    assert network.names == ("0", "1")


@pytest.mark.parametrize("content", ["ec(a, b)", ' \n{"facts": [["a", "ec", "b"]]}'])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    [network] = read_networks("-")
    assert told(network) == [("a", "EC", "b")]


def test_standard_input_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ec(a)")))
    with pytest.raises(BadFile, match=r"^standard input:1:5: "):
        read_networks("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BadFile, match=r"^standard input: cannot read it"):
        read_networks("-")


def test_contradictions_loops_and_repetitions_are_kept(tmp_path: Path) -> None:
    path = put(tmp_path, "f", "ec(a, b) dc(a, b) ec(a, b) ec(a, a) ∅(a, c)")
    [network] = read_networks(path)
    assert [relations for _, relations, _ in told(network)] == ["EC", "DC", "EC", "EC", "∅"]


def test_csv_counts_the_query_among_the_nodes(tmp_path: Path) -> None:
    [network] = read_networks(put(tmp_path, "f.csv", CSV + '[],[],"(0, 2)",DC\n'))
    assert (network.names, len(network)) == (("0", "1", "2"), 0)


def test_unknown_format() -> None:
    with pytest.raises(UnknownName, match=r"Unknown format 'jsn'. Did you mean 'json'\? Known: csp, facts, json."):
        write_network(Network.of(load("rcc8"), []), "jsn")


# -- calculi --


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ec(a, b)", "rcc8"),
        ("PP(a, b)", "rcc5"),
        ("<(a, b) *(b, c)", "allen"),
        ("<=(a, b)", "point"),
        ("nw(a, b)", "cardinal"),
        ("eq(a, b) n|?(b, c)", "cardinal"),
        ("father(a, b) daughter-in-law(b, c)", "kinship"),
    ],
)
def test_guess(tmp_path: Path, text: str, name: str) -> None:
    assert read_networks(put(tmp_path, "f", text))[0].calculus.name == name


def test_a_given_calculus_goes_first(tmp_path: Path) -> None:
    path = put(tmp_path, "f.json", '{"calculus": "allen", "facts": [["a", "<", "b"]]}')
    assert read_networks(path)[0].calculus.name == "allen"
    assert read_networks(path, load("point"))[0].calculus.name == "point"


@pytest.mark.parametrize(("named", "name"), [("PA", "point"), ("RCC5", "rcc5"), ("", "rcc8")])
def test_the_calculus_a_file_names(tmp_path: Path, named: str, name: str) -> None:
    path = put(tmp_path, "f.json", f'{{"calculus": "{named}", "facts": [["a", "*", "b"]]}}')
    assert read_networks(path)[0].calculus.name == name


@pytest.mark.parametrize("named", ["rcc-8", "own.toml"])
def test_an_unknown_calculus_in_a_file(tmp_path: Path, named: str) -> None:
    path = put(tmp_path, "f.json", f'{{"calculus": "{named}", "facts": [["a", "ec", "b"]]}}')
    with pytest.raises(BadFile, match=rf"f.json: Unknown calculus '{named}'.*give the calculus yourself"):
        read_networks(path)


def test_guess_lists_what_is_unknown() -> None:
    with pytest.raises(BadFile) as caught:
        guess_calculus(["dc", "EC", "nttp", "zzzz", "*", "∅"], "f")
    assert str(caught.value) == (
        "f: rcc8 has the other words, but not 'nttp' (did you mean 'NTPP'?), 'zzzz'. "
        "`epignn calculus show rcc8` tells the words."
    )


def test_guess_sends_to_the_list_where_no_word_is_known() -> None:
    with pytest.raises(
        BadFile, match=r"no calculus has the word 'zzzz', 'yyyy'\. .*`epignn calculus list` the names"
    ):
        guess_calculus(["zzzz", "yyyy"], "f")


def test_guess_takes_the_most_similar_names_of_equals() -> None:
    with pytest.raises(
        BadFile,
        match=r"no calculus has the word 'fahter' \(did you mean 'father'\?\). `epignn calculus show kinship`",
    ):
        guess_calculus(["fahter"], "f")


def test_guess_loads_no_more_tables_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(networks, "load", lambda name: (asked.append(name), load(name))[1])
    assert guess_calculus(["PP"], "f").name == "rcc5"
    assert asked == ["rcc8", "rcc5"]


# -- mistakes --


PACKED = gzip.compress(b"ec(a, b)", mtime=0)
"""Without the time, so that tests have the same names in every process."""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f", "ec(a, b)\n  dc|nttp(b, c)", "f:2:3: Unknown rcc8 relation 'nttp'. Did you mean 'NTPP'"),
        ("f.csp", "1 #x\n 0 1 ( EC NTP )\n.", "f.csp:2:8: Unknown rcc8 relation 'NTP'. Did you mean 'NTPP'"),
        ("f.json", '{"facts": [["a", "nttp", "b"]]}', "f.json: facts[0]: Unknown rcc8 relation 'nttp'. Did"),
        ("f.csv", CSV + '"[(0, 1)]","[\'nttp\']","(0, 1)",EC', "f.csv:2: Unknown rcc8 relation 'nttp'"),
        ("f", "ec(a, b)\nec||dc(b, c)", "f:2:1: a relation name is missing; write a set like ntpp|tpp, or *"),
        ("f.json", '{"facts": [["a", "", "b"]]}', "f.json: facts[0]: a relation name is missing"),
        ("f", "", "f: no facts in it; a fact looks like ntpp(a, b)."),
        ("f", "\ufeff # nothing\r\n", "f: no facts in it"),
        ("f.csp", "", "f.csp: no facts in it"),
        ("f.csv", CSV, "f.csv: no facts in it"),
        ("f.json", '{"facts": []}', "f.json: no facts in it"),
        ("f", "ec(a, b)\nec(é, b)".encode("latin-1"), "f:2: not UTF-8 text. Save it as UTF-8."),
        ("f", "ec(a, b)".encode("utf-16"), "f:1: not UTF-8 text. Save it as UTF-8."),
        ("f", PACKED, "f:1: not UTF-8 text. It looks like gzip: name it .gz."),
        ("f", "\nec(a\0, b)", "f:2: a NUL byte: not a text file. Save it as UTF-8."),
        ("f.gz", "ec(a, b)", "f.gz: not a whole gzip file (Not a gzipped file (b'ec')); compress it"),
        ("f.gz", PACKED[:-3], "f.gz: not a whole gzip file ("),
        ("f.gz", gzip.compress(b"ec(a, b)" * 9, mtime=0)[:15], "f.gz: not a whole gzip file ("),
        ("f.gz", PACKED[:10] + b"\xff" * 20, "f.gz: not a whole gzip file ("),
        ("f.csv", "a,b\n1,2\n", "f.csv:1: no column 'edges'; the first row must name edges,"),
    ],
)
def test_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, message: str
) -> None:
    put(tmp_path, name, content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadFile) as caught:
        read_networks(name, load("rcc8"))
    assert str(caught.value).startswith(message)


def test_a_negative_node_in_csv(tmp_path: Path) -> None:
    path = put(tmp_path, "f.csv", CSV + '"[(0, -1)]","[\'EC\']","(0, 1)",EC')
    with pytest.raises(BadFile, match=r":2: a node number is negative; number the nodes from 0 on."):
        read_networks(path)


def test_too_many_nodes_in_csv(tmp_path: Path) -> None:
    for rows in ('[],[],"(0, 999999999999)",x', '[],[],"(0, 2999999)",x\n' * 2):
        with pytest.raises(BadFile, match="more than 5,000,000 nodes"):
            read_networks(put(tmp_path, "f.csv", CSV + rows))


def test_a_typo_is_placed_when_the_calculus_is_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(put(tmp_path, "f", "ec(a, b)\n nttp(b, c)").parent)
    with pytest.raises(
        BadFile, match=r"^f:2:2: rcc8 has the other words, but not 'nttp' \(did you mean 'NTPP'\?\)"
    ):
        read_networks("f")


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"absent: cannot read it: No such file or directory. Check the path."):
        read_networks(tmp_path / "absent")
    with pytest.raises(BadFile, match=r"it is a folder\. Name a file"):
        read_networks(tmp_path)
    with pytest.raises(BadFile, match="cannot read it: embedded null byte"):
        read_networks("a\0b")


# -- files of the data folder --


@pytest.mark.parametrize(
    ("file", "calculus", "count", "nodes", "constraints"),
    if_published(
        [
            ("gqr/rcc8/PC.csp.gz", "rcc8", 1, 20, 88),
            ("gqr/rcc8/alleq.csp.gz", "rcc8", 1, 3, 3),
            ("gqr/rcc8/example-10x10.csp.gz", "rcc8", 10, 30, 240.9),
            ("gqr/rcc8/example-10x20.csp.gz", "rcc8", 10, 20, 168.3),
            ("gqr/rcc8/example-20x20.csp.gz", "rcc8", 20, 20, 137.3),
            ("gqr/allen/alleq.csp.gz", "allen", 1, 3, 3),
            ("gqr/allen/example-10x10.csp.gz", "allen", 10, 10, 45.0),
            ("gqr/allen/example-10x15.csp.gz", "allen", 10, 15, 81.5),
            ("gqr/allen/example50.csp.gz", "allen", 1, 50, 136),
            ("pyrcc8/wiki.csp.gz", "rcc8", 1, 5, 8),
            ("pyrcc8/hard_of_H.csp.gz", "rcc8", 1, 60, 395),
            ("qualreas/BookExample.json", "allen", 1, 4, 6),
            ("qualreas/Figure_5_in_Allens_1983_paper.json", "allen", 1, 4, 6),
            ("qualreas/golumbic1993_example_2_5.json", "allen", 1, 3, 3),
            ("qualreas/rcc8_example.json", "rcc8", 1, 5, 10),
        ]
    ),
)
def test_published_networks(
    data: Path, file: str, calculus: str, count: int, nodes: int, constraints: float
) -> None:
    read = read_networks(data / "qcn" / file)
    assert len(read) == count
    assert {network.calculus.name for network in read} == {calculus}
    assert {len(network.names) for network in read} == {nodes}
    assert sum(map(len, read)) / count == pytest.approx(constraints, abs=0.051)


@pytest.mark.parametrize("file", ["gqr/allen/example-10x10.csp.gz", "qualreas/rcc8_example.json"])
def test_networks_of_the_files(files: Path, file: str) -> None:
    """The format and the names of a file tell what it holds."""
    read = read_networks(files / "qcn" / file)
    assert {network.calculus.name for network in read} == {"allen" if "allen" in file else "rcc8"}
    assert len(read) == (1 if file.endswith(".json") else 4 if made_here(files) else 10)
    assert all(len(network) and len(network.names) >= 4 for network in read)


@pytest.mark.parametrize(("kind", "calculus"), [("rcc8", "rcc8"), ("interval", "allen")])
def test_problems_of_the_files(files: Path, kind: str, calculus: str) -> None:
    read = read_networks(files / "rcc8_ia" / f"test_{kind}_k_2_b_1.csv.gz")
    assert len(read) == (PER_LABEL if made_here(files) else 800) * len(load(calculus))
    assert read[0].calculus.name == calculus
    assert {(network.names, len(network)) for network in read} == {(("0", "1", "2"), 2)}


def test_statements_over_a_vocabulary():
    words = ("mother", "son")
    [raw] = parse_facts("mother(ann, bea). son(bea, carl)", "x.txt")
    expected = Statements.of(words, [("ann", "mother", "bea"), ("bea", "son", "carl")])
    assert as_statements(raw, words, "x.txt") == expected
    with pytest.raises(BadFile, match=r"x\.txt:2:1: Unknown relation 'sun'"):
        as_statements(parse_facts("mother(a, b)\nsun(b, c)", "x.txt")[0], words, "x.txt")
    with pytest.raises(BadFile, match=r"son\|mother"):
        as_statements(parse_facts("son|mother(a, b)", "x.txt")[0], words, "x.txt")
