"""What `epignn reproduce kgc` runs, as data, beside published figures."""

from types import MappingProxyType

from epignn.kgc.config import shipped
from epignn.kgc.splits import NAMED, SPLITS

PRESETS = ("paper", "best")
PUBLISHED = MappingProxyType(
    {
        "paper": (92.45, 85.99, 84.18, 85.77, 91.67, 95.54, 93.74, 93.45),
        "NBFNet": (95.4, 90.3, 90.9, 88.8, 82.1, 94.8, 95.7, 95.9),
        "REST": (96.28, 94.56, 79.50, 94.19, 75.12, 91.21, 93.06, 96.06),
    }
)
"""Hits@10 among 50 negatives (%), in the order of `SPLITS`: sampled for the paper, computed from the full rank for
NBFNet (the README of its PyG port), among 49 for REST.
"""


def published(model: str, split: str) -> float:
    """A published figure."""
    return PUBLISHED[model][SPLITS.index(split)]


def experiment_for(what: str, preset: str = "best") -> str:
    """The name of the experiment for some data: of its split, of its family, or for any graph.

    >>> experiment_for("fb237:v2", "paper")
    'fb237-v2-paper'
    """
    family, _, version = what.partition(":")
    known = shipped()
    base = NAMED.get(family.casefold(), "").casefold()
    suffix = "-paper" if preset == "paper" else ""
    candidates = (f"{base}-{version}{suffix}", f"{base}{suffix}", f"kgc{suffix}")
    return next((name for name in candidates if name in known), "kgc")
