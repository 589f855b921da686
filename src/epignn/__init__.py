"""Reasoning about relations, exactly and learnt. Importing this loads no torch.

>>> from epignn import Network, close, load
>>> facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")]
>>> close(Network.of(load("rcc8"), facts)).relations("a", "c")
('PO',)
"""

import importlib
from typing import TYPE_CHECKING

from epignn.version import __version__

if TYPE_CHECKING:
    from epignn.bridges.events import from_intervals
    from epignn.bridges.graphs import from_networkx
    from epignn.bridges.rdf import read_rdf
    from epignn.bridges.regions import from_geometries
    from epignn.calculus import CALCULI, load
    from epignn.calculus.algebra import Calculus
    from epignn.calculus.network import Fact, Network
    from epignn.calculus.result import Answer, Result
    from epignn.calculus.solve.closure import close
    from epignn.calculus.solve.directional import directional
    from epignn.calculus.solve.incremental import Incremental
    from epignn.calculus.solve.search import Entailment, entails, minimal_labels, solve
    from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
    from epignn.data.dataset import Dataset
    from epignn.data.score import Score, score
    from epignn.data.statements import Statements
    from epignn.errors import BadArgument, BadCalculus, BadFile, EpignnError, UnknownName
    from epignn.formats.networks import read_networks, write_network
    from epignn.formats.star_csv import from_columns, to_columns
    from epignn.models.pyg import from_pyg, pyg_batch, pyg_loader, to_pyg
    from epignn.reason.answer import Reasoner
    from epignn.reason.exact import Exact
    from epignn.reason.learnt import Learnt
    from epignn.reason.links import Links
    from epignn.reason.neural import Neural

__all__ = [
    "CALCULI",
    "Answer",
    "BadArgument",
    "BadCalculus",
    "BadFile",
    "Calculus",
    "Dataset",
    "Entailment",
    "EpignnError",
    "Exact",
    "Fact",
    "Incremental",
    "Learnt",
    "Links",
    "Network",
    "Neural",
    "Reasoner",
    "Result",
    "Score",
    "Statements",
    "UnknownName",
    "__version__",
    "close",
    "directional",
    "dpc",
    "dpc_plus",
    "entails",
    "from_columns",
    "from_geometries",
    "from_intervals",
    "from_networkx",
    "from_pyg",
    "load",
    "minimal_labels",
    "partial",
    "pyg_batch",
    "pyg_loader",
    "read_networks",
    "read_rdf",
    "score",
    "solve",
    "to_columns",
    "to_pyg",
    "write_network",
]

_LATER = {
    "Answer": "calculus.result",
    "BadArgument": "errors",
    "BadCalculus": "errors",
    "BadFile": "errors",
    "CALCULI": "calculus",
    "Calculus": "calculus.algebra",
    "Dataset": "data.dataset",
    "Entailment": "calculus.solve.search",
    "EpignnError": "errors",
    "Exact": "reason.exact",
    "Fact": "calculus.network",
    "Incremental": "calculus.solve.incremental",
    "Learnt": "reason.learnt",
    "Links": "reason.links",
    "Network": "calculus.network",
    "Neural": "reason.neural",
    "Reasoner": "reason.answer",
    "Result": "calculus.result",
    "Score": "data.score",
    "Statements": "data.statements",
    "UnknownName": "errors",
    "close": "calculus.solve.closure",
    "directional": "calculus.solve.directional",
    "dpc": "calculus.solve.sparse",
    "dpc_plus": "calculus.solve.sparse",
    "entails": "calculus.solve.search",
    "from_columns": "formats.star_csv",
    "from_geometries": "bridges.regions",
    "from_intervals": "bridges.events",
    "from_networkx": "bridges.graphs",
    "from_pyg": "models.pyg",
    "load": "calculus",
    "minimal_labels": "calculus.solve.search",
    "partial": "calculus.solve.sparse",
    "pyg_batch": "models.pyg",
    "pyg_loader": "models.pyg",
    "read_networks": "formats.networks",
    "read_rdf": "bridges.rdf",
    "score": "data.score",
    "solve": "calculus.solve.search",
    "to_columns": "formats.star_csv",
    "to_pyg": "models.pyg",
    "write_network": "formats.networks",
}
"""Where each name lives; its module is loaded when it is first used, so that a command loads what it needs."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"epignn.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
