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

class Messages: ...
class Readout: ...

def messages(
    facets: int,
    size: int,
    relations: int,
    graphs: int,
    rounds: int,
    self_message: bool,
    descending: bool,
    minimum: bool,
    node_offset: int,
    offset: int,
    source: int,
    label: int,
) -> Messages: ...
def readout(
    facets: int, size: int, graphs: int, minimum: bool, head: int, tail: int, path_offset: int, path_node: int
) -> Readout: ...
def propagate_float(
    m: Messages, matrices: int, states: int, chosen: int, total: int, keep: bool, threads: int
) -> None: ...
def propagate_double(
    m: Messages, matrices: int, states: int, chosen: int, total: int, keep: bool, threads: int
) -> None: ...
def propagate_back_float(
    m: Messages, matrices: int, states: int, chosen: int, total: int, grad: int, grad_matrices: int, threads: int
) -> None: ...
def propagate_back_double(
    m: Messages, matrices: int, states: int, chosen: int, total: int, grad: int, grad_matrices: int, threads: int
) -> None: ...
def aggregate_float(
    r: Readout, ahead: int, back: int, table: int, result: int, chosen: int, total: int
) -> None: ...
def aggregate_double(
    r: Readout, ahead: int, back: int, table: int, result: int, chosen: int, total: int
) -> None: ...
def aggregate_back_float(
    r: Readout,
    ahead: int,
    back: int,
    table: int,
    result: int,
    chosen: int,
    total: int,
    grad: int,
    grad_ahead: int,
    grad_back: int,
    grad_table: int,
) -> None: ...
def aggregate_back_double(
    r: Readout,
    ahead: int,
    back: int,
    table: int,
    result: int,
    chosen: int,
    total: int,
    grad: int,
    grad_ahead: int,
    grad_back: int,
    grad_table: int,
) -> None: ...

class HeadGraph: ...
class HeadBatch: ...

def head_graph(
    nodes: int,
    relations: int,
    facets: int,
    size: int,
    rounds: int,
    self_message: bool,
    silent: bool,
    minimum: bool,
    offset: int,
    source: int,
    label: int,
) -> HeadGraph: ...
def head_batch(
    heads: int, head: int, left_out_offset: int, left_out: int, wanted_offset: int, wanted: int
) -> HeadBatch: ...

class HeadPassesFloat:
    def __init__(self, graph: HeadGraph, matrices: int, keep: bool) -> None: ...
    def forward(self, batch: HeadBatch, result: int, threads: int) -> None: ...
    def backward(self, batch: HeadBatch, grad_result: int, grad_matrices: int, threads: int) -> None: ...

class HeadPassesDouble:
    def __init__(self, graph: HeadGraph, matrices: int, keep: bool) -> None: ...
    def forward(self, batch: HeadBatch, result: int, threads: int) -> None: ...
    def backward(self, batch: HeadBatch, grad_result: int, grad_matrices: int, threads: int) -> None: ...
