"""Explanations in words, as lines for a terminal."""

from itertools import pairwise
from typing import TYPE_CHECKING

from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.explain.proof import as_text
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation, Status

if TYPE_CHECKING:
    from epignn.explain.neural import NeuralExplanation

MOST_INFLUENCES = 20


def lines(found: "Explanation | NeuralExplanation") -> list[str]:
    """The answer, why each other relation cannot hold, the proof, and the facts it rests on."""
    if isinstance(found, Explanation):
        return [*answer(found), *excluded(found), *proof(found), *facts(found)]
    table = found.table
    return [*neural_answer(found), *excluded(table), *proof(table), *facts(table), *influence(found)]


def neural_answer(found: "NeuralExplanation") -> list[str]:
    """What the model says, with probabilities, and whether its distilled calculus proves it."""
    table, pair = found.table, f"({found.table.head}, {found.table.tail})"
    calculus = table.network.calculus
    order = sorted(range(len(found.relations)), key=lambda r: -found.chances[r])
    best, shown = order[0], calculus.format(found.mask)
    chances = "  ".join(f"{found.relations[r]} {found.chances[r]:.3f}" for r in order)
    if found.mask.bit_count() == 1:
        said = f"{shown}{pair} with probability {found.chances[best]:.3f}; all others below {found.threshold:g}"
    else:
        said = f"not determined: {shown}{pair} have a probability of {found.threshold:g} or more"
    if found.status is Status.CONTRADICTORY:
        ruling = (
            "contradictory: the calculus distilled from the model refutes the facts, whatever the model answers"
        )
        return [ruling, f"The model answers {said}", f"  {chances}"]
    if found.proved:
        return [said, f"  {chances}", "Proved: the calculus distilled from the model leaves the same."]
    differ = f"the calculus distilled from the model leaves {calculus.format(table.mask)}{pair}"
    return [said, f"  {chances}", f"Not proved: {differ}, and the proof below is of that."]


def influence(found: "NeuralExplanation") -> list[str]:
    """How much each fact matters to the model, the weightiest first."""
    name, network = found.relations[found.likeliest], found.table.network
    order = sorted(range(len(network)), key=lambda f: -abs(found.influence[f]))[:MOST_INFLUENCES]
    shown = [f"  {-found.influence[f]:+.3f}  {network.fact(f)}" for f in order]
    return ["", f"What the probability of {name} gains or loses without a fact", *shown]


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
        unsure = "for such relations only search can exclude one"
        if not calculus.decides:
            unsure = "whether closure finds every one is not known of this calculus"
        said.append(f"No contradiction was found; {unsure}.")
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
