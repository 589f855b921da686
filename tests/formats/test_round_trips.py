"""Files of networks: written and read they are the same; garbage is refused, fast and in our own words."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.errors import BadFile, EpignnError
from epignn.formats.networks import read_networks, write_network

SUFFIXES = {"facts": ".txt", "csp": ".csp", "json": ".json"}
# Each example writes a file: slow on a busy machine, which is no fault.
RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def told(network: Network) -> list[tuple[str, str, str]]:
    return [(f.head, f.relations, f.tail) for f in map(network.fact, range(len(network)))]


# -- round trips --

PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\n\r\0'), max_size=8)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def networks(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Network:
    calculus = load(draw(st.sampled_from(list(CALCULI))))
    entities = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    fact = st.tuples(st.sampled_from(entities), st.integers(0, calculus.universal), st.sampled_from(entities))
    return Network.of(calculus, draw(st.lists(fact, min_size=1, max_size=12)), entities, draw(ANY))


def again(network: Network, format: str, folder: Path) -> Network:
    path = put(folder, "network" + SUFFIXES[format], write_network(network, format))
    [result] = read_networks(path, network.calculus)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


@RELAXED
@given(network=networks(PLAIN))
def test_facts_round_trip(folder: Path, network: Network) -> None:
    assert told(again(network, "facts", folder)) == told(network)


@RELAXED
@given(network=networks(ANY))
def test_csp_round_trip(folder: Path, network: Network) -> None:
    result = again(network, "csp", folder)
    assert len(result.names) == len(network.names)
    assert result.heads.tolist() == network.heads.tolist()
    assert result.tails.tolist() == network.tails.tolist()
    assert result.masks.tolist() == network.masks.tolist()


@RELAXED
@given(network=networks(ANY))
def test_json_round_trip(folder: Path, network: Network) -> None:
    result = again(network, "json", folder)
    assert told(result) == told(network)
    assert (result.names, result.title) == (network.names, network.title)
    [unaided] = read_networks(folder / "network.json")
    assert unaided.calculus == network.calculus


# -- garbage --

ALL_SUFFIXES = [".txt", ".csp", ".json", ".csv", ".gz"]
PIECES = [*'ec(),|"#.a1*[]', " ", "\n", "\r", "\ufeff", "ec(a, b)", "1 #x\n", "0 1 ( EC )\n", ".\n"]
PIECES += ['{"facts": [["a", "ec", "b"]]}', '{"edges": [', "edges,edge_labels,query_edge\n"]
PIECES += ['"[(0, 1)]",', "\"['EC']\",", '"(0, 1)"']
NEARLY = st.lists(st.sampled_from(PIECES)).map(lambda parts: "".join(parts).encode())


@RELAXED
@given(data=st.one_of(st.binary(), st.text().map(lambda t: t.encode("utf-8", "surrogatepass")), NEARLY))
@example(data=b'{"facts": [["\\udfff", "ec", "b"]]}')
@pytest.mark.parametrize("suffix", ALL_SUFFIXES)
def test_anything_reads_or_raises_our_error(folder: Path, suffix: str, data: bytes) -> None:
    try:
        read = read_networks(put(folder, "fuzz" + suffix, data))
    except EpignnError as error:
        assert str(error).startswith(str(folder))
    else:
        assert sum(len(network.names) for network in read) > 0


SIZE = 10_000_000
GARBAGE = {
    "printable": lambda: random.Random(1).randbytes(SIZE).translate(bytes(32 + c % 95 for c in range(256))),
    "bytes": lambda: random.Random(2).randbytes(SIZE),
    "parentheses": lambda: b"(" * SIZE,
    "quotes": lambda: b'"' * SIZE,
    "brackets": lambda: b"[" * SIZE,
    "one line": lambda: b"ec (a, b" + b" b" * (SIZE // 2),
    "one relation": lambda: b"x" * SIZE + b"(a, b)",
    "bars": lambda: b"a|" * (SIZE // 2) + b"(a, b)",
    "blanks": lambda: b" " * SIZE,
    "digits": lambda: b"1" * SIZE,
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_ten_megabytes_of_garbage(tmp_path: Path, kind: str) -> None:
    data = GARBAGE[kind]()
    for suffix in ALL_SUFFIXES:
        path = put(tmp_path, "garbage" + suffix, data)
        start = time.process_time()
        with pytest.raises(BadFile) as caught:
            read_networks(path)
        assert time.process_time() - start < 30  # about half a second; quadratic time would be hours
        assert len(str(caught.value)) < 1000
