"""Which kernels answer: the compiled ones, or their plain twins in numpy.

`auto` takes the compiled kernels where they were built, and says so once where they were not. Both give the
same answers; tests compare them.
"""

import warnings
from functools import cache
from types import ModuleType
from typing import Literal

from epignn.calculus.algebra import Calculus
from epignn.errors import BadArgument

Backend = Literal["auto", "native", "numpy"]
MISSING = (
    "epignn runs without its compiled kernels; the slower numpy twins answer. "
    "Reinstall with a C++17 compiler at hand to have them."
)

native: ModuleType | None
try:
    from epignn import _native

    native = _native
except ImportError:
    native = None


@cache
def _say_missing() -> None:
    warnings.warn(MISSING, RuntimeWarning, stacklevel=3)


def kernels(backend: Backend = "auto") -> ModuleType | None:
    """The compiled module, or None when the plain twins are to answer.

    Raises:
        BadArgument: `native` is asked for and was not built, or the name is unknown.
    """
    if backend == "numpy":
        return None
    if backend not in ("auto", "native"):
        raise BadArgument(f"backend must be auto, native or numpy, not {backend!r}.")
    if native is None and backend == "native":
        raise BadArgument(MISSING)
    if native is None:
        _say_missing()
    return native


@cache
def native_algebra(calculus: Calculus) -> object:
    """The calculus as the compiled kernels keep it."""
    module = kernels("native")
    assert module is not None
    return module.Algebra(calculus.identity, calculus.converse_table, calculus.composition_table)
