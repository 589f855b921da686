"""What a worker does with facts: read, write, close, ask and explain them, search, and find worlds for them."""

import base64
import gzip
import io
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from epignn.calculus import ALIASES, CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.data.statements import Statements
from epignn.distil.rules import read_distilled
from epignn.errors import BadArgument, lookup
from epignn.explain.explanation import Explanation
from epignn.explain.picture import draw
from epignn.explain.text import lines, states
from epignn.files import decode, readable
from epignn.formats.facts import written
from epignn.formats.networks import PARSERS, write_network
from epignn.formats.told import Told
from epignn.reason import ask as asking
from epignn.reason.answer import Facts
from epignn.reason.exact import Exact
from epignn.reason.folders import shipped_models
from epignn.reason.learnt import Learnt
from epignn.reason.networks import closed_dict, entailments, run
from epignn.web.errors import TooMuch
from epignn.web.limits import Context

OWN = "your calculus"
"""What messages call the text of a calculus, or of rules, of the user's own."""

# -- what every request shares --


def told(request: dict[str, Any], context: Context) -> Told:
    """The facts of a request, in words."""
    found = Told.parse(request["facts"], request["format"])
    context.limits.check(found)
    return found


def theory(request: dict[str, Any], facts: Told) -> Exact | Learnt:
    """What reasons about the facts: what the user brings, the calculus named, or the one that knows their words."""
    if request["own"] is not None:
        return own(request["own"])
    if request["calculus"] is not None:
        return Exact(shipped(request["calculus"]))
    return Exact(facts.calculus())


@lru_cache(8)
def own(text: str) -> Exact | Learnt:
    """A calculus or rules from the text of a file."""
    found = read_distilled(text, OWN)
    return Exact(found) if isinstance(found, Calculus) else Learnt.of(found)


def shipped(name: str) -> Calculus:
    """A calculus that epignn knows. A file is none: a client must not make the server open one."""
    known = ALIASES.get(name.casefold(), name.casefold())
    lookup("calculus", known, CALCULI)
    return load(known)


def network(request: dict[str, Any], context: Context) -> Network:
    """The facts over a calculus.

    Raises:
        BadArgument: the user brings rules, which have no networks.
    """
    facts = told(request, context)
    found = theory(request, facts)
    if not isinstance(found, Exact):
        raise BadArgument("these are rules; they answer and explain. A calculus closes, searches and draws.")
    return found.read(facts)


# -- reading and writing --


def parse(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """What the facts say, where each stands, and which calculi know their words."""
    return _parsed(told(request, context), request)


def parse_file(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """The same of a file that was uploaded: its name tells the format, and whether it is packed."""
    name = PurePath(request["name"].replace("\\", "/")).name
    data, plain = base64.b64decode(request["data"]), name.casefold().removesuffix(".gz")
    if plain != name.casefold():
        data = _unpacked(data, name, context.limits.bytes)
    suffix = PurePath(plain).suffix.removeprefix(".")
    found = Told.parse(decode(data, name), suffix if suffix in PARSERS else "facts", name)
    context.limits.check(found)
    return _parsed(found, {"own": None, "calculus": None})


def _unpacked(data: bytes, name: str, most: int) -> bytes:
    """A gzip file, unpacked as far as its size may reach."""
    with readable(name), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise TooMuch(f"{name} is larger than {most:,} bytes when it is unpacked.")
    return found


def _parsed(facts: Told, request: dict[str, Any]) -> dict[str, Any]:
    found = theory(request, facts)
    read: Facts = found.read(facts)
    calculus = read.calculus if isinstance(read, Network) else None
    rows = [_words(read, f) for f in range(len(read))]
    places = zip(rows, facts.networks[0].facts, strict=True)
    return {
        "kind": "calculus" if calculus else "rules",
        "calculus": calculus.name if calculus else None,
        "title": facts.networks[0].title or (calculus.title if calculus else ""),
        "known_by": [name for name in CALCULI if facts.known_to(load(name))],
        "entities": list(read.names),
        "facts": [
            {
                "head": head,
                "relations": words,
                "written": list(raw.relations),
                "tail": tail,
                "line": raw.line or None,
                "column": raw.column or None,
            }
            for (head, words, tail), raw in places
        ],
        "text": _text(read),
        "networks": len(facts.networks),
    }


def _words(facts: Facts, f: int) -> tuple[str, list[str], str]:
    """A fact as head, words and tail."""
    if isinstance(facts, Statements):
        head, relation, tail = facts.triple(f)
        return head, [relation], tail
    ends = facts.names[facts.heads[f]], facts.names[facts.tails[f]]
    return ends[0], list(facts.calculus.words(int(facts.masks[f]))), ends[1]


def _text(facts: Facts) -> str | None:
    """The facts in the language of facts; None where it cannot hold a name, as JSON can."""
    try:
        if isinstance(facts, Network):
            return write_network(facts, "facts")
        triples = map(facts.triple, range(len(facts)))
        return "".join(f"{relation}({written(head)}, {written(tail)})\n" for head, relation, tail in triples)
    except BadArgument:
        return None


def export(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """The facts in another format."""
    return {"text": write_network(network(request, context), request["as"])}


# -- reasoning --


def close(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """What an algorithm makes of the facts."""
    query = tuple(request["query"]) if request["query"] else None
    return closed_dict(run(request["algorithm"], network(request, context), query), query)


def ask_exact(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """What exact reasoning says of a pair; where a model is to be asked too, only its name, as `ask`."""
    facts = told(request, context)
    if request["model"] is not None and request["own"] is None:
        return {"ask": request["model"]}
    found = theory(request, facts)
    if request["own"] is not None:
        note = "Models are not asked about a calculus, or rules, of your own."
    else:
        name = found.calculus_.name
        if name in shipped_models():
            return {"ask": name}
        note = f"No model is shipped for {name}; train one, and name it, to have its answer, too."
    return answers_dict(asking.ask_exact(facts, request["head"], request["tail"], found), None, [note])


def answers_dict(found: asking.Answers, model: str | None, notes: list[str]) -> dict[str, Any]:
    """Who answers what, as plain values, and notes on who has no answer."""
    given = {"exact": found.exact, "learnt": found.learnt, "neural": found.neural}
    notes = [*notes, *(f"{who}: {answer.reason}" for who, answer in given.items() if answer and answer.reason)]
    if model is not None and found.learnt is None:
        notes.append(f"Nothing is distilled from {model} yet, or it cannot read these facts.")
    if found.exact is None:
        notes.append("No calculus has words for the relations of this model.")
    return {
        **{who: None if answer is None or answer.reason else answer.to_dict() for who, answer in given.items()},
        "model": model,
        "calculus": found.calculus,
        "agree": found.agree,
        "differences": found.differences,
        "notes": notes,
    }


def explain(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Why exact reasoning answers as it does."""
    facts = told(request, context)
    found = theory(request, facts)
    return explanation_dict(found.explain(found.read(facts), request["head"], request["tail"]), request["svg"])


def explanation_dict(found: Explanation, svg: bool) -> dict[str, Any]:
    """An explanation as plain values, in words, and as a picture if asked for."""
    title, columns, rows = states(found)
    shown = {"title": title, "columns": columns, "rows": rows}
    document = {**found.to_dict(), "text": lines(found), "states": shown}
    return document | {"svg": draw(found)} if svg else document


def entails(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Whether facts follow from others."""
    return entailments(network(request, context), request["question"]).to_dict()


# -- worlds --


def realise(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """A concrete world in which the facts hold."""
    from epignn.calculus.realise import realise  # here: other work needs none of it

    found = realise(network(request, context), request["seed"], request["seconds"])
    return {
        "found": found.world is not None,
        "world": None if found.world is None else found.world.to_dict(),
        "reason": found.reason,
        "conflict": [fact.to_list() for fact in found.conflict],
    }


def broken(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Which facts do not hold in a world, and what holds in it instead."""
    from epignn.calculus.realise import World

    facts, world = network(request, context), World.from_dict(request["world"])
    pairs = dict.fromkeys((facts.names[i], facts.names[j]) for i, j in zip(facts.heads, facts.tails, strict=True))
    wrong = world.broken(facts)
    return {
        "broken": wrong,
        "relations": [[a, facts.calculus.format(world.relation(a, b)), b] for a, b in pairs],
    }
