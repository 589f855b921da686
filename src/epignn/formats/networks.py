"""Networks from files and back: which reader a file needs, and what its relation names mean.

The readers (`facts`, `csp`, `jsonfile`, `csvfile`) turn text into relation names; this module gives names a
meaning, in a calculus (`as_networks`) or in a vocabulary that belongs to none (`as_statements`).
"""

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from epignn.calculus import ALIASES, CALCULI, load
from epignn.calculus.algebra import RESERVED, Calculus
from epignn.calculus.network import Network
from epignn.errors import BadFile, lookup, unknown
from epignn.files import decode, most_bytes, read_bounded, read_text, readable
from epignn.formats.csp import check_nodes, parse_csp, write_csp
from epignn.formats.facts import parse_facts, write_facts
from epignn.formats.jsonfile import parse_json, write_json
from epignn.formats.raw import Place, RawFact, RawNetwork, compiled, numbered, places_in, relation_names

if TYPE_CHECKING:
    from epignn.data.statements import Statements

NO_TEXT = (".npz", ".parquet", ".xlsx")
"""Suffixes of files that are no text; `epignn.formats.frames` reads them."""
SHOWN = 5
"""Relation names that an error lists."""


def read_networks(path: Path | str, calculus: Calculus | None = None) -> list[Network]:
    """Read the networks of a file, in the format of its suffix.

    These are `.csp`, `.json`, `.csv` and `.tsv`, also with `.gz`, `.npz`, and, by pandas, `.parquet` and `.xlsx`;
    everything else is facts as text. `-` is standard input: facts, or JSON if it begins with `{`. Without a
    calculus, the one that the file names is taken, or the first that knows all its relation names.

    Raises:
        BadFile: it cannot be read, has no facts, or has a name that no calculus knows; with line and column.
    """
    return as_networks(read_raw(path), calculus, _shown(path))


def read_raw(path: Path | str) -> list[RawNetwork]:
    """Read the networks of a file as relation names, without a calculus."""
    file = _shown(path)
    if str(path) == "-":
        with readable(file):
            text = decode(read_bounded(sys.stdin.buffer, most_bytes()), file)
        return (parse_json if text.lstrip().startswith("{") else parse_facts)(text, file)
    suffix = Path(str(path).casefold().removesuffix(".gz")).suffix
    if suffix in NO_TEXT:
        from epignn.formats.frames import READERS

        return READERS[suffix](Path(path))
    text = read_text(path)
    return PARSERS.get(suffix.removeprefix("."), parse_facts)(text, file)


def _shown(path: Path | str) -> str:
    return "standard input" if str(path) == "-" else str(path)


def as_networks(raws: list[RawNetwork], calculus: Calculus | None, file: str) -> list[Network]:
    """Networks over a calculus: the one given, the one that the file names, or the first that knows all names."""
    if not any(len(raw) or raw.names for raw in raws):
        raise BadFile("no facts in it; a fact looks like ntpp(a, b).", file)
    calculus = calculus or calculus_of(raws, file)
    masks = _masks(_first_uses(raws, file), calculus, file)
    return [_network(raw, calculus, masks) for raw in raws]


def calculus_of(raws: list[RawNetwork], file: str) -> Calculus:
    """The calculus that a file names, or the first that knows all names."""
    uses = _first_uses(raws, file)
    return _named(raws[0].calculus, file) or guess_calculus(uses, file, uses)


def as_statements(raw: RawNetwork, relations: tuple[str, ...], file: str) -> "Statements":
    """Facts over a vocabulary that belongs to no calculus.

    Raises:
        BadFile: a relation is not in the vocabulary; with line and column.
    """
    from epignn.data.statements import Statements  # here, because reading networks needs no data sets

    for fact in raw.facts:
        if len(fact.relations) != 1 or fact.relations[0] not in relations:
            raise _bad_fact(str(unknown("relation", "|".join(fact.relations), relations)), fact, file)
    return Statements.of(relations, ((fact.head, fact.relations[0], fact.tail) for fact in raw.facts))


def write_network(network: Network, format: str) -> str:
    """A network as text: `facts`, `csp` (names become numbers) or `json` (everything is kept)."""
    return lookup("format", format, WRITERS)(network)


def guess_calculus(names: Iterable[str], file: str, uses: Mapping[str, RawFact] = MappingProxyType({})) -> Calculus:
    """The first calculus that knows every relation name; `uses` has a fact for each name, for errors.

    >>> guess_calculus(["ec", "NTPP", "*"], "example").name
    'rcc8'

    Raises:
        BadFile: none does; tells which knows the most, or names the most similar ones, and the near misses.
    """
    wanted = [name for name in dict.fromkeys(names) if name not in RESERVED]
    failed: list[tuple[Calculus, list[str]]] = []
    for calculus in map(load, CALCULI):
        unknowns = [name for name in wanted if not calculus.knows(name)]
        if not unknowns:
            return calculus
        failed.append((calculus, unknowns))
    nearest, missing = min(failed, key=lambda one: (len(one[1]), -_likeness(*one)))
    shown = ", ".join(repr(name[:80]) + _near_miss(name, nearest)[0] for name in missing[:SHOWN])
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    others = (
        f"{nearest.name} has the other words, but not" if len(missing) < len(wanted) else "no calculus has the word"
    )
    which = nearest.name if len(missing) < len(wanted) or _likeness(nearest, missing) else "NAME"
    where = f"`epignn calculus show {which}` tells the words" + (
        ", `epignn calculus list` the names" * (which == "NAME")
    )
    raise _bad_fact(f"{others} {shown}{more}. {where}.", uses.get(missing[0]), file)


SUBJECTS = MappingProxyType(
    {"rcc8": "regions", "allen": "events", "point": "points on a line", "cardinal": "places on a map"}
)
"""What calculi with words in common speak of."""
TIME = frozenset({"allen", "point"})
"""Whose words mean the same order, of events or of moments: a guess among them is told, and does no harm."""


def readings(names: Iterable[str]) -> list[Calculus]:
    """The calculi, of different subjects, that know every name; those that have most as names of their own first.

    >>> [calculus.name for calculus in readings(["overlaps", "contains"])]
    ['rcc8', 'allen']
    """
    wanted = [name for name in dict.fromkeys(names) if name not in RESERVED]
    fitting = [calculus for calculus in map(load, SUBJECTS) if all(map(calculus.knows, wanted))]
    return sorted(fitting, key=lambda calculus: -own_names(calculus, wanted))


def own_names(calculus: Calculus, names: Iterable[str]) -> int:
    """How many names are those of base relations, not other words for them."""
    return len({name.casefold() for name in names} & {name.casefold() for name in calculus.relations})


def _likeness(calculus: Calculus, names: list[str]) -> float:
    """How similar the first of some names are to those that a calculus knows."""
    return sum(_near_miss(name, calculus)[1] for name in names[:SHOWN])


ALIKE = 0.6
"""How similar a word of any calculus has to be to be suggested: there are many."""


def _near_miss(name: str, calculus: Calculus) -> tuple[str, float]:
    """The most similar name that a calculus knows, as a question, and how similar it is; if none is, 0."""
    from difflib import SequenceMatcher

    for close in calculus.near(name)[:1]:
        likeness = SequenceMatcher(None, name[:80].casefold(), close.casefold()).ratio()
        if likeness >= ALIKE:
            return f" (did you mean {close!r}?)", likeness
    return "", 0.0


def _bad_fact(message: str, fact: RawFact | None, file: str) -> BadFile:
    if fact is None:
        return BadFile(message, file)
    return BadFile(f"{fact.path}: {message}" if fact.path else message, file, fact.line, fact.column)


# -- from names to masks --


def _first_uses(raws: list[RawNetwork], file: str) -> dict[str, RawFact]:
    """Every relation name with the first fact that has it."""
    uses: dict[str, RawFact] = {}
    for raw in raws:
        uses = raw.first_uses() | uses
    if "" in uses:
        raise _bad_fact("a relation name is missing; write a set like ntpp|tpp, or * for any.", uses[""], file)
    return uses


def _named(name: str, file: str) -> Calculus | None:
    """The calculus that a file names, if it is a shipped one: a file must not make us open another."""
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
            told = unknown(f"{calculus.name} relation", name, known, calculus.near(name))
            raise _bad_fact(str(told), fact, file)
    return masks


def _network(raw: RawNetwork, calculus: Calculus, masks: Mapping[str, int]) -> Network:
    meant = np.zeros(len(raw.written), dtype=np.uint64)
    for s in raw.used():
        for name in raw.written[s]:
            meant[s] |= np.uint64(masks[name])
    return Network(calculus, raw.names, raw.heads, raw.tails, meant[raw.sets], raw.title)


# -- the benchmark's CSV --


def parse_csv(text: str, file: str) -> list[RawNetwork]:
    """Read a table of facts; or, where the columns are the benchmark's, one network a row.

    The nodes of the benchmark are 0 to the highest number that occurs.
    """
    from epignn.formats.csvfile import read_rows  # here and below, because its patterns take time to compile

    header = text.partition("\n")[0]
    if "edges" not in header and header.count(",") >= 2:
        return parse_table(text, file)
    networks, total = [], 0
    for row in read_rows(io.StringIO(text), file):
        if min(row.edges + row.query) < 0:
            raise BadFile("a node number is negative; number the nodes from 0 on.", file, row.line)
        count = max(row.edges + row.query) + 1
        total += count
        check_nodes(total, file, row.line)
        ends, names = map(str, row.edges), row.edge_labels
        facts = [RawFact(relation_names(name), next(ends), next(ends), row.line) for name in names]
        networks.append(RawNetwork.of(facts, numbered(count)))
    return networks


def parse_table(text: str, file: str, delimiter: str = ",") -> list[RawNetwork]:
    """Read a table of facts, one a row: one network."""
    from epignn.formats.csvfile import fact_layout

    layout = fact_layout(text, delimiter)
    begin, columns = layout or (0, [])
    data, found = compiled("read_table", text, delimiter, begin, *columns) if layout else (b"", None)
    if found is None:
        return parse_table_plain(text, file, delimiter)
    heads, sets, tails, places, said, names = found
    where = places_in(data, places)
    relations = tuple(map(relation_names, said))
    network = RawNetwork(tuple(names), heads, tails, sets, relations, place=lambda f: Place(where(f).line))
    return [network] if len(network) else []


def parse_table_plain(text: str, file: str, delimiter: str = ",") -> list[RawNetwork]:
    """The same without compiled kernels; raises the error for a row that is no fact."""
    from epignn.formats.csvfile import read_fact_table

    rows = read_fact_table(io.StringIO(text), file, delimiter)
    facts = [RawFact(relation_names(relations), head, tail, line) for line, head, relations, tail in rows]
    return [RawNetwork.of(facts)] if facts else []


PARSERS: MappingProxyType[str, Callable[[str, str], list[RawNetwork]]] = MappingProxyType(
    {
        "facts": parse_facts,
        "csp": parse_csp,
        "json": parse_json,
        "csv": parse_csv,
        "tsv": lambda text, file: parse_table(text, file, "\t"),
    }
)
"""What reads each format; of a file, the suffix names it."""
WRITERS = MappingProxyType({"facts": write_facts, "csp": write_csp, "json": write_json})
