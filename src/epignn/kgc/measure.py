"""Every protocol of link prediction under its own name, for a model or a baseline.

mrr, hits@1, hits@3, hits@10    full filtered ranking, head and tail
hits@10_50                      among 50 negatives, computed from the full rank, as NBFNet does
grail_hits@10                   among 50 stored negatives, as GraIL does
ultra_mrr, ultra_hits@10        full filtered ranking with validation and test triples merged, as ULTRA does
"""

import numpy as np

from epignn.data.graph import both_sides
from epignn.kgc.evaluate import Report, Scorer, all_ranks
from epignn.kgc.negatives import Negatives, draw
from epignn.kgc.rank import hits, metrics, reciprocal
from epignn.kgc.splits import Side

NEGATIVES_SEED = 2025


def stored_negatives(side: Side, seed: int = NEGATIVES_SEED) -> Negatives:
    """The negatives of a side's test triples, asked from both ends."""
    questions = both_sides(side.test, len(side.graph.relations))
    return draw(questions, side.known(), len(side.graph.entities), seed)


def measure(
    scorer: Scorer, side: Side, negatives: Negatives | None = None, report: Report | None = None
) -> dict[str, float]:
    """All metrics of a scorer on the test triples of a side.

    Args:
        scorer: of this side's graph.
        side: its test triples are asked from both ends; all its triples are filtered.
        negatives: stored ones; drawn with the usual seed where none are given.
        report: called with heads done and heads in all.
    """
    relations = len(side.graph.relations)
    asked = both_sides(side.test, relations)
    merged = np.concatenate([asked, both_sides(side.valid, relations)])
    drawn = (negatives or stored_negatives(side)).drawn
    padded = np.concatenate([drawn, np.full((len(merged) - len(asked), drawn.shape[1]), -1, dtype=np.int32)])
    ranks, sampled = all_ranks(merged, scorer, side.known(), padded, report)
    return {
        **metrics(ranks.first(len(asked))),
        "grail_hits@10": hits(sampled.first(len(asked)), 10),
        "ultra_mrr": reciprocal(ranks),
        "ultra_hits@10": hits(ranks, 10),
    }
