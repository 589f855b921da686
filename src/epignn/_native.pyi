import numpy as np
from numpy.typing import NDArray

_Masks = NDArray[np.uint64]
_Indices = NDArray[np.int32]
_Offsets = NDArray[np.int64]

class Algebra:
    def __init__(self, identity: int, converses: _Indices, composition: _Masks) -> None: ...

class Closure:
    conflict: tuple[int, int]
    steps: int
    refinements: int
    def __init__(self, algebra: Algebra, entities: int) -> None: ...
    def refine(self, heads: _Indices, tails: _Indices, masks: _Masks) -> bool: ...
    def close(self) -> bool: ...
    def label(self, i: int, j: int) -> int: ...
    def copy(self) -> Closure: ...
    def grown(self, entities: int) -> Closure: ...
    def matrix(self) -> _Masks: ...

def solve(closure: Closure, tractable: _Masks, max_nodes: int) -> tuple[int, int]: ...
def close_many(
    algebra: Algebra,
    sizes: _Indices,
    offset: _Offsets,
    source: _Indices,
    target: _Indices,
    masks: _Masks,
    head: _Indices,
    tail: _Indices,
) -> _Masks: ...
def eliminate_many(
    algebra: Algebra,
    sizes: _Indices,
    offset: _Offsets,
    source: _Indices,
    target: _Indices,
    masks: _Masks,
    head: _Indices,
    tail: _Indices,
) -> _Masks: ...
def sweep(
    algebra: Algebra,
    entities: int,
    first: _Indices,
    second: _Indices,
    masks: _Masks,
    order: _Indices,
    rank: _Indices,
    sweeps: int,
) -> tuple[_Indices, _Indices, _Indices, _Masks, int, int, int, int]: ...
