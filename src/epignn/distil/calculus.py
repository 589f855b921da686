"""Distil a calculus: identity, converse and composition from the weights, and a certificate of their grounds."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import LAWS
from epignn.calculus.toml import write_calculus
from epignn.data.dataset import Dataset
from epignn.distil.evidence import Evidence, Verdict
from epignn.distil.orbits import Bools, Orbits, choose_converse, choose_identity
from epignn.distil.reading import Reading, same_relations
from epignn.distil.table import PROBLEMS, Report, decide
from epignn.workers import Workers

CLEAR = 2.0
"""The identity is clear if the second-best candidate scores at least so many times as much."""


@dataclass(frozen=True)
class Judged:
    """A fact of composition with what speaks for it.

    Attributes:
        fact: `c ∈ a ∘ b`, one of its six forms.
        score: what the weights say; low is possible.
        gain: what the data say: the logarithm of the odds in its favour.
        possible: whether the table has it.
    """

    fact: str
    score: float
    gain: float
    possible: bool


@dataclass(frozen=True)
class Certificate:
    """The grounds of a distilled calculus.

    Attributes:
        identity: the relation taken as identity, its mean score as one, and that of the next candidate; low is
            good.
        converse: how much the forms of a fact disagree under the converse found, and under the next best one.
        laws: how many cells break each law.
        cut: the threshold between the scores of possible and impossible facts.
        highest_possible, lowest_impossible: the scores next to it of facts that are decided.
        margin: their difference; negative where scores overlap and the data had to decide.
        facts: how many facts there are; those with the identity, which are settled, are not counted.
        by_weights: what the training data say of the table by laws and weights alone.
        by_cut: of the table by the threshold that the data choose.
        table: of the table given.
        turned: facts that the data decide against the threshold.
        uncertain: facts that neither data nor weights decide; the table has them.
        uncertain_cells: cells of the table that contain one of them.
    """

    identity: tuple[str, float, float]
    converse: tuple[float, float]
    laws: dict[str, int]
    cut: float
    highest_possible: float
    lowest_impossible: float
    margin: float
    facts: int
    by_weights: Verdict | None
    by_cut: Verdict | None
    table: Verdict | None
    turned: tuple[Judged, ...]
    uncertain: tuple[Judged, ...]
    uncertain_cells: tuple[str, ...]

    @property
    def lawful(self) -> bool:
        """Whether every law holds."""
        return not any(self.laws.values())

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; an infinite margin, where nothing is decided on one side, is None."""
        return {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in asdict(self).items()
        }

    def lines(self) -> Iterator[str]:
        """The certificate in words."""
        name, score, second = self.identity
        doubt = "" if second > CLEAR * score else ", too close to be sure"
        yield (
            f"identity: {name}; composing with it leaves relations as they are: mean score {score:.2f} "
            f"(low is good), next best candidate {second:.2f}{doubt}"
        )
        broken = [f"{law} fails in {count} cells" for law, count in self.laws.items() if count]
        yield "laws: " + ("; ".join(broken) or f"all {len(self.laws)} hold")
        ends = (
            f"no fact is decided on one side of the threshold {self.cut:.2f}"
            if math.isinf(self.margin)
            else f"possible ones reach {self.highest_possible:.2f}, impossible ones begin at "
            f"{self.lowest_impossible:.2f}, and the threshold is {self.cut:.2f}"
        )
        yield f"scores: the weights score {self.facts} facts c ∈ a ∘ b, low if possible; {ends}"
        if self.table is not None:
            yield (
                f"training data: closure with this table entails {self.table.entailed:,} of "
                f"{self.table.instances:,} labels, leaves {self.table.open:,} open and contradicts "
                f"{self.table.contradicted:,}"
            )
            yield f"facts that the data decide against the threshold: {len(self.turned)} of {self.facts}"
        yield f"facts that nothing decides, kept as possible: {len(self.uncertain)} of {self.facts}"
        if self.uncertain:
            yield "  in the cells " + ", ".join(self.uncertain_cells)


@dataclass(frozen=True)
class Distilled:
    """A calculus and the grounds for it."""

    calculus: Calculus
    certificate: Certificate

    def calculus_text(self) -> str:
        """The calculus file, with the certificate in words as its comment."""
        return "".join(f"# {line}\n" for line in self.certificate.lines()) + "\n" + write_calculus(self.calculus)

    def certificate_text(self) -> str:
        """The certificate as JSON."""
        return json.dumps(self.certificate.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def certificate_path(path: Path) -> Path:
    """`calculus.toml` has `calculus.certificate.json` beside it."""
    return path.with_suffix(".certificate.json")


def distil_calculus(
    reading: Reading,
    data: Dataset | None,
    name: str = "learnt",
    source: str = "",
    problems: int = PROBLEMS,
    report: Report = lambda done, total: None,
    workers: Workers | None = None,
) -> Distilled:
    """The calculus that a model has learnt.

    Args:
        reading: what its weights say.
        data: its training data, over the same relations; None to go by weights and laws alone.
        name: of the calculus.
        source: where it comes from, for the file.
        problems: how many of the smallest distinct problems compare tables.
        report: called with the tables tried and to be tried.
        workers: who tries them; this process, if nobody is named.

    Raises:
        BadArgument: the data are over other relations.
    """
    same_relations(reading.relations, data)
    identity, *neutral = choose_identity(reading.triple)
    converses, *disagreement = choose_converse(reading.triple, identity)
    orbits = Orbits.of(reading.relations, identity, converses)
    score = orbits.mean(reading.triple)
    evidence = None if data is None else Evidence.of(data)
    table = decide(orbits, score, evidence, problems, report, workers)
    calculus = orbits.calculus(table.possible, name=name, source=source, title="learnt from examples")
    laws = broken_laws(calculus)

    def judged(chosen: Bools) -> tuple[Judged, ...]:
        return tuple(
            Judged(orbits.describe(o), float(score[o]), float(table.gain[o]), bool(table.possible[o]))
            for o in np.flatnonzero(chosen).tolist()
        )

    def verdict(possible: Bools) -> Verdict | None:
        return None if evidence is None else evidence.judge(orbits.calculus(possible))

    certificate = Certificate(
        identity=(reading.relations[identity], neutral[0], neutral[1]),
        converse=(disagreement[0], disagreement[1]),
        laws=laws,
        cut=table.cut,
        highest_possible=table.highest_possible,
        lowest_impossible=table.lowest_impossible,
        margin=table.lowest_impossible - table.highest_possible,
        facts=len(orbits.free),
        by_weights=verdict(table.by_weights),
        by_cut=verdict(table.by_cut),
        table=verdict(table.possible),
        turned=judged(table.turned),
        uncertain=judged(table.uncertain),
        uncertain_cells=tuple(orbits.cells(np.flatnonzero(table.uncertain))),
    )
    return Distilled(replace(calculus, associative=not laws["associativity"]), certificate)


def broken_laws(calculus: Calculus) -> dict[str, int]:
    """How many cells break each law, associativity included whether or not it is claimed."""
    return {name: sum(1 for _ in law(calculus)) for name, law in LAWS.items()}
