"""Reasoning about relations, exactly and learnt. Importing this loads no torch.

>>> from epignn import Network, close, load
>>> facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")]
>>> rcc8 = load("rcc8")
>>> rcc8.format(close(Network.of(rcc8, facts)).relations("a", "c"))
'PO'
"""

import importlib
from typing import TYPE_CHECKING

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Fact, Network
from epignn.calculus.result import Answer, Result
from epignn.calculus.solve.closure import Incremental, close
from epignn.calculus.solve.directional import directional
from epignn.calculus.solve.search import Entailment, entails, minimal_labels, solve
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.errors import BadArgument, BadCalculus, BadFile, EpignnError, UnknownName
from epignn.formats.networks import read_networks, write_network
from epignn.version import __version__

if TYPE_CHECKING:
    from epignn.data.statements import Statements
    from epignn.reason.answer import Reasoner
    from epignn.reason.exact import Exact
    from epignn.reason.learnt import Learnt
    from epignn.reason.neural import Neural

__all__ = [
    "CALCULI",
    "Answer",
    "BadArgument",
    "BadCalculus",
    "BadFile",
    "Calculus",
    "Entailment",
    "EpignnError",
    "Exact",
    "Fact",
    "Incremental",
    "Learnt",
    "Network",
    "Neural",
    "Reasoner",
    "Result",
    "Statements",
    "UnknownName",
    "__version__",
    "close",
    "directional",
    "dpc",
    "dpc_plus",
    "entails",
    "load",
    "minimal_labels",
    "partial",
    "read_networks",
    "solve",
    "write_network",
]

_LATER = {
    "Exact": "reason.exact",
    "Learnt": "reason.learnt",
    "Neural": "reason.neural",
    "Reasoner": "reason.answer",
    "Statements": "data.statements",
}
"""What is loaded when it is first used: reasoners know data sets, which most uses of the calculi do not need."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"epignn.{_LATER[name]}"), name)
