"""Which kernels answer: the compiled ones, for one instruction set, or their plain twins in numpy and torch.

The compiled kernels exist once for each instruction set: `baseline` runs on every processor; `v3` (AVX2) and `v4`
(AVX-512) are the levels of x86-64 with these names. Their first use loads the widest that the processor has, or the
one that the variable EPIGNN_SIMD names. All of them, and the plain twins, give the same sets of relations, and the
same numbers within rounding; the same bits only on one instruction set.
"""

import importlib
import os
import warnings
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Literal

from epignn.errors import BadArgument

Backend = Literal["auto", "compiled", "plain"]
INSTRUCTION_SETS = ("baseline", "v3", "v4")
MISSING = (
    "epignn runs without its compiled kernels; the slower numpy twins answer. "
    "Reinstall with a C++17 compiler at hand to have them."
)


@cache
def instruction_sets() -> tuple[str, ...]:
    """The instruction sets, narrowest first, that the processor has and for which kernels were built."""
    try:
        of_the_processor = str(importlib.import_module("epignn._cpu").instruction_sets).split()
    except ImportError:  # nothing was built
        return ()
    return tuple(name for name in of_the_processor if find_spec(f"epignn._native_{name}"))


@cache
def instruction_set() -> str | None:
    """The instruction set whose compiled kernels are to serve; None where none were built.

    Raises:
        BadArgument: EPIGNN_SIMD names one that is not known, or that cannot serve here.
    """
    there, asked = instruction_sets(), os.environ.get("EPIGNN_SIMD") or "auto"
    if asked == "auto":
        return there[-1] if there else None
    if asked not in INSTRUCTION_SETS:
        raise BadArgument(f"EPIGNN_SIMD must be auto, baseline, v3 or v4, not {asked!r}.")
    if asked not in there:
        raise BadArgument(
            f"EPIGNN_SIMD={asked} cannot serve: this processor lacks it, or it was not built. "
            f"Unset EPIGNN_SIMD, or choose among what there is: {', '.join(there) or 'nothing'}."
        )
    return asked


@cache
def native() -> ModuleType | None:
    """The compiled module that serves; None where none was built, or none that can be loaded."""
    name = instruction_set()
    try:
        return importlib.import_module(f"epignn._native_{name}") if name else None
    except ImportError:
        return None


@cache
def _say_missing() -> None:
    warnings.warn(MISSING, RuntimeWarning, stacklevel=3)


def kernels(backend: Backend = "auto") -> ModuleType | None:
    """The compiled module, or None when the plain twins are to answer.

    Raises:
        BadArgument: `compiled` is asked for and was not built; the name is unknown; or see `instruction_set`.
    """
    if backend == "plain":
        return None
    if backend not in ("auto", "compiled"):
        raise BadArgument(f"backend must be auto, compiled or plain, not {backend!r}.")
    module = native()
    if module is None and backend == "compiled":
        raise BadArgument(MISSING)
    if module is None:
        _say_missing()
    return module


def text_kernels() -> ModuleType | None:
    """The compiled module for reading and writing text; None when the plain twins are to.

    Where EPIGNN_SIMD names what cannot serve, the twins do: text is the same on every instruction set, and whoever
    needs the kernels of the one that is named will say so.
    """
    try:
        return native()
    except BadArgument:
        return None
