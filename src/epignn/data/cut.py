"""Validation for new graphs: a part of a graph's entities cut out as a graph of its own, or a graph's own facts.

The published inductive splits take the neighbourhoods of some entities as one graph, and of what is left take
another, so that the two share relations and no entity. The same cut within the graph that is learnt from tells
what a model knows of entities it never saw; held-out triples of the graph itself do not. Where the graph that will
be asked is at hand, its own facts tell the same of just that graph.
"""

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Side
from epignn.errors import BadArgument

SHARE = 0.2
"""Of the entities that are cut out."""
HOPS, NEIGHBOURS = 3, 50
"""How far a neighbourhood reaches from its root, and how many entities a hop adds at most."""
ASKED = 10
"""One in so many of the triples that are cut out is asked."""


def cut_out(side: Side, seed: int, turns: int = 10) -> tuple[Side, tuple[Side, ...]]:
    """The graph that is left to learn from, and the graph that is cut out.

    Facts and validation triples are cut alike. A triple between the parts is dropped, and so is one that is cut
    out but whose relation is not learnt.

    Args:
        side: the graph; its test triples are not read.
        seed: chooses the roots, their neighbours, and the triples that are asked.
        turns: how many tenths of the triples that are cut out are asked, one after the other.

    Returns:
        What is left, with nothing held out, and, for each turn, the part cut out with the triples asked.

    Raises:
        BadArgument: the graph is too small to be cut.
    """
    rng = np.random.default_rng([seed, 0xC07])
    triples = np.concatenate([side.graph.facts, side.valid])
    inside = _neighbourhoods(triples, len(side.graph.entities), rng)
    apart = inside[triples[:, 0]] & inside[triples[:, 2]]
    left = triples[~inside[triples[:, 0]] & ~inside[triples[:, 2]]]
    taken = triples[apart & np.isin(triples[:, 1], left[:, 1])]
    if len(taken) < ASKED or len(left) < ASKED:
        raise BadArgument(
            f"{len(triples)} triples are too few to cut a graph out of them; choose holdout = 'triples'."
        )
    train = _side(side.graph, left, np.zeros(0, dtype=np.int64))
    return train, tuple(_side(side.graph, taken, part) for part in _parts(taken, rng, turns))


def own_facts(graph: Graph, seed: int, turns: int = 10) -> tuple[Side, ...]:
    """A graph whose own facts are asked: in each turn a tenth of them, over all others.

    As in published splits, no fact is asked without which one of its entities would be in no fact at all.

    Args:
        graph: the graph.
        seed: chooses the facts of each turn.
        turns: how many tenths are asked, one after the other.
    """
    parts = _parts(graph.facts, np.random.default_rng([seed, 0xA5C]), turns)
    return tuple(_side(graph, graph.facts, part[_attached(graph.facts, part)]) for part in parts)


def _parts(triples: Ints, rng: np.random.Generator, turns: int) -> list[NDArray[np.int64]]:
    """Some of the tenths of triples, at random."""
    return np.array_split(rng.permutation(len(triples)), ASKED)[:turns]


def _attached(triples: Ints, asked: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which triples, asked one after the other, leave both their entities in a triple that is not asked."""
    left = np.bincount(triples[:, ::2].ravel())
    found = np.zeros(len(asked), dtype=bool)
    for place, (head, _, tail) in enumerate(triples[asked].tolist()):
        left[head] -= 1
        left[tail] -= 1
        found[place] = left[head] > 0 and left[tail] > 0
        if not found[place]:
            left[head] += 1
            left[tail] += 1
    return found


def _neighbourhoods(triples: Ints, entities: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which entities the neighbourhoods of random roots hold, once they are as many as are cut out."""
    both = np.concatenate([triples[:, ::2], triples[:, ::-2]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    offset = np.searchsorted(both[:, 0], np.arange(entities + 1))
    inside, wanted = np.zeros(entities, dtype=bool), round(SHARE * entities)
    for root in rng.permutation(entities):
        frontier = np.array([root])
        inside[root] = True
        for _ in range(HOPS):
            around = [both[offset[v] : offset[v + 1], 1] for v in frontier]
            near = np.unique(np.concatenate(around))
            near = near[~inside[near]]
            frontier = rng.permutation(near)[: min(NEIGHBOURS, max(0, wanted - int(inside.sum())))]
            inside[frontier] = True
            if not len(frontier):
                break
        if inside.sum() >= wanted:
            break
    return inside


def _side(graph: Graph, triples: Ints, held: NDArray[np.int64]) -> Side:
    """Triples as a graph of the entities that occur in them, and some of them held out."""
    there, places = np.unique(triples[:, ::2], return_inverse=True)
    places = places.reshape(-1, 2)
    own = np.stack([places[:, 0], triples[:, 1], places[:, 1]], 1).astype(np.int32)
    names = tuple(graph.entities[v] for v in there)
    facts = np.delete(own, held, 0)
    return Side(Graph(names, graph.relations, facts), own[np.sort(held)], own[:0])
