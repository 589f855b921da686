"""Calculi as TOML files: read with every cell checked, written so that they read back the same.

A file holds `name`, `relations`, `identity`, a `[converse]` table (one entry a pair is enough) and one
`[composition.R]` table a relation, whose entries are relation sets such as `"DC EC"` or `"*"`. Cells with
the identity may be left out. Optional keys: `title`, `source`, `[aliases]`, `terms`, the aliases to print sets
with, `distinct = true` if two names always mean two things, `associative = false` for a table of weak composition
that is not, `many_sorted = true` if compositions may be empty, `decides = true` if closure decides networks of
single relations, and `tractable`, a list of relation sets over which it decides as well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import violations
from epignn.errors import BadCalculus, BadFile, UnknownName, lookup, unknown
from epignn.files import parse_toml, quoted, read_text

KEYS = (
    "name",
    "title",
    "source",
    "relations",
    "identity",
    "distinct",
    "associative",
    "many_sorted",
    "decides",
    "terms",
    "aliases",
    "converse",
    "composition",
    "tractable",
)


def load_calculus(path: Path) -> Calculus:
    """Read a calculus file and check it against the laws of the algebra.

    Raises:
        BadFile: it cannot be read, or is not such a file.
        BadCalculus: a law is broken; the message names law, cell and what was expected.
    """
    return read_calculus(read_text(path), str(path))


def read_calculus(text: str, file: str) -> Calculus:
    """Read a calculus from TOML text; `file` names it in errors."""
    try:
        calculus = _build(parse_toml(text, file), file)
    except UnknownName as error:
        raise BadFile(str(error), file) from error
    broken = [str(violation) for violation in violations(calculus)]
    if broken:
        more = f" {len(broken) - 1} more cells break a law." if len(broken) > 1 else ""
        waivers = {"associativity": "associative = false", "compositions are not empty": "many_sorted = true"}
        hint = "".join(f" Write {key} if that is meant." for law, key in waivers.items() if f"'{law}'" in broken[0])
        raise BadCalculus(f"{file}: {broken[0]}.{hint}{more}")
    return calculus


def _build(raw: Mapping[str, Any], file: str) -> Calculus:
    for key in raw:
        if key not in KEYS:
            raise unknown("key of a calculus file", key, KEYS)
    relations = tuple(_words(_need(raw, "relations", (str, list), file), "relations", file))
    index = {relation: r for r, relation in enumerate(relations)}
    if len(index) != len(relations):
        raise BadFile("a relation is listed twice in 'relations'.", file)

    def relation(name: object, where: str) -> int:
        if not isinstance(name, str) or name not in index:
            raise unknown(f"relation in {where}", str(name), relations)
        return index[name]

    def relation_set(value: object, where: str) -> int:
        if value == "*":
            return (1 << len(relations)) - 1
        return sum({1 << relation(name, where) for name in _words(value, where, file)})

    identity = relation(_need(raw, "identity", (str,), file), "identity")
    converses = _converses(raw, relation, relations, file)
    composition = []
    table = _need(raw, "composition", (dict,), file)
    for r in table:
        relation(r, "[composition]")
    for r, left in enumerate(relations):
        row_raw = table.get(left, {})
        if not isinstance(row_raw, dict):
            raise BadFile(f"[composition.{left}] must be a table.", file)
        for s in row_raw:
            relation(s, f"[composition.{left}]")
        row = []
        for s, right in enumerate(relations):
            if right in row_raw:
                row.append(relation_set(row_raw[right], f"the cell {left} ∘ {right}"))
            elif identity in (r, s):
                row.append(1 << (s if r == identity else r))
            else:
                raise BadFile(f'the cell {left} ∘ {right} is missing; write "*" if anything is possible.', file)
        composition.append(tuple(row))
    aliases = raw.get("aliases", {})
    if not isinstance(aliases, dict):
        raise BadFile("[aliases] must be a table.", file)
    for alias, meaning in aliases.items():
        for part in str(meaning).split("|"):
            relation(part, f"the alias {alias}")
    tractable = raw.get("tractable", [])
    if not isinstance(tractable, list):
        raise BadFile("'tractable' must be a list of relation sets.", file)
    terms = tuple(_words(raw.get("terms", ""), "terms", file))
    for term in terms:
        lookup("alias in 'terms'", term, aliases)
    return Calculus(
        name=_need(raw, "name", (str,), file),
        relations=relations,
        identity=identity,
        converses=converses,
        composition=tuple(composition),
        aliases=aliases,
        terms=terms,
        title=str(raw.get("title", "")),
        source=str(raw.get("source", "")),
        distinct=_flag(raw, "distinct", False, file),
        associative=_flag(raw, "associative", True, file),
        many_sorted=_flag(raw, "many_sorted", False, file),
        decides=_flag(raw, "decides", False, file),
        tractable=frozenset(relation_set(value, "tractable") for value in tractable),
    )


def _converses(raw: Mapping[str, Any], relation: Any, relations: tuple[str, ...], file: str) -> tuple[int, ...]:
    pairs: dict[int, int] = {}
    for left, right in _need(raw, "converse", (dict,), file).items():
        r, s = relation(left, "[converse]"), relation(right, "[converse]")
        for a, b in ((r, s), (s, r)):
            if pairs.setdefault(a, b) != b:
                known = relations[pairs[a]]
                raise BadCalculus(
                    f"{file}: law 'converse is an involution' fails at the converse of {relations[a]}: "
                    f"expected one relation, found {known} and {relations[b]}."
                )
    missing = [name for r, name in enumerate(relations) if r not in pairs]
    if missing:
        raise BadFile(f"[converse] says nothing of {', '.join(missing)}; a symmetric relation is its own.", file)
    return tuple(pairs[r] for r in range(len(relations)))


def _need(raw: Mapping[str, Any], key: str, kinds: tuple[type, ...], file: str) -> Any:
    if key not in raw:
        raise BadFile(
            f"the key '{key}' is missing; a calculus file needs name, relations, identity, converse "
            "and composition.",
            file,
        )
    if not isinstance(raw[key], kinds):
        raise BadFile(f"'{key}' must be a {' or '.join(k.__name__ for k in kinds)}.", file)
    return raw[key]


def _flag(raw: Mapping[str, Any], key: str, default: bool, file: str) -> bool:
    value = raw.get(key, default)
    if not isinstance(value, bool):
        raise BadFile(f"'{key}' must be true or false.", file)
    return value


def _words(value: object, where: str, file: str) -> list[str]:
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadFile(f"{where} must be names separated by spaces, or a list of names.", file)
    return words


def write_calculus(calculus: Calculus) -> str:
    """The TOML text of a calculus; `read_calculus` gives the same calculus back."""

    def cell(mask: int) -> str:
        return quoted("*" if mask == calculus.universal else " ".join(calculus.names(mask)))

    names = calculus.relations
    lines = [
        f"{key} = {quoted(value)}"
        for key, value in (
            ("name", calculus.name),
            ("title", calculus.title),
            ("source", calculus.source),
            ("relations", " ".join(names)),
            ("identity", names[calculus.identity]),
        )
    ]
    if calculus.distinct:
        lines.append("distinct = true")
    lines.append(f"associative = {str(calculus.associative).lower()}")
    if calculus.many_sorted:
        lines.append("many_sorted = true")
    lines.append(f"decides = {str(calculus.decides).lower()}")
    if calculus.tractable:
        lines.append("tractable = [" + ", ".join(cell(mask) for mask in sorted(calculus.tractable)) + "]")
    if calculus.terms:
        lines.append(f"terms = {quoted(' '.join(calculus.terms))}")
    if calculus.aliases:
        lines += ["", "[aliases]"]
        lines += [f"{quoted(alias)} = {quoted(meaning)}" for alias, meaning in calculus.aliases.items()]
    lines += ["", "[converse]"]
    lines += [f"{quoted(name)} = {quoted(names[c])}" for name, c in zip(names, calculus.converses, strict=True)]
    for name, row in zip(names, calculus.composition, strict=True):
        lines += ["", f"[composition.{quoted(name)}]"]
        lines += [f"{quoted(right)} = {cell(mask)}" for right, mask in zip(names, row, strict=True)]
    return "\n".join(lines) + "\n"
