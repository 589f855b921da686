"""What rounds compute, against distances by networkx: what a head reaches and a candidate needs, and no more."""

import networkx
import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.models.cones import cones
from epignn.models.joining import WholeGraph

ROUNDS = 4


@pytest.fixture
def sparse(rng):
    """Two trees, which no path connects, and an entity without facts."""
    child = np.concatenate([np.arange(1, 40), np.arange(41, 60)])
    parent = np.array([rng.integers(0 if v < 40 else 40, v) for v in child])
    facts = np.stack([parent, rng.integers(0, 2, len(child)), child], 1).astype(np.int32)
    return Graph(tuple(map(str, range(61))), ("r", "s"), facts)


def distances(graph):
    """(V, V): by networkx; infinite where there is no path."""
    drawn = networkx.Graph()
    drawn.add_nodes_from(range(len(graph.entities)))
    drawn.add_edges_from(graph.facts[:, ::2].tolist())
    found = np.full((len(graph.entities),) * 2, np.inf)
    for one, near in networkx.all_pairs_shortest_path_length(drawn):
        found[one, list(near)] = list(near.values())
    return found


@pytest.mark.parametrize("everything", [False, True])
def test_a_round_computes_what_a_head_reaches_and_a_candidate_needs(sparse, rng, everything):
    whole, apart = WholeGraph(sparse.edges), distances(sparse)
    heads, wanted = np.array([7, 7, 45, 60, 0]), rng.integers(0, 61, (5, 3))
    wanted[0] = 7, 8, 9
    keys = whole.place[wanted].astype(np.int64) * len(heads) + np.arange(len(heads))[:, None]
    found = cones(whole, whole.place[heads].astype(np.int64), ROUNDS, None if everything else keys.ravel())
    assert len(found.rounds) == ROUNDS
    total = np.zeros(len(heads), dtype=np.int64)
    for number, step in enumerate(found.rounds, 1):
        near = apart[heads] <= number
        if not everything:
            near &= np.array([apart[own].min(0) for own in wanted]) <= ROUNDS - number
        assert len(step.incoming) == near.sum()
        assert len(step.incoming.source) == near.sum(0) @ np.diff(sparse.edges.offset)
        assert sorted(step.of_pass.tolist()) == [p for p, head in enumerate(heads) if near[p, head]]
        total += near.sum(1)
    np.testing.assert_array_equal(found.taken, total)


def test_where_passes_differ_everywhere_a_round_computes_what_a_candidate_needs(sparse):
    whole, apart = WholeGraph(sparse.edges), distances(sparse)
    heads, wanted = np.array([3, 50]), np.array([[5], [41]])
    keys = whole.place[wanted].astype(np.int64) * 2 + np.arange(2)[:, None]
    found = cones(whole, whole.place[heads].astype(np.int64), ROUNDS, keys.ravel(), alike=False)
    before = np.zeros(0, dtype=int)
    for number, step in enumerate(found.rounds, 1):
        assert len(step.incoming) == (apart[wanted[:, 0]] <= ROUNDS - number).sum()
        relation, own = np.divmod(step.incoming.label, 2)
        assert relation.max(initial=0) < 4
        if number > 1:  # a message stays within its pass
            sender = before[step.incoming.source - len(whole)]
            np.testing.assert_array_equal(sender, own)
        before = np.zeros(len(step.incoming), dtype=int)
        before[np.repeat(np.arange(len(before)), step.incoming.count)] = own
