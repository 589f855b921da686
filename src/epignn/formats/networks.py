"""Networks from files and back: which reader a file needs, and what its relation names mean.

The readers (`facts`, `csp`, `jsonfile`, `csvfile`) know no calculus. This file turns bytes to text before them,
and names to masks after them, each in one place.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from epignn.calculus import ALIASES, CALCULI, load
from epignn.calculus.algebra import RESERVED, Calculus
from epignn.calculus.network import Network
from epignn.errors import BadFile, lookup, near_misses, unknown
from epignn.formats.csp import check_nodes, numbered, parse_csp, write_csp
from epignn.formats.csvfile import read_rows
from epignn.formats.facts import RawFact, RawNetwork, parse_facts, relation_names, write_facts
from epignn.formats.jsonfile import parse_json, write_json


def read_networks(path: Path | str, calculus: Calculus | None = None) -> list[Network]:
    """Read the networks of a file; its suffix (`.csp`, `.json`, `.csv`, also with `.gz`) tells the format.

    Everything else is facts as text. `-` is standard input: facts, or JSON if it begins with `{`. Without a
    calculus, the one that the file names is taken, or the first that knows all its relation names.

    Raises:
        BadFile: it cannot be read, or has no facts, or a name no calculus knows; tells file, line and column.
    """
    return as_networks(read_raw(path), calculus, _shown(path))


def read_raw(path: Path | str) -> list[RawNetwork]:
    """Read the networks of a file as names, whose meaning is left open."""
    file = _shown(path)
    text = _decode(_read(path, file), file)
    return _reader(path, text)(text, file)


def _shown(path: Path | str) -> str:
    return "standard input" if str(path) == "-" else str(path)


def as_networks(raws: list[RawNetwork], calculus: Calculus | None, file: str) -> list[Network]:
    """Give relation names their meaning: in a calculus, the one a file names, or the first that knows them all."""
    if not any(raw.facts or raw.names for raw in raws):
        raise BadFile("no facts in it; a fact looks like ntpp(a, b).", file)
    uses = _first_uses(raws, file)
    if calculus is None:
        calculus = _named(raws[0].calculus, file) or guess_calculus(uses, file, uses)
    masks = _masks(uses, calculus, file)
    return [_network(raw, calculus, masks) for raw in raws]


def write_network(network: Network, format: str) -> str:
    """A network as text: `facts`, `csp` (names become numbers) or `json` (everything is kept)."""
    return lookup("format", format, WRITERS)(network)


def guess_calculus(names: Iterable[str], file: str, uses: Mapping[str, RawFact] = MappingProxyType({})) -> Calculus:
    """The first calculus that knows every relation name; `uses` tells where a name stands.

    >>> guess_calculus(["ec", "NTPP", "*"], "example").name
    'rcc8'

    Raises:
        BadFile: none does; tells which knows the most, and the near misses of what it does not know.
    """
    wanted = [name for name in dict.fromkeys(names) if name not in RESERVED]
    missing: list[str] | None = None
    for calculus in map(load, CALCULI):
        unknowns = [name for name in wanted if not calculus.knows(name)]
        if not unknowns:
            return calculus
        if missing is None or len(unknowns) < len(missing):
            nearest, missing = calculus, unknowns
    assert missing is not None  # there are calculi
    shown = ", ".join(_with_near_miss(name, nearest) for name in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    message = f"no calculus knows all its relations; {nearest.name} knows the most, but not {shown}{more}."
    raise _bad_fact(f"{message} Correct them or name the calculus.", uses.get(missing[0]), file)


def _with_near_miss(name: str, calculus: Calculus) -> str:
    close = near_misses(name, (*calculus.relations, *calculus.aliases), most=1)
    return repr(name[:80]) + (f" (did you mean {close[0]!r}?)" if close else "")


def _bad_fact(message: str, fact: RawFact | None, file: str) -> BadFile:
    if fact is None:
        return BadFile(message, file)
    return BadFile(f"{fact.path}: {message}" if fact.path else message, file, fact.line, fact.column)


# -- from names to masks --


def _first_uses(raws: list[RawNetwork], file: str) -> dict[str, RawFact]:
    """Every relation name with the first fact that has it."""
    uses: dict[str, RawFact] = {}
    for raw in raws:
        for fact in raw.facts:
            for name in fact.relations:
                if name not in uses:
                    uses[name] = fact
    if "" in uses:
        raise _bad_fact("a relation name is missing; write a set like ntpp|tpp, or * for any.", uses[""], file)
    return uses


def _named(name: str, file: str) -> Calculus | None:
    """The calculus that a file names: a shipped one, for a file must not make us open another."""
    known = ALIASES.get(name.casefold(), name.casefold())
    if known in CALCULI or not name:
        return load(known) if name else None
    hint = "If it is your own, give the calculus yourself."
    raise BadFile(f"{unknown('calculus', name, CALCULI)} {hint}", file)


def _masks(uses: Mapping[str, RawFact], calculus: Calculus, file: str) -> dict[str, int]:
    masks = {}
    for name, fact in uses.items():
        if calculus.knows(name) or name in RESERVED:
            masks[name] = calculus.parse_one(name)
        else:
            known = (*calculus.relations, *calculus.aliases)
            raise _bad_fact(str(unknown(f"{calculus.name} relation", name, known)), fact, file)
    return masks


def _network(raw: RawNetwork, calculus: Calculus, masks: Mapping[str, int]) -> Network:
    facts = []
    for fact in raw.facts:
        mask = 0
        for name in fact.relations:
            mask |= masks[name]
        facts.append((fact.head, mask, fact.tail))
    return Network.of(calculus, facts, raw.names, raw.title)


# -- from bytes to text --


@contextmanager
def readable(file: str) -> Iterator[None]:
    """What goes wrong while a file is opened, unpacked and decoded, in our words."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadFile("not UTF-8 text. Save it as UTF-8, or name it .gz if it is gzip.", file) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFile(f"not a whole gzip file ({error}); compress it again or drop .gz.", file) from error
    except (OSError, ValueError, AttributeError) as error:  # or a NUL in the path, or no standard input
        reason = getattr(error, "strerror", None) or str(error)
        raise BadFile(f"cannot read it: {reason}. Check the path.", file) from error


def _read(path: Path | str, file: str) -> bytes:
    with readable(file):
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
        return gzip.decompress(data) if file.casefold().endswith(".gz") else data


def _decode(data: bytes, file: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "It looks like gzip: name it .gz." if data[:2] == b"\x1f\x8b" else "Save it as UTF-8."
        raise BadFile(f"not UTF-8 text. {hint}", file, data.count(b"\n", 0, error.start) + 1) from error
    if (nul := text.find("\0")) >= 0:
        raise BadFile("a NUL byte: not a text file. Save it as UTF-8.", file, text.count("\n", 0, nul) + 1)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _reader(path: Path | str, text: str) -> Callable[[str, str], list[RawNetwork]]:
    if str(path) == "-":
        return parse_json if text.lstrip().startswith("{") else parse_facts
    suffix = Path(str(path).casefold().removesuffix(".gz")).suffix
    return READERS.get(suffix, parse_facts)


# -- the benchmark's CSV --


def parse_csv(text: str, file: str) -> list[RawNetwork]:
    """Read one network a row; the nodes are 0 to the highest number that occurs."""
    networks, total = [], 0
    for row in read_rows(io.StringIO(text), file):
        if min(row.edges + row.query) < 0:
            raise BadFile("a node number is negative; number the nodes from 0 on.", file, row.line)
        count = max(row.edges + row.query) + 1
        total += count
        check_nodes(total, file, row.line)
        ends, names = map(str, row.edges), row.edge_labels
        facts = [RawFact(relation_names(name), next(ends), next(ends), row.line) for name in names]
        networks.append(RawNetwork(facts, numbered(count)))
    return networks


READERS = MappingProxyType({".csp": parse_csp, ".json": parse_json, ".csv": parse_csv})
WRITERS = MappingProxyType({"facts": write_facts, "csp": write_csp, "json": write_json})
