"""The forms in which worlds are written, by the word that stands under `kind`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from epignn.calculus.realise.lines import Intervals, Plane, Points
from epignn.calculus.realise.people import People
from epignn.calculus.realise.regions import read_regions
from epignn.calculus.realise.world import World

FORMS: MappingProxyType[str, Callable[[Mapping[str, Any]], World]] = MappingProxyType(
    {
        "intervals": Intervals.read,
        "points": Points.read,
        "plane": Plane.read,
        "regions": read_regions,
        "family": People.read,
    }
)
