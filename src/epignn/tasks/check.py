"""Benchmark files checked: is every label entailed by its facts?"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.data.prove import answers
from epignn.data.stream import digests
from epignn.formats.star_csv import read_problems
from epignn.workers.api import Tell

EXAMPLES = 3
"""Rows of each kind that are told."""


class Asked(NamedTuple):
    """A file, the calculus of its relations if it is known, and by which algorithm to check it."""

    file: Path
    calculus: Calculus | None
    algorithm: str


def check_file(asked: Asked, tell: Tell) -> dict[str, Any]:
    """Counts of labels that are entailed, open, wrong, or of contradictory facts, and some examples."""
    chosen, data = read_problems(asked.file, asked.calculus)
    found = answers(data, chosen, asked.algorithm)
    label = np.uint64(1) << data.label.astype(np.uint64)
    entailed, inconsistent = found == label, found == 0
    wrong = (found & label == 0) & ~inconsistent
    kinds = {
        "contradictory facts": inconsistent,
        "excluded": wrong,
        "not alone": ~(entailed | wrong | inconsistent),
    }
    examples = [
        f"row {g}: label {data.relations[data.label[g]]} is {kind}; possible: {chosen.format(int(found[g]))}"
        if kind != "contradictory facts"
        else f"row {g}: contradictory facts"
        for kind, rows in kinds.items()
        for g in np.flatnonzero(rows)[:EXAMPLES].tolist()
    ]
    return {
        "file": str(asked.file),
        "calculus": chosen.name,
        "k": data.k,
        "b": data.b,
        "instances": len(data),
        "distinct": len(np.unique(digests(data))),
        "entailed": int(entailed.sum()),
        "open": int(kinds["not alone"].sum()),
        "wrong": int(wrong.sum()),
        "inconsistent": int(inconsistent.sum()),
        "examples": examples,
    }
