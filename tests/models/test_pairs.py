"""The structure of full closure against a plain loop over entities."""

from itertools import product

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models import pairs as module
from epignn.models.pairs import closed_pairs, prepare_pairs
from tests.models.conftest import random_graphs


def reach(edges: set[tuple[int, int]], start: int) -> set[int]:
    found, frontier = {start}, {start}
    while frontier:
        frontier = {t for s, t in edges if s in frontier} - found
        found |= frontier
    return found


def plain(data: Dataset, g: int, rounds: int | None) -> list[list[tuple]]:
    """What is heard in each round, as (pair, left pair or None, right pair or relation)."""
    example = data.example(g)
    head, tail = example.query
    edges = {(s, t) for s, _, t in example.edges}
    between = reach(edges, head) & reach({(t, s) for s, t in edges}, tail)
    facts = [((s, t), None, r) for s, r, t in example.edges if {s, t} <= between and s != t]
    known = {pair for pair, _, _ in facts}
    heard = [facts]
    while rounds is None or len(heard) <= rounds:
        triples = [(i, k, j) for i, k, j in product(between, repeat=3) if len({i, k, j}) == 3]
        composed = [((i, j), (i, k), (k, j)) for i, k, j in triples if (i, k) in known and (k, j) in known]
        grown = not {pair for pair, _, _ in composed} <= known
        if rounds is None and not grown and len(heard) == 1:
            break  # nothing can be composed
        known |= {pair for pair, _, _ in composed}
        heard.append(facts + composed)
        if rounds is None and not grown:
            break  # the one round more, in which all ways are heard
    return heard


def shape(messages: list[tuple]) -> tuple[int, int]:
    return len(messages), len({pair for pair, _, _ in messages})


@pytest.mark.parametrize("rounds", [None, 1, 3])
@pytest.mark.parametrize("chunk", [1 << 23, 200])
def test_structure_equals_a_plain_loop(rounds, chunk, rng, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    data = random_graphs(rng, 30)
    data = data.select(np.flatnonzero(data.query_head != data.query_tail))
    whole = prepare_pairs(data, rounds)
    for g in range(len(data)):
        expected = plain(data, g, rounds)
        one = whole.slice(g, g + 1)
        assert len([r for r in one.rounds if len(r.left)]) == len(expected)
        for heard, messages in zip(one.rounds, expected, strict=False):
            assert (len(heard.left), int((np.diff(heard.offset) > 0).sum())) == shape(messages)
            fact = heard.left < 0
            named = sorted(data.relations[r] for r in heard.right[fact])
            assert named == sorted(m[2] for m in messages if m[1] is None)


def test_messages_fit_together(rng):
    """A composition of (i, k) and (k, j) reaches (i, j): told by a graph whose pairs are all facts."""
    size = 5
    ends = [(i, j) for i in range(size) for j in range(size) if i != j]
    source, target = zip(*ends, strict=True)
    data = Dataset(("r",), [size], [0, len(ends)], source, target, [0] * len(ends), [3], [1], [0])
    graphs = prepare_pairs(data, 1)
    names = sorted(ends)
    assert names[graphs.query[0]] == (3, 1)
    heard = graphs.rounds[1]
    offset, left, right = (tensor.tolist() for tensor in (heard.offset, heard.left, heard.right))
    for pair, (i, j) in enumerate(names):
        messages = range(offset[pair], offset[pair + 1])
        composed = {(left[m], right[m]) for m in messages if left[m] >= 0}
        others = set(range(size)) - {i, j}
        assert composed == {(names.index((i, k)), names.index((k, j))) for k in others}


def test_select_and_chunks_keep_every_graph(rng, monkeypatch):
    data = random_graphs(rng, 20)
    data = data.select(np.flatnonzero(data.query_head != data.query_tail))
    graphs = prepare_pairs(data)
    order = rng.permutation(len(data))
    direct = prepare_pairs(data.select(order))
    chosen = graphs.select(torch.from_numpy(order))
    for a, b in zip(chosen.rounds, direct.rounds, strict=True):
        assert np.array_equal(a.offset, b.offset)
        assert np.array_equal(a.left, b.left)
        assert np.array_equal(a.right, b.right)
    monkeypatch.setattr(module, "PAIRS", 40)
    parts = list(graphs.chunks(7))
    assert [label for part in parts for label in part.label] == graphs.label.tolist()
    assert all(len(part) == 1 or (part.pair_offset[-1] <= 40 and len(part) <= 7) for part in parts)


def test_refusals():
    cut = Dataset(("r",), [3], [0, 1], [0], [1], [0], [0], [2], [0])
    with pytest.raises(BadArgument, match="no path leads from head to tail"):
        prepare_pairs(cut)
    same = Dataset(("r",), [2], [0, 1], [0], [1], [0], [1], [1], [0])
    with pytest.raises(BadArgument, match="one entity alone"):
        prepare_pairs(same)


def test_closed_pairs_are_those_of_the_last_round(rng):
    data = random_graphs(rng, 40)
    whole, closed = prepare_pairs(data, int(data.node_count.max())), closed_pairs(data)
    for name in ("pair_offset", "query", "label"):
        assert torch.equal(getattr(closed, name), getattr(whole, name))

    def messages(received: module.PairRound) -> set[tuple[int, ...]]:
        target = np.repeat(np.arange(len(received.offset) - 1), np.diff(received.offset.numpy()))
        return set(zip(target.tolist(), received.left.tolist(), received.right.tolist(), strict=True))

    facts, made = (messages(received) for received in closed.rounds)
    assert facts == messages(whole.rounds[0])
    assert facts | made == messages(whole.rounds[-1])
    assert not facts & made


def test_too_many_compositions_are_refused_with_the_limit(rng, monkeypatch):
    monkeypatch.setattr(module, "COMPOSITIONS", 10)
    with pytest.raises(BadArgument, match="at most 10 are made at a time"):
        closed_pairs(random_graphs(rng, 40))
