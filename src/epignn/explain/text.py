"""Explanations in words, as lines for a terminal, and the table of states."""

from collections.abc import Callable

import numpy as np

from epignn.calculus.network import Fact
from epignn.explain.explanation import Belief, Exclusion, Explanation, Floats, Status, Theory

Tell = Callable[[Fact], str]
"""How a fact is told."""
NOTHING, OPEN = "–", ("*", "≠")
"""In a table: that nothing follows, which sets of relations say so."""
MOST_INFLUENCES = 20
MANY = 13
"""Of more relations than so many, only the number is told."""
MOST_LIKELY = 3
"""So many relations of a model's state are shown."""


def lines(found: Explanation, tell: Tell = str) -> list[str]:
    """The answer, why each other relation cannot hold, the proofs, and the facts they rest on, told by `tell`."""
    why = found.by or found
    reasons = _reasons(why, why.theory, tell) if why.theory else []
    return [*found.said, *reasons, *_influence(found, tell)]


def _reasons(found: Explanation, theory: Theory, tell: Tell) -> list[str]:
    return [*_weaker(found), *_excluded(found, tell), *_proofs(found, theory), *_support(found, theory, tell)]


def _weaker(found: Explanation) -> list[str]:
    """What follows less surely."""
    weaker = ", ".join(f"{name} ({strength:.1f})" for name, strength in found.weaker.items())
    return ["", f"By weaker rules: {weaker}"] if weaker else []


def _excluded(found: Explanation, tell: Tell) -> list[str]:
    """For the other relations, which path and which facts exclude them."""
    if not found.exclusions:
        return []
    return [
        "",
        "Excluded",
        *(line for exclusion in found.exclusions for line in _exclusion(found, exclusion, tell)),
    ]


def _exclusion(found: Explanation, exclusion: Exclusion, tell: Tell) -> list[str]:
    names, left = ", ".join(exclusion.relations), found.words(exclusion.left)
    left = left if len(exclusion.left) <= MANY or "|" not in left else f"{len(exclusion.left)} others"
    if not exclusion.path:
        facts = [f"    {fact}" for fact in found.told(exclusion.support, tell)]
        return [f"  {names}: by {exclusion.support}, which leave {left}", *facts]
    first, *rest = exclusion.path
    steps = "".join(f" –{along}→ {name}" for along, name in zip(exclusion.along, rest, strict=True))
    return [f"  {names}: by the path, which leaves {left}", f"    {first}{steps}"]


def _proofs(found: Explanation, theory: Theory) -> list[str]:
    """The proofs as trees."""
    said = []
    for proof in found.proofs:
        count = f"{len(proof)} step{'s' if len(proof) > 1 else ''}"
        said += ["", f"Proof ({count}, checked against {theory.checked})"]
        said += [f"  {line}" for line in theory.tree(proof)]
    return said


def _support(found: Explanation, theory: Theory, tell: Tell) -> list[str]:
    """The smallest set of facts that gives the answer."""
    support = found.support
    if not support.facts:
        return ["", theory.unsupported]
    what = "that cannot hold together" if found.status is Status.CONTRADICTORY else "that give this answer"
    sure = "none can be left out; a smaller set may exist" if support.irreducible else "fewer may do"
    sure = "no smaller set does" if support.smallest else sure
    title = f"{support} of {len(found.facts)} {what} ({sure})"
    return ["", title, *(f"  {fact}" for fact in found.told(support, tell))]


def _influence(found: Explanation, tell: Tell) -> list[str]:
    """How much each fact matters to a model, the weightiest first."""
    belief = found.belief
    if belief is None or belief.ignorant:
        return []
    lost = belief.influence
    measured = np.flatnonzero(~np.isnan(lost)).tolist()
    order = sorted(measured, key=lambda f: -abs(lost[f]))[:MOST_INFLUENCES]
    some = f", of the {len(measured):,} nearest of {len(lost):,}" if len(measured) < len(lost) else ""
    title = f"What the probability of {belief.relations[belief.likeliest]} gains or loses without a fact{some}"
    return ["", title, *(f"  {round(-lost[f], 3) + 0.0:+.3f}  {tell(found.facts.fact(f))}" for f in order)]


def states(found: Explanation, most: int | None = None) -> tuple[str, list[str], list[list[str]]]:
    """What is known from the head to each entity after each round: a title, columns, and a row an entity.

    There are no rows where nothing is to be shown. `most` is how many columns of states to show.
    """
    belief = found.belief
    if belief is not None:
        what, entities = "What the model's forward states say", belief.entities
        cells = [[_likely(belief, row) for row in rows] for rows in belief.states]
        columns = [f"round {n}" for n in range(1, len(cells) + 1)]
    else:
        what, entities = found.theory.states if found.theory else "", found.rounds.entities
        cells = [[found.words(known) for known in row] for row in found.rounds.relations]
        columns = ["the facts", *(f"round {n}" for n in range(1, len(cells)))]
    shown = [[NOTHING if cell in OPEN else cell for cell in row] for row in cells[:most]]
    key = f" ({NOTHING}: nothing follows)" if any(NOTHING in row for row in shown) else ""
    rows = [[entity, *row] for entity, row in zip(entities, zip(*shown, strict=True), strict=True)] if shown else []
    return f"{what} from {found.head}, round by round{key}", ["", *columns[: len(shown)]], rows


def _likely(belief: Belief, chances: Floats) -> str:
    """The likeliest relations of a state, as long as they reach the threshold."""
    if chances.max() == chances.min():
        return ""
    order = sorted(range(len(chances)), key=lambda r: -chances[r])
    shown = [r for r in order if chances[r] >= belief.threshold] or order[:1]
    more = f" +{len(shown) - MOST_LIKELY}" if len(shown) > MOST_LIKELY else ""
    return " ".join(f"{belief.relations[r]} {chances[r]:.2f}" for r in shown[:MOST_LIKELY]) + more
