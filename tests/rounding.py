"""How far two results may lie apart that are equal on paper: as far as rounding takes them, on any processor.

Every operation rounds, by half an `eps` of its result at most. Processors differ in the order in which they add, in
whether a product is rounded before it is added, and in the last digit of exp and log; so two ways to compute a
number differ by at most one `eps` for each rounding on the way, times the size of what is rounded (Higham, Accuracy
and Stability of Numerical Algorithms, chapter 3). That holds as long as nothing cancels: the states of the model
are sums and products of numbers that are not negative.

Equal bits are promised, and asserted by `torch.equal` and `np.array_equal`, only of one computation made twice: by
the same kernels, on one instruction set, with sums in one order. Relation sets are not numbers: equal everywhere.
"""

from typing import Any

import numpy as np


def close(found: Any, expected: Any, roundings: int, size: float | None = None, dtype: Any = None) -> None:
    """Assert that arrays or tensors are equal but for rounding.

    Args:
        found, expected: of one shape.
        roundings: how many follow one another on the longest way to a number; a sum of n products has n + 1.
        size: of the largest number on the way; of the largest that is compared, if omitted. A softmax moves
            probabilities by no more than its arguments move, so that for it the size is that of the arguments.
        dtype: the precision in which was computed; the coarser of the two, if omitted.
    """
    found, expected = (
        np.asarray(value.detach() if hasattr(value, "detach") else value) for value in (found, expected)
    )
    eps = np.finfo(dtype).eps if dtype else max(np.finfo(value.dtype).eps for value in (found, expected))
    largest = np.abs([found, expected]).max(initial=0) if size is None else size
    np.testing.assert_allclose(found, expected, rtol=0, atol=float(roundings * eps * largest), equal_nan=False)


def in_passing(steps: int, size: int, messages: int = 0) -> int:
    """Roundings of message passing: a step composes and normalises, both sums over the components of a facet.

    Where messages are multiplied, each is a factor more, and scaled.
    """
    return steps * 2 * (size + 1 + messages)
