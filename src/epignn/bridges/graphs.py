"""Graphs of networkx as networks: an edge is a fact, and an attribute of it the relations."""

from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.errors import BadArgument, EpignnError
from epignn.extras import optional


def from_networkx(calculus: Calculus, graph: Any, attribute: str = "relations") -> Network:
    """A directed graph as a network; nodes are named by their text.

    Raises:
        BadArgument: the graph is not directed, an edge lacks the attribute or has relations that are not known,
            or two nodes have the same text.

    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_edge("a", "b", relations="tpp|ntpp")
    >>> from epignn.calculus import load
    >>> print(from_networkx(load("rcc8"), graph))
    TPP|NTPP(a, b)
    """
    optional("networkx", "a graph")
    if not graph.is_directed():
        raise BadArgument("the graph has no directions; a relation goes from one thing to another. Use a DiGraph.")
    facts = []
    for head, tail, data in graph.edges(data=True):
        if attribute not in data:
            known = ", ".join(sorted(map(str, data))) or "none"
            raise BadArgument(f"the edge from {head} to {tail} has no attribute {attribute!r}; it has: {known}.")
        try:
            facts.append((str(head), calculus.parse(str(data[attribute])), str(tail)))
        except EpignnError as error:
            raise BadArgument(f"the edge from {head} to {tail}: {error}") from error
    return Network.of(calculus, facts, tuple(map(str, graph.nodes)))
