"""Networks as JSON: our own form, and that of the qualreas library.

    {"calculus": "rcc8", "title": "…", "entities": ["a", "b"], "facts": [["a", "NTPP|TPP", "b"]]}

All but `facts` may be left out; `entities`, where given, must list every one. The other form has `nodes`,
`edges` as `[head, tail, relations]`, `algebra` and `abbreviations`.
"""

import json
from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus.network import Indices, Network
from epignn.errors import BadFile, unknown
from epignn.files import SURROGATE, load_json
from epignn.formats.raw import Place, RawFact, RawNetwork, relation_names
from epignn.formats.rows import text_of_rows

KEYS = ("calculus", "title", "entities", "facts")
# What qualreas calls the algebras that this package has.
ALGEBRAS = MappingProxyType(
    {"linear_interval_algebra": "allen", "linear_point_algebra": "point", "rcc8_algebra": "rcc8"}
)


def parse_json(text: str, file: str) -> list[RawNetwork]:
    """Read a JSON file: one network.

    >>> [network] = parse_json('{"facts": [["a", "ec|dc", "b"]]}', "example")
    >>> network.facts[0].relations, network.facts[0].path
    (('ec', 'dc'), 'facts[0]')
    """
    raw = load_json(text, file)
    if not isinstance(raw, dict):
        raise BadFile(f'expected an object with "facts", found {_shown(raw)}.', file)
    return [_qualreas(raw, file) if "edges" in raw and "facts" not in raw else _ours(raw, file)]


def _ours(raw: Mapping[str, Any], file: str) -> RawNetwork:
    for key in raw:
        if key not in KEYS:
            raise BadFile(str(unknown("key", key[:80], KEYS)), file)
    if "facts" not in raw:
        raise BadFile('"facts" is missing; write "facts": [["a", "NTPP|TPP", "b"]].', file)
    names = _entities(raw, "entities", file)
    items, about = _list(raw, "facts", file), (_field(raw, "title", file), _field(raw, "calculus", file))
    if columns := _columns(items, names, "entities" in raw):
        return RawNetwork(*columns, *about, lambda f: Place(path=f"facts[{f}]"))
    facts = []
    for i, item in enumerate(items):
        path = f"facts[{i}]"
        if not isinstance(item, list) or len(item) != 3:
            raise BadFile(f"{path}: expected [head, relations, tail], found {_shown(item)}.", file)
        head, relations, tail = (_text(part, f"{path}[{j}]", file) for j, part in enumerate(item))
        facts.append(RawFact(relation_names(relations), head, tail, path=path))
    if "entities" in raw:
        _check_listed(facts, names, "entities", file)
    return RawNetwork.of(facts, names, *about)


def _columns(
    items: list[Any], names: tuple[str, ...], listed: bool
) -> tuple[tuple[str, ...], Indices, Indices, Indices, tuple[tuple[str, ...], ...]] | None:
    """Names, heads, tails and sets of all facts at once; None where one is not as it should be."""
    if set(map(type, items)) != {list} or set(map(len, items)) != {3}:
        return None
    ends = list(chain.from_iterable(items))
    if set(map(type, ends)) != {str}:
        return None
    sets = ends[1::3]
    del ends[1::3]
    index = {name: i for i, name in enumerate(dict.fromkeys(chain(names, ends)))}
    written = {text: number for number, text in enumerate(dict.fromkeys(sets))}
    if (listed and len(index) > len(names)) or any(map(SURROGATE.search, chain(index, written))):
        return None
    heads, tails = np.fromiter(map(index.__getitem__, ends), dtype=np.int32, count=len(ends)).reshape(-1, 2).T
    which = np.fromiter(map(written.__getitem__, sets), dtype=np.int32, count=len(sets))
    relations = tuple(map(relation_names, written))
    return tuple(index), np.ascontiguousarray(heads), np.ascontiguousarray(tails), which, relations


def _qualreas(raw: Mapping[str, Any], file: str) -> RawNetwork:
    names = _entities(raw, "nodes", file)
    abbreviations = raw.get("abbreviations", {})
    if not isinstance(abbreviations, dict):
        raise BadFile(f"abbreviations: expected an object, found {_shown(abbreviations)}.", file)
    meanings = {
        short: relation_names(_text(long, f"abbreviations.{short[:80]}", file))
        for short, long in abbreviations.items()
    }
    facts = []
    for i, item in enumerate(_list(raw, "edges", file)):
        path = f"edges[{i}]"
        if not isinstance(item, list) or len(item) not in (2, 3):
            raise BadFile(f"{path}: expected [head, tail, relations], found {_shown(item)}.", file)
        head, tail, relations = (_text(part, f"{path}[{j}]", file) for j, part in enumerate([*item, "*"][:3]))
        full = [long for short in relation_names(relations) for long in meanings.get(short, (short,))]
        facts.append(RawFact(tuple(full), head, tail, path=path))
    if "nodes" in raw:
        _check_listed(facts, names, "nodes", file)
    algebra = _field(raw, "algebra", file)
    return RawNetwork.of(facts, names, _field(raw, "name", file), ALGEBRAS.get(algebra.casefold(), algebra))


def _entities(raw: Mapping[str, Any], key: str, file: str) -> tuple[str, ...]:
    """The listed entities: strings, or lists that begin with one, as qualreas has them."""
    names: dict[str, int] = {}
    for i, item in enumerate(_list(raw, key, file)):
        first = item[0] if key == "nodes" and isinstance(item, list) and item else item
        name = _text(first, f"{key}[{i}]", file)
        if names.setdefault(name, i) != i:
            raise BadFile(f"{key}[{i}]: {name[:80]!r} is listed twice, first as {key}[{names[name]}].", file)
    return tuple(names)


def _check_listed(facts: list[RawFact], names: tuple[str, ...], key: str, file: str) -> None:
    listed = set(names)
    for fact in facts:
        for name in (fact.head, fact.tail):
            if name not in listed:
                error = unknown("entity", name[:80], names)
                raise BadFile(f'{fact.path}: {error} Add it to "{key}" or correct it.', file)


def _list(raw: Mapping[str, Any], key: str, file: str) -> list[Any]:
    value = raw.get(key, [])
    if not isinstance(value, list):
        raise BadFile(f"{key}: expected a list, found {_shown(value)}.", file)
    return value


def _field(raw: Mapping[str, Any], key: str, file: str) -> str:
    return _text(raw.get(key, ""), key, file)


def _text(value: object, path: str, file: str) -> str:
    if not isinstance(value, str):
        raise BadFile(f"{path}: expected a string, found {_shown(value)}.", file)
    if SURROGATE.search(value):
        raise BadFile(f"{path}: half a surrogate pair is no text: {value[:80]!r}.", file)
    return value


def _shown(value: object) -> str:
    """A value of a JSON file, for an error; containers that are long are only named."""
    if isinstance(value, list | dict) and len(value) > 4:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)} items"
    try:
        text = json.dumps(value)
    except RecursionError:
        return "brackets nested too deeply"
    return text if len(text) <= 60 else text[:60] + "…"


def write_json(network: Network) -> str:
    """A network as JSON, one fact a line; `parse_json` gives the same entities and facts back."""

    def text(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    masks, sets = network.distinct_sets()
    relations = [text(network.calculus.format(mask)) for mask in masks]
    names = [text(name) for name in network.names]
    columns = ((network.heads, names), (sets, relations), (network.tails, names))
    facts = text_of_rows(columns, ("\n    [", ", ", ", ", "],")).removesuffix(",")
    parts = [f'"calculus": {text(network.calculus.name)}']
    if network.title:
        parts.append(f'"title": {text(network.title)}')
    parts.append(f'"entities": {text(network.names)}')
    parts.append('"facts": [' + facts + ("\n  ]" if facts else "]"))
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"
