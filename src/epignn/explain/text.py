"""Explanations in words, as lines for a terminal."""

from itertools import pairwise

from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.explain.proof import as_text
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation, Status


def lines(found: Explanation) -> list[str]:
    """The answer, why each other relation cannot hold, the proof, and the facts it rests on."""
    return [*answer(found), *excluded(found), *proof(found), *facts(found)]


def answer(found: Explanation) -> list[str]:
    """The answer in a line or two."""
    pair, calculus = f"({found.head}, {found.tail})", found.network.calculus
    if found.status is Status.CONTRADICTORY:
        return ["contradictory: the facts cannot hold together"]
    if found.status is Status.DETERMINED:
        said = [f"{calculus.format(found.mask)}{pair}: the only relation left"]
    elif found.mask == calculus.universal:
        said = [f"not determined: nothing follows about {pair}, every relation of {calculus.name} may hold"]
    else:
        count = f"{found.mask.bit_count()} of {len(calculus)} relations"
        said = [f"not determined: {count} may hold, {calculus.format(found.mask)}{pair}"]
    if found.verdict is Answer.CLOSED:
        said.append("No contradiction was found; for such relations only search can exclude one.")
    return said


def excluded(found: Explanation) -> list[str]:
    """For the other relations, which path and which facts exclude them."""
    if not found.exclusions:
        return []
    return ["", "Excluded", *(line for exclusion in found.exclusions for line in _exclusion(found, exclusion))]


def _exclusion(found: Explanation, exclusion: Exclusion) -> list[str]:
    calculus = found.network.calculus
    names = ", ".join(calculus.names(exclusion.mask))
    by = "the path" if exclusion.path else _count(exclusion.support)
    said = [f"  {names}: by {by}, which leave{'s' if exclusion.path else ''} {calculus.format(exclusion.left)}"]
    if exclusion.path:
        return [*said, f"    {_along(found.network, exclusion)}"]
    return [*said, *(f"    {fact}" for fact in found.facts(exclusion.support))]


def _along(network: Network, exclusion: Exclusion) -> str:
    """A path in words: entities, and the relations from each to the next."""
    sets: dict[tuple[str, str], str] = {}
    for f in exclusion.support.facts:
        head, tail, mask = network.names[network.heads[f]], network.names[network.tails[f]], int(network.masks[f])
        sets[head, tail] = network.calculus.format(mask)
        sets[tail, head] = network.calculus.format(network.calculus.converse(mask))
    return exclusion.path[0] + "".join(f" –{sets[step]}→ {step[1]}" for step in pairwise(exclusion.path))


def proof(found: Explanation) -> list[str]:
    """The proof as a tree."""
    count, calculus = len(found.proof), found.network.calculus
    title = f"Proof ({count} step{'s' if count > 1 else ''}, checked against the table of {calculus.name})"
    return ["", title, *(f"  {line}" for line in as_text(found.proof, calculus))]


def facts(found: Explanation) -> list[str]:
    """The smallest set of facts that gives the answer."""
    clash = found.status is Status.CONTRADICTORY
    if not found.support.facts:
        return ["", "No fact is needed."]
    what = "that cannot hold together" if clash else "that give this answer"
    sure = "no smaller set does" if found.support.smallest else "none can be left out; a smaller set may exist"
    title = f"{_count(found.support).capitalize()} of {len(found.network)} {what} ({sure})"
    return ["", title, *(f"  {fact}" for fact in found.facts(found.support))]


def _count(support: Support) -> str:
    return f"{len(support.facts)} fact{'s' if len(support.facts) > 1 else ''}"
