"""Facts in order: a graph by hand, a plain loop over each graph, names that mean nothing, and the limits."""

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models import triples as module
from epignn.models.triples import Triples, triples
from tests.models.conftest import problems, random_graphs


@pytest.fixture(params=["generated", "random"])
def graphs(request, rng) -> Dataset:
    return problems() if request.param == "generated" else random_graphs(rng, 60)


def same(one: Triples, other: Triples) -> None:
    for name in vars(other):
        assert torch.equal(getattr(one, name), getattr(other, name)), name


def by_loop(data: Dataset, g: int) -> tuple[list[list[int]], list[int]]:
    """Facts and query of a graph by number, one step after the other."""
    part = slice(data.edge_offset[g], data.edge_offset[g + 1])
    arrays = (data.edge_source, data.edge_label, data.edge_target)
    left = list(zip(*(a[part].tolist() for a in arrays), strict=True))
    head, tail = int(data.query_head[g]), int(data.query_tail[g])
    order, seen, frontier = [], {head}, {head}
    while frontier:
        order += [fact for fact in left if fact[0] in frontier]
        left = [fact for fact in left if fact[0] not in frontier]
        frontier = {target for _, _, target in order} - seen
        seen |= frontier
    order += left
    names = [head]
    for name in [n for source, _, target in order for n in (source, target)] + [tail]:
        if name not in names:
            names.append(name)
    return [[names.index(s), r, names.index(t)] for s, r, t in order], [names.index(head), names.index(tail)]


def test_a_graph_by_hand():
    """Head 3, tail 0: 3 -> 1 -> 0 and 3 -> 4 -> 0, an edge into the head, 2 alone, and 5 -> 6 that none joins."""
    edges = [(5, 6, 6), (1, 0, 1), (0, 3, 2), (3, 4, 3), (4, 0, 4), (3, 1, 5)]
    source, target, label = zip(*edges, strict=True)
    data = Dataset(tuple("abcdefg"), [7], [0, 6], source, target, label, [3], [0], [2])
    found = triples(data, 6)
    # In order: 3 -d> 4, 3 -f> 1; 1 -b> 0, 4 -e> 0; 0 -c> 3; 5 -g> 6. As they are met: 3, 4, 1, 0, 5, 6.
    assert found.fact.tolist() == [[0, 3, 1], [0, 5, 2], [2, 1, 3], [1, 4, 3], [3, 2, 0], [4, 6, 5]]
    assert found.query.tolist() == [[0, 3]]
    assert (found.offset.tolist(), found.label.tolist(), found.length.tolist()) == ([0, 6], [2], [6])


def test_every_graph_is_ordered_as_by_a_loop(graphs):
    found = triples(graphs, 100)
    for g in range(len(graphs)):
        facts, query = by_loop(graphs, g)
        assert found.fact[found.offset[g] : found.offset[g + 1]].tolist() == facts
        assert found.query[g].tolist() == query


def test_names_of_nodes_mean_nothing(graphs, rng):
    names = np.concatenate([rng.permutation(count) for count in graphs.node_count])
    start = np.cumsum(graphs.node_count) - graphs.node_count
    base = np.repeat(start, graphs.edge_count)
    renamed = Dataset(
        graphs.relations,
        graphs.node_count,
        graphs.edge_offset,
        names[graphs.edge_source + base],
        names[graphs.edge_target + base],
        graphs.edge_label,
        names[graphs.query_head + start],
        names[graphs.query_tail + start],
        graphs.label,
    )
    assert (renamed.edge_source != graphs.edge_source).any()
    same(triples(renamed, 100), triples(graphs, 100))


def test_selections_slices_and_chunks_are_the_same_facts(graphs, rng, monkeypatch):
    whole = triples(graphs, 100)
    order = rng.permutation(len(graphs))
    same(whole.select(torch.from_numpy(order)), triples(graphs.select(order), 100))
    same(whole.slice(5, 12), triples(graphs.select(np.arange(5, 12)), 100))
    same(whole.to("cpu"), whole)
    assert [len(part) for part in whole.chunks(7)][:-1] == [7] * ((len(graphs) - 1) // 7)
    longest = int(graphs.edge_count.max())
    for facts, most in ((3 * longest, 3), (1, 1)):
        monkeypatch.setattr(module, "FACTS", facts)
        parts = list(whole.chunks(7))
        assert max(len(part) for part in parts) == most
        assert torch.equal(torch.cat([part.fact for part in parts]), whole.fact)
        assert torch.equal(torch.cat([part.query for part in parts]), whole.query)
    assert list(triples(graphs.select([]), 100).chunks(5)) == []


def test_a_graph_without_facts_and_a_tail_that_none_speaks_of():
    alone = Dataset(("r",), [1], [0, 0], [], [], [], [0], [0], [0])
    apart = Dataset(("r",), [4], [0, 1], [2], [3], [0], [3], [0], [0])
    found = triples(Dataset.concat([alone, apart]), 3)
    assert found.query.tolist() == [[0, 0], [0, 2]]
    assert found.fact.tolist() == [[1, 0, 0]]
    assert found.length.tolist() == [0, 1]


def test_too_many_entities_are_refused_and_silent_nodes_are_not_counted():
    data = Dataset.concat(
        [
            Dataset(("r",), [9], [0, 2], [7, 8], [8, 0], [0, 0], [7], [0], [0]),
            Dataset(("r",), [5], [0, 4], [0, 1, 2, 3], [1, 2, 3, 4], [0] * 4, [0], [4], [0]),
            Dataset(("r",), [4], [0, 3], [0, 1, 2], [1, 2, 3], [0] * 3, [0], [3], [0]),
        ]
    )
    assert len(triples(data, 5)) == 3
    told = r"2 of 3 graphs have more than 3 entities, first number 1, of 5; train with model\.entities=5 or more"
    with pytest.raises(BadArgument, match=told):
        triples(data, 3)
