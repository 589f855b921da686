"""The tables of a calculus, for the compiled kernels."""

from functools import cache

from epignn.calculus.algebra import Calculus
from epignn.kernels import kernels


@cache
def native_algebra(calculus: Calculus) -> object:
    """A calculus as the compiled kernels use it; made once for each."""
    module = kernels("compiled")
    assert module is not None
    return module.Algebra(calculus.identity, calculus.converse_table, calculus.composition_table)
