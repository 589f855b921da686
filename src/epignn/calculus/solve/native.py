"""A calculus as the compiled kernels keep it."""

from functools import cache

from epignn.calculus.algebra import Calculus
from epignn.kernels import kernels


@cache
def native_algebra(calculus: Calculus) -> object:
    """The tables of a calculus, handed to the compiled kernels once."""
    module = kernels("compiled")
    assert module is not None
    return module.Algebra(calculus.identity, calculus.converse_table, calculus.composition_table)
