"""The `.csp` files of GQR: several networks over numbered nodes in one file.

    2 #a name
     0  1 ( EC PO )
     1  2 ( TPP )
    .

The header gives the highest node number; a pair that is not listed is unconstrained; `( )` is the empty set.
"""

import re

from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile
from epignn.formats.raw import RawFact, RawNetwork, compiled, numbered, places_in
from epignn.formats.rows import text_of_rows

HEADER = re.compile(r"([0-9]++)\s*+(?:#(.*+))?")
CONSTRAINT = re.compile(r"([0-9]++)\s++([0-9]++)\s*+\(([^()]*+)\)")
PLAIN_RELATION = re.compile(r"[^\s()|]++")

# A header of a few bytes must not ask for all memory there is.
MAX_NODES = 5_000_000


def node(digits: str) -> int:
    """A node number, or one beyond every limit if there are too many digits to be one."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 9 else 10**9


def check_nodes(total: int, file: str, line: int) -> None:
    """Raise `BadFile` when the networks of a file have too many nodes to be held."""
    if total > MAX_NODES:
        raise BadFile(f"more than {MAX_NODES:,} nodes; number them from 0 on, or split the file.", file, line)


def parse_csp(text: str, file: str) -> list[RawNetwork]:
    r"""Read the networks of a `.csp` file.

    >>> [network] = parse_csp("1 #two\n0 1 ( EC PO )\n.\n", "example")
    >>> network.title, network.names, network.facts[0].relations
    ('two', ('0', '1'), ('EC', 'PO'))
    """
    data, found = compiled("read_constraints", text, MAX_NODES)
    if found is None:
        return parse_csp_plain(text, file)
    heads, sets, tails, places, written, networks = found
    sets_written = tuple(tuple(names.split()) for names in written)
    return [
        RawNetwork(
            numbered(nodes),
            heads[begin:end],
            tails[begin:end],
            sets[begin:end],
            sets_written,
            title,
            place=places_in(data, places[begin:end]),
        )
        for nodes, title, begin, end in networks
    ]


def parse_csp_plain(text: str, file: str) -> list[RawNetwork]:
    """The same without compiled kernels; raises the error for text of another form."""
    networks: list[RawNetwork] = []
    facts: list[RawFact] = []
    names: tuple[str, ...] = ()
    title = ""
    begun = total = 0
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not stripped:
            continue
        if not begun:
            count, title = _header(stripped, file, number)
            total += count
            check_nodes(total, file, number)
            facts, names, begun = [], numbered(count), number
        elif stripped == ".":
            networks.append(RawNetwork.of(facts, names, title))
            begun = 0
        else:
            facts.append(_constraint(line, len(names), file, number))
    if begun:
        raise BadFile(f"the network of line {begun} has no end; add a line with '.' after it.", file, number)
    return networks


def _header(line: str, file: str, number: int) -> tuple[int, str]:
    match = HEADER.fullmatch(line)
    if match is None:
        raise BadFile(
            f"expected the header of a network, such as '19 #name' for nodes 0 to 19, found {line[:40]!r}.",
            file,
            number,
            1,
        )
    return node(match[1]) + 1, (match[2] or "").strip()


def _constraint(line: str, count: int, file: str, number: int) -> RawFact:
    stripped = line.strip()
    indent = line.index(stripped[0])
    match = CONSTRAINT.fullmatch(stripped)
    if match is None:
        raise BadFile(_what_is_wrong(stripped), file, number, indent + 1)
    for end in (1, 2):
        if node(match[end]) >= count:
            raise BadFile(
                f"node {match[end][:20]} is out of range: the header says 0 to {count - 1}.",
                file,
                number,
                indent + match.start(end) + 1,
            )
    padding = len(match[3]) - len(match[3].lstrip())
    column = indent + match.start(3) + padding + 1
    return RawFact(tuple(match[3].split()), str(node(match[1])), str(node(match[2])), number, column)


def _what_is_wrong(line: str) -> str:
    if HEADER.fullmatch(line):
        return "a new header, but the network before it has no end; add a line with '.' before this one."
    form = f"A constraint looks like '0 3 ( PO TPPI )', found {line[:40]!r}."
    if "(" not in line:
        return f"expected '(' before the relations. {form}"
    if not line.endswith(")"):
        return f"expected ')' after the relations. {form}"
    return f"expected two node numbers and relations in one pair of parentheses. {form}"


def write_csp(network: Network) -> str:
    """A network as `.csp` text, with the positions of the entities for their names.

    Raises:
        BadArgument: no entities, or a relation name that the format cannot hold.
    """
    calculus = network.calculus
    if not network.names:
        raise BadArgument("a network without entities cannot be written as csp; write JSON instead.")
    for relation in calculus.relations:
        if not PLAIN_RELATION.fullmatch(relation):
            raise BadArgument(f"the relation name {relation!r} cannot be written as csp; write JSON instead.")
    title = " ".join(network.title.replace("\0", " ").split())
    masks, sets = network.distinct_sets()
    relations = ["".join(name + " " for name in calculus.names(mask)) for mask in masks]
    nodes = [f"{node:2}" for node in range(len(network.names))]
    columns = ((network.heads, nodes), (network.tails, nodes), (sets, relations))
    return f"{len(nodes) - 1} #{title}\n" + text_of_rows(columns, ("", " ", " ( ", ")\n")) + ".\n"
