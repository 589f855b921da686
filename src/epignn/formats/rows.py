"""Tables as text, at the speed of the compiled kernels: every cell is one of the few pieces of its column."""

from collections.abc import Sequence

from epignn.calculus.network import Indices
from epignn.kernels import text_kernels

Column = tuple[Indices, Sequence[str]]
"""For each row the number of a piece, and the pieces."""


def text_of_rows(columns: Sequence[Column], between: Sequence[str]) -> str:
    r"""Rows of text: `between[0]`, the first column's piece, `between[1]`, and so on to the last of `between`.

    >>> import numpy as np
    >>> ends = np.array([0, 1], dtype=np.int32), ["a", "b"]
    >>> text_of_rows([ends, ends], ["(", ", ", ")\n"])
    '(a, a)\n(b, b)\n'
    """
    return bytes_of_rows(columns, between).decode("utf-8", "surrogatepass")


def bytes_of_rows(columns: Sequence[Column], between: Sequence[str]) -> bytes:
    """The same as UTF-8."""
    module = text_kernels()
    if module is None:
        return plain_text_of_rows(columns, between).encode("utf-8", "surrogatepass")
    which = [numbers for numbers, _ in columns]
    pieces = [[piece.encode("utf-8", "surrogatepass") for piece in table] for _, table in columns]
    written: bytes = module.write_rows(which, pieces, [text.encode() for text in between])
    return written


def plain_text_of_rows(columns: Sequence[Column], between: Sequence[str]) -> str:
    """The same without compiled kernels."""
    *before, last = between
    cells = [
        [text + piece for piece in map(table.__getitem__, numbers.tolist())]
        for text, (numbers, table) in zip(before, columns, strict=True)
    ]
    return "".join("".join(row) + last for row in zip(*cells, strict=True))
