"""Explanations in words, as lines for a terminal."""

from itertools import pairwise
from typing import TYPE_CHECKING

from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.explain import rule_proof
from epignn.explain.proof import as_text
from epignn.explain.ruled import MOST_REDUCED, RuleExplanation
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation, Status

if TYPE_CHECKING:
    from epignn.explain.neural import Belief, NeuralExplanation
    from epignn.explain.vocabulary import VocabularyExplanation

MOST_INFLUENCES = 20
MANY, LEAST_SHOWN = 13, 0.001
"""Of more relations than so many, only those of some probability are listed."""


def lines(found: "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation") -> list[str]:
    """The answer, why each other relation cannot hold, the proof, and the facts it rests on."""
    if isinstance(found, Explanation):
        return [*answer(found), *excluded(found), *proof(found), *facts(found)]
    if isinstance(found, RuleExplanation):
        return [*rule_answer(found), *rule_proofs(found)]
    from epignn.explain.vocabulary import VocabularyExplanation

    if isinstance(found, VocabularyExplanation):
        told = [found.facts.fact(f) for f in range(len(found.facts))]
        return [*vocabulary_answer(found), *influence(found, told)]
    table = found.table
    told = [str(table.network.fact(f)) for f in range(len(table.network))]
    return [*neural_answer(found), *excluded(table), *proof(table), *facts(table), *influence(found, told)]


def belief(found: "Belief", shown: str, pair: str) -> tuple[str, ...]:
    """What a model says of a pair, `shown` being what may hold, and the probabilities, likeliest first."""
    if found.chances.max() == found.chances.min():
        return (f"not determined: no facts lead to an answer, every relation of {pair} may hold",)
    order = sorted(range(len(found.relations)), key=lambda r: -found.chances[r])
    some = [r for r in order if found.chances[r] >= LEAST_SHOWN] if len(order) > MANY else order
    chances = "  ".join(f"{found.relations[r]} {found.chances[r]:.3f}" for r in some)
    chances += f"  others below {LEAST_SHOWN:g}" if len(some) < len(order) else ""
    if found.mask.bit_count() == 1:
        best = found.chances[order[0]]
        return f"{shown}{pair} with probability {best:.3f}; all others below {found.threshold:g}", f"  {chances}"
    return f"not determined: {shown}{pair} have a probability of {found.threshold:g} or more", f"  {chances}"


def vocabulary_answer(found: "VocabularyExplanation") -> list[str]:
    """What the model says, and whether the rules that were distilled from it say the same, and why."""
    said = list(belief(found, "|".join(found.answers), f"({found.head}, {found.tail})"))
    if found.table is None:
        hint = "`epignn distil RUN --out RUN/rules.toml` reads them off the model"
        return [*said, f"Not proved: no rules are beside the model; {hint}."]
    if found.proved:
        said.append("Proved: the rules distilled from the model derive the same.")
    else:
        differ = f"derive {found.table}" if found.table.relations else "derive nothing of the two"
        said.append(f"Not proved: the rules distilled from the model {differ}.")
    return [*said, *rule_proofs(found.table)]


def rule_answer(found: RuleExplanation) -> list[str]:
    """What follows by rules, in a line."""
    if not found.relations:
        return [f"not determined: no rule leads from {found.head} to {found.tail}"]
    if len(found.relations) == 1:
        return [f"{found}: follows by rules of weight {found.weight:.2f} or more"]
    return [f"not determined: {len(found.relations)} relations follow alike, {found}"]


def rule_proofs(found: RuleExplanation) -> list[str]:
    """What follows less surely, the proofs as trees, and the facts they rest on."""
    said = []
    if found.weaker:
        weaker = ", ".join(f"{name} ({strength:.1f})" for name, strength in found.weaker.items())
        said += ["", f"By weaker rules: {weaker}"]
    for one in found.proofs:
        count = len(one)
        said += ["", f"Proof ({count} step{'s' if count > 1 else ''}, checked against the rules)"]
        said += [f"  {line}" for line in rule_proof.as_text(one, found.rules)]
    if not found.proofs:
        return [*said, "", "Rules exclude nothing: any relation may hold that they do not derive."]
    sure = "none can be left out; a smaller set may exist" if len(found.facts) <= MOST_REDUCED else "fewer may do"
    sure = "no smaller set does" if found.support.smallest else sure
    title = f"{_count(found.support).capitalize()} of {len(found.facts)} that give this answer ({sure})"
    return [*said, "", title, *(f"  {found.facts.fact(f)}" for f in found.support.facts)]


def neural_answer(found: "NeuralExplanation") -> list[str]:
    """What the model says, with probabilities, and whether its distilled calculus proves it."""
    table, pair = found.table, f"({found.table.head}, {found.table.tail})"
    calculus = table.network.calculus
    said, *chances = belief(found, calculus.format(found.mask), pair)
    if found.status is Status.CONTRADICTORY:
        ruling = (
            "contradictory: the calculus distilled from the model refutes the facts, whatever the model answers"
        )
        return [ruling, f"The model answers {said}", *chances]
    if found.proved:
        return [said, *chances, "Proved: the calculus distilled from the model leaves the same."]
    differ = f"the calculus distilled from the model leaves {calculus.format(table.mask)}{pair}"
    return [said, *chances, f"Not proved: {differ}, and the proof below is of that."]


def influence(found: "Belief", told: list[str]) -> list[str]:
    """How much each fact matters to the model, the weightiest first; `told` are the facts in words."""
    if found.chances.max() == found.chances.min():
        return []
    name = found.relations[found.likeliest]
    order = sorted(range(len(told)), key=lambda f: -abs(found.influence[f]))[:MOST_INFLUENCES]
    shown = [f"  {round(-found.influence[f], 3) + 0.0:+.3f}  {told[f]}" for f in order]
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
