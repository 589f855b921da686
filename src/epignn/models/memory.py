"""Training within bounded memory: work is done in parts, and what cannot be kept for gradients is done again."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

KEPT = 2**30
"""Bytes that a training step may keep for its backward pass; what goes beyond is computed again there."""
TOGETHER = 2**28
"""Bytes that a part may keep, where there is more than one."""


def machine() -> int:
    """The bytes of memory that this machine has; more than any has where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a Unix system
        return 1 << 62


def fit_together(taken: Tensor) -> bool:
    """Whether items that keep so many bytes (N) are one of `parts`."""
    return len(taken) == 1 or int(taken.sum()) <= TOGETHER


def parts(taken: Tensor) -> Iterator[tuple[int, int, bool]]:
    """Consecutive parts of some work, and whether what each computes may be kept.

    Args:
        taken: (N) the bytes that each item would keep, on the CPU.

    Yields:
        first, last, kept: the items from `first` up to `last`; more than one only if they are below `TOGETHER`.
    """
    total, first = taken.cumsum(0), 0
    while first < len(total):
        before = int(total[first - 1]) if first else 0
        last = max(first + 1, int(torch.searchsorted(total, before + TOGETHER, right=True)))
        alone = last - first == len(total)  # computing the only part again would save nothing
        yield first, last, alone or int(total[last - 1]) <= KEPT
        first = last


def compute(kept: bool, function: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """What a function gives; unless it may be kept, it is called again, with the same draws, for its gradient."""
    if kept or not torch.is_grad_enabled():
        return function(*arguments)
    found: Tensor = checkpoint(function, *arguments, use_reentrant=False)
    return found
