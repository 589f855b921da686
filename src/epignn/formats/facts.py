"""Facts as text, `ntpp(a, b)` or `ntpp|tpp(New York, "the U.S.")`.

Facts stand on lines of their own or are separated by `.`, `,`, `;` or white space; `#` and `%` begin a
comment. A reader gives relation names and their places; `formats.networks` gives them a meaning in a calculus.
"""

import re

from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile
from epignn.formats.raw import RawFact, RawNetwork, compiled, places_in, relation_names
from epignn.formats.rows import text_of_rows

# Every repetition is of one character class and possessive, so that matching takes linear time.
RELATIONS = r'([^\s.,;()"][^.,;()"\n]*+)'
ENTITY = r'(?:"([^"\n]*+)"|([^\s,()|"][^,()|"\n]*+))'
STEPS = (
    (RELATIONS, "a relation"),
    (r"\(", "'('"),
    (ENTITY, "an entity"),
    (",", "',' and a second entity"),
    (ENTITY, "a second entity"),
    (r"\)", "')'"),
)
SEPARATORS = r"[\s.,;]*+"
BEGIN = re.compile(SEPARATORS)
FACT = re.compile(r"\s*+".join(pattern for pattern, _ in STEPS) + SEPARATORS)
COMMENT = re.compile(r'("[^"\n]*+")|[#%][^\n]*+')

PLAIN_NAME = re.compile(r'[^,()|"#%\n\r\0]++')
QUOTABLE_NAME = re.compile(r'[^"\n\r\0]*+')
PLAIN_RELATION = re.compile(r'[^.,;()|"#%\n\r\0]++')


def parse_facts(text: str, file: str) -> list[RawNetwork]:
    """Read facts as text: one network.

    >>> [network] = parse_facts("ntpp|tpp(a, New York). ec(b, c)  # said twice", "example")
    >>> network.facts[0]
    RawFact(relations=('ntpp', 'tpp'), head='a', tail='New York', line=1, column=1, path='')
    """
    data, found = compiled("read_facts", text)
    if found is None:
        return parse_facts_plain(text, file)
    heads, sets, tails, places, said, names = found
    relations = tuple(map(relation_names, said))
    network = RawNetwork(tuple(names), heads, tails, sets, relations, place=places_in(data, places))
    return [network] if len(network) else []


def parse_facts_plain(text: str, file: str) -> list[RawNetwork]:
    """The same without compiled kernels; raises the error for text that is not facts."""
    if "#" in text or "%" in text:
        # A comment ends its line, so that no column changes when it goes.
        text = COMMENT.sub(lambda match: match[1] or "", text)
    facts = []
    line, line_start, last = 1, 0, 0
    begin = BEGIN.match(text)
    start = begin.end() if begin else 0
    while start < len(text):
        if newlines := text.count("\n", last, start):
            line, line_start = line + newlines, text.rindex("\n", last, start) + 1
        match = FACT.match(text, start)
        if match is None:
            raise _broken_fact(text, start, file)
        relations, quoted_head, head, quoted_tail, tail = match.groups()
        facts.append(
            RawFact(
                relation_names(relations),
                head.strip() if quoted_head is None else quoted_head,
                tail.strip() if quoted_tail is None else quoted_tail,
                line,
                start - line_start + 1,
            )
        )
        last, start = start, match.end()
    return [RawNetwork.of(facts)] if facts else []


def _broken_fact(text: str, start: int, file: str) -> BadFile:
    """The error for the fact that begins at `start`, at the place after the last step that matches."""
    end, last, steps = start, "", iter(STEPS)
    pattern, expected = next(steps)
    while match := re.compile(r"\s*+" + pattern).match(text, end):
        end, last = match.end(), match[0].strip()
        pattern, expected = next(steps)
    rest = text[end : end + 1000].lstrip()
    found = repr(rest[:30].partition("\n")[0].rstrip()) if rest else "the end"
    after = f" after {last[-30:]!r}" if last else ""
    unclosed = pattern == ENTITY and rest.startswith('"')
    hint = "Close the quote on its line." if unclosed else "A fact looks like ntpp(a, b)."
    line, column = text.count("\n", 0, end) + 1, end - (text.rfind("\n", 0, end) + 1) + 1
    return BadFile(f"expected {expected}{after}, found {found}. {hint}", file, line, column)


def write_facts(network: Network) -> str:
    """The facts of a network as text, one a line; `parse_facts` gives the same facts back.

    Raises:
        BadArgument: a name that text cannot hold, such as one with a quote.
    """
    for relation in network.calculus.relations:
        if not PLAIN_RELATION.fullmatch(relation) or relation != relation.strip():
            raise BadArgument(f"the relation name {relation!r} cannot be written as facts; write JSON instead.")
    title = " ".join(network.title.replace("\0", " ").split())
    masks, sets = network.distinct_sets()
    relations = [network.calculus.format(mask) for mask in masks]
    names = [written(name) for name in network.names]
    columns = ((sets, relations), (network.heads, names), (network.tails, names))
    return (f"# {title}\n" if title else "") + text_of_rows(columns, ("", "(", ", ", ")\n"))


def written(name: str) -> str:
    """The name of an entity as facts have it, in quotes where it needs them.

    Raises:
        BadArgument: text cannot hold it.
    """
    if PLAIN_NAME.fullmatch(name) and name == name.strip():
        return name
    if QUOTABLE_NAME.fullmatch(name):
        return f'"{name}"'
    raise BadArgument(f"the entity name {name[:80]!r} cannot be written as facts; write JSON instead.")
