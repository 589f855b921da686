"""What is learnt: one objective a file, and one line in `OBJECTIVES`."""

from types import MappingProxyType

from epignn.entries import Entries

OBJECTIVES = Entries(
    "objective",
    "epignn.objectives",
    MappingProxyType(
        {
            "classify": "epignn.learn.objectives.classify:Classify",
            "rank": "epignn.learn.objectives.rank:Rank",
            "sets": "epignn.learn.objectives.sets:Sets",
            "rank-facts": "epignn.learn.objectives.facts:RankFacts",
        }
    ),
)
"""All objectives by name."""
