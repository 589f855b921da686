"""Concrete worlds in which facts hold: intervals, points, regions and families, with coordinates."""

from epignn.calculus.realise.search import Realisation, pictured, realise
from epignn.calculus.realise.world import World

__all__ = ["Realisation", "World", "pictured", "realise"]
