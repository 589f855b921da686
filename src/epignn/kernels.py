"""Which kernels answer: the compiled ones, or their plain twins in numpy.

`auto` takes the compiled kernels where they were built, and says so once where they were not. Both give the
same answers; tests compare them.
"""

import warnings
from functools import cache
from types import ModuleType
from typing import Literal

from epignn.errors import BadArgument

Backend = Literal["auto", "compiled", "plain"]
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
    if backend == "plain":
        return None
    if backend not in ("auto", "compiled"):
        raise BadArgument(f"backend must be auto, compiled or plain, not {backend!r}.")
    if native is None and backend == "compiled":
        raise BadArgument(MISSING)
    if native is None:
        _say_missing()
    return native
