"""Distil a calculus: identity, converse and composition from the weights, certified by laws and training data."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.distil.certificate import Certificate, Judged, broken_laws
from epignn.distil.converse import choose_converse, choose_identity
from epignn.distil.cut import choose_cut
from epignn.distil.evidence import Evidence, Verdict
from epignn.distil.orbits import Bools, Floats, Orbits
from epignn.distil.reading import Reading
from epignn.distil.refine import Refined, edges, refine
from epignn.errors import BadArgument

PROBLEMS = 6000
"""Distinct training problems, the smallest, by which tables are compared; the certificate counts all."""

CUT_SHARE = 4
"""Cuts differ more than single facts do: a quarter of these problems tells them apart."""

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Distilled:
    """A calculus and the grounds for it."""

    calculus: Calculus
    certificate: Certificate


def distil_calculus(
    reading: Reading,
    data: Dataset | None,
    name: str = "learnt",
    source: str = "",
    problems: int = PROBLEMS,
    report: Report | None = None,
) -> Distilled:
    """The calculus that a model has learnt.

    Args:
        reading: what its weights say.
        data: its training data, over the same relations; None to go by weights and laws alone.
        name: of the calculus.
        source: where it comes from, for the file.
        problems: how many of the smallest distinct problems compare tables.
        report: called with what goes on, steps done and steps in all.

    Raises:
        BadArgument: the data are over other relations.
    """
    if data is not None and data.relations != reading.relations:
        raise BadArgument(
            f"the model speaks of {' '.join(reading.relations)}, the data of {' '.join(data.relations)}."
        )
    identity, *neutral = choose_identity(reading.triple)
    converses, *disagreement = choose_converse(reading.triple, identity)
    orbits = Orbits.of(reading.relations, identity, converses)
    score = orbits.mean(reading.triple)
    evidence = None if data is None else Evidence.of(data)
    decision = _decide(orbits, score, evidence, problems, report or (lambda what, done, total: None))
    refined = decision.refined
    calculus = orbits.calculus(refined.possible, name=name, source=source, title=f"{name}, learnt from examples")
    laws = broken_laws(calculus)

    def judged(chosen: Bools) -> tuple[Judged, ...]:
        return tuple(
            Judged(orbits.describe(o), float(score[o]), float(refined.gain[o]), bool(refined.possible[o]))
            for o in np.flatnonzero(chosen).tolist()
        )

    def verdict(possible: Bools) -> Verdict | None:
        return None if evidence is None else evidence.judge(orbits.calculus(possible))

    certificate = Certificate(
        identity=(reading.relations[identity], neutral[0], neutral[1]),
        converse=(disagreement[0], disagreement[1]),
        laws=laws,
        cut=decision.cut,
        highest_possible=refined.highest_possible,
        lowest_impossible=refined.lowest_impossible,
        margin=refined.lowest_impossible - refined.highest_possible,
        facts=len(orbits.free),
        by_weights=verdict(decision.by_weights),
        by_cut=verdict(decision.by_cut),
        table=verdict(refined.possible),
        turned=judged(refined.turned),
        uncertain=judged(refined.uncertain),
        uncertain_cells=tuple(orbits.cells(np.flatnonzero(refined.uncertain))),
    )
    return Distilled(replace(calculus, associative=not laws["associativity"]), certificate)


@dataclass(frozen=True, eq=False)
class _Decision:
    """The table by laws and weights, by the data's cut at a score, and as refined."""

    by_weights: Bools
    by_cut: Bools
    cut: float
    refined: Refined


def _decide(orbits: Orbits, score: Floats, evidence: Evidence | None, problems: int, report: Report) -> _Decision:
    """Cut, refine, and fill cells that would be empty; without evidence the laws cut and the weights decide all."""
    by_weights, cut = choose_cut(orbits, score, None, lambda done, total: None)
    if evidence is None:
        refined = _fill_empty_cells(orbits, _by_weights(orbits, score, by_weights))
        return _Decision(by_weights, by_weights, cut, refined)
    small, fewer = evidence.smallest(problems), evidence.smallest(problems // CUT_SHARE)
    by_cut, cut = choose_cut(orbits, score, fewer, lambda done, total: report("cuts", done, total))
    refined = refine(orbits, score, by_cut, cut, small, lambda done, total: report("facts", done, total))
    return _Decision(by_weights, by_cut, cut, _fill_empty_cells(orbits, refined))


def _by_weights(orbits: Orbits, score: Floats, possible: Bools) -> Refined:
    """What the weights alone decide: everything."""
    nothing = np.zeros(len(orbits), dtype=bool)
    free = ~orbits.settled
    ends = edges(score, free & possible, free & ~possible)
    return Refined(possible, np.zeros(len(orbits)), nothing, nothing, *ends)


def _fill_empty_cells(orbits: Orbits, refined: Refined) -> Refined:
    """Leave everything possible in a cell of which nothing is: the evidence against all of it cannot be right."""
    possible, uncertain = refined.possible.copy(), refined.uncertain.copy()
    while True:
        empty: Bools = ~np.any(possible[orbits.number], axis=2)
        added = np.unique(orbits.number[empty])
        added = added[~orbits.settled[added]]
        if not len(added):
            return replace(refined, possible=possible, uncertain=uncertain)
        possible[added] = uncertain[added] = True
