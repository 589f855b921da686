"""Data sets for PyG (torch_geometric, an optional extra): one graph as its `Data`, many as its `Batch`.

    edge_index   (2, E) source and target of every edge
    edge_type    (E) its relation
    head_index, tail_index   (G) the nodes that are asked about
    y            (G) the relation that holds between them
    num_nodes    and of a batch `batch` and `ptr`: the graph of each node, and where the nodes of each graph begin

PyG adds node offsets to whatever is called `…index`, so that its own `DataLoader` shifts head and tail like edges.
`pyg_loader` gives the same batches in a fortieth of the time, by array operations over all their graphs together.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader

from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data


def to_pyg(data: Dataset, g: int) -> "Data":
    """Graph number `g` as PyG has graphs.

    Raises:
        BadArgument: PyG is not installed.
        IndexError: there is no such graph.
    """
    parts = _parts(data[[range(len(data))[g]]])
    return _pyg().Data(**{name: part for name, part in parts.items() if name not in ("batch", "ptr")})


def pyg_batch(data: Dataset) -> "Batch":
    """All graphs of a data set as one batch of PyG.

    Raises:
        BadArgument: PyG is not installed.
    """
    pyg = _pyg()
    return pyg.Batch(_base_cls=pyg.Data, **_parts(data))


def from_pyg(graphs: "Batch | Iterable[Data]", relations: Sequence[str]) -> Dataset:
    """The data set of graphs of PyG, as `to_pyg` and `pyg_batch` give them.

    Args:
        graphs: each with `edge_index`, `edge_type`, `head_index`, `tail_index` and `y`; or a batch of them.
        relations: the names of the relations that `edge_type` and `y` number.

    Raises:
        BadArgument: PyG is not installed, a graph lacks one of these, or a number is outside what it may be.
    """
    batch: Any = graphs if isinstance(graphs, _pyg().Data) and "ptr" in graphs else None
    if batch is None:
        batch = _pyg().Batch.from_data_list(list(graphs))
    for name in ("edge_index", "edge_type", "head_index", "tail_index", "y", "ptr"):
        if name not in batch:
            raise BadArgument(f"the graphs have no {name!r}; they have {', '.join(sorted(batch.keys()))}.")
    start, graph = batch.ptr.numpy(), batch.batch.numpy()
    source, target = batch.edge_index.numpy()
    owner = graph[source]
    order = np.argsort(owner, kind="stable")
    return Dataset(
        tuple(relations),
        np.diff(start),
        offsets(np.bincount(owner, minlength=len(start) - 1)),
        (source - start[owner])[order],
        (target - start[owner])[order],
        batch.edge_type.numpy()[order],
        batch.head_index.numpy() - start[:-1],
        batch.tail_index.numpy() - start[:-1],
        batch.y.numpy(),
    )


def pyg_loader(data: Dataset, batch_size: int = 128, shuffle: bool = False, **options: Any) -> "DataLoader[int]":
    """A `DataLoader` over the graphs of a data set, whose batches are PyG's.

    Args:
        data: the graphs.
        batch_size: graphs of a batch; the last may have fewer.
        shuffle: whether every pass has another order.
        options: others of torch's `DataLoader`, such as `drop_last`, or the `generator` of the order.

    Raises:
        BadArgument: PyG is not installed.
    """
    _pyg()
    graphs: Any = range(len(data))
    return DataLoader(graphs, batch_size, shuffle, collate_fn=partial(_chosen, data), **options)


def _chosen(data: Dataset, graphs: Sequence[int]) -> "Batch":
    return pyg_batch(data[graphs])


def _parts(data: Dataset) -> dict[str, Tensor | int]:
    """What a batch holds, with the nodes of all graphs numbered through."""
    whole = data.disjoint()
    return {
        "edge_index": torch.from_numpy(np.stack([whole.source, whole.target])),
        "edge_type": _longs(data.edge_label),
        "head_index": _longs(whole.head),
        "tail_index": _longs(whole.tail),
        "y": _longs(data.label),
        "num_nodes": int(whole.start[-1]),
        "batch": _longs(np.repeat(np.arange(len(data)), data.node_count)),
        "ptr": _longs(whole.start),
    }


def _longs(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values.astype(np.int64))


def _pyg() -> Any:
    """PyG's classes of data."""
    try:
        from torch_geometric import data
    except ImportError as error:
        raise BadArgument(
            "PyG is not installed: pip install 'epignn[pyg]'. Without it, `Dataset.batches` gives parts of a data "
            "set as arrays, and `epignn.models.prepare.prepare` all graphs as tensors."
        ) from error
    return data
