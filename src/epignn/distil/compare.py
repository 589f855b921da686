"""A learnt composition table cell by cell: what it says, what is true, and how sure the weights are."""

from typing import Any

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.distil.calculus import Distilled
from epignn.distil.reading import Reading


def compared(found: Distilled, reading: Reading, true: Calculus | None) -> dict[str, Any]:
    """The table as plain values, and how many cells are as in the true calculus.

    The margin of a cell tells how far the score that is nearest to the threshold lies from it, as a share of the
    threshold: above 0 on the right side of it, below 0 where the laws or the data have decided against the weights.

    Args:
        found: what was distilled.
        reading: the scores that it was distilled from.
        true: the calculus over the same relations, if one is known.
    """
    learnt, cut = found.calculus, found.certificate.cut
    names, count = learnt.relations, len(learnt)
    bits = learnt.composition_table[..., None] >> np.arange(count, dtype=np.uint64) & np.uint64(1)
    sides = np.where(bits.astype(bool), cut - reading.triple, reading.triple - cut)
    margins = (sides.min(2) / max(abs(cut), np.finfo(float).tiny)).round(4)
    same = true is not None and true.relations == names
    table = {
        left: {
            right: {
                "learnt": list(learnt.names(learnt.composition[a][b])),
                "true": list(true.names(true.composition[a][b])) if true is not None and same else None,
                "margin": float(margins[a, b]),
            }
            for b, right in enumerate(names)
        }
        for a, left in enumerate(names)
    }
    agree = int((true.composition_table == learnt.composition_table).sum()) if true is not None and same else None
    return {"table": table, "agree": agree, "cells": count * count}
