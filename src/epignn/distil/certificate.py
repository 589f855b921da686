"""What is certain of a distilled calculus and what is not, as data and as lines for people."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import LAWS
from epignn.distil.evidence import Verdict

CLEAR = 2.0
"""So many times more than the identity the next relation changes others, if the identity is clear."""


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
        identity: the relation taken as identity, and how much it and the next change others.
        converse: how much the forms of a fact disagree under the converse found, and under the next best one.
        laws: how many cells break each law.
        cut: the score between possible and impossible.
        highest_possible, lowest_impossible: the scores next to the cut of facts that are decided.
        margin: their difference; negative where scores overlap and data had to decide.
        facts: how many facts there are; the identity settles others.
        by_weights: what the training data say of the table cut by laws and weights alone.
        by_cut: of the table cut where the data are likeliest.
        table: of the table given.
        turned: facts that the data turned against the cut.
        uncertain: facts that neither data nor weights decide; the table has them.
        uncertain_cells: cells of the table that hold one of them.
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
        broken = [f"{law} fails in {count} cells" for law, count in self.laws.items() if count]
        name, changed, other = self.identity
        doubt = "" if other > CLEAR * changed else ": that is not clear"
        yield f"identity: {name}, which changes others by {changed:.2f} on average; the next by {other:.2f}{doubt}"
        yield "laws: " + ("; ".join(broken) or f"all {len(self.laws)} hold")
        if math.isinf(self.margin):
            yield f"margin: none, for nothing is decided on one side of the cut at {self.cut:.2f}"
        else:
            ends = f"possible up to {self.highest_possible:.2f}, impossible from {self.lowest_impossible:.2f} on"
            yield f"margin: {ends}, cut at {self.cut:.2f}"
        if self.table is not None:
            yield (
                f"training data: {self.table.entailed:,} of {self.table.instances:,} instances entailed, "
                f"{self.table.open:,} open, {self.table.contradicted:,} contradicted"
            )
            yield f"turned by the data against the cut: {len(self.turned)} of {self.facts} facts"
        if self.uncertain:
            yield f"uncertain, and left possible: {len(self.uncertain)} of {self.facts} facts, in these cells:"
            yield "  " + ", ".join(self.uncertain_cells)
        else:
            yield "uncertain: nothing"


def broken_laws(calculus: Calculus) -> dict[str, int]:
    """How many cells break each law, associativity included whether or not it is claimed."""
    return {name: sum(1 for _ in law(calculus)) for name, law in LAWS.items()}
