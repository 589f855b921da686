"""Dataset: selection and joining keep every graph whole; wrong arrays are refused."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epignn.data import Dataset
from epignn.errors import BadArgument

RELATIONS = ("DC", "EC", "EQ")


def dataset(sizes, seed=0, **about):
    """Random graphs with the given numbers of edges."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(1, 9, len(sizes))
    ends = np.repeat(nodes, sizes)
    return Dataset(
        RELATIONS,
        nodes,
        np.r_[0, np.cumsum(sizes)],
        rng.integers(ends),
        rng.integers(ends),
        rng.integers(3, size=len(ends)),
        rng.integers(nodes),
        rng.integers(nodes),
        rng.integers(3, size=len(nodes)),
        **about,
    )


def examples(data):
    return [data.example(g) for g in range(len(data))]


def whole(data):
    """The nodes of each edge and query, by hand: the nodes of graph g follow those of all before it."""
    before = [int(data.node_count[:g].sum()) for g in range(len(data))]
    edges = [(n + a, n + c) for n, example in zip(before, data, strict=True) for a, _, c in example.edges]
    return edges, [(n + e.query[0], n + e.query[1]) for n, e in zip(before, data, strict=True)]


sizes = st.lists(st.integers(0, 5), min_size=1, max_size=8)


def test_an_example_reads_as_the_arrays_say():
    data = Dataset(RELATIONS, [2, 4], [0, 1, 3], [0, 2, 0], [1, 3, 1], [2, 0, 1], [1, 3], [0, 0], [1, 2])
    assert data.example(1).edges == ((2, "DC", 3), (0, "EC", 1))
    assert data.example(1).query == (3, 0)
    assert str(data.example(0)) == "EQ(0, 1) entails EC(1, 0)"


@settings(deadline=None)
@given(sizes, st.data())
def test_select_picks_whole_graphs_in_order(counts, draw):
    data = dataset(counts, k=3, b=2)
    chosen = draw.draw(st.lists(st.integers(0, len(counts) - 1), max_size=10))
    picked = data.select(chosen)
    assert examples(picked) == [data.example(g) for g in chosen]
    assert picked.node_count.tolist() == data.node_count[chosen].tolist() if chosen else len(picked) == 0
    assert (picked.k, picked.b) == (3, 2)


@settings(deadline=None)
@given(sizes)
def test_select_takes_masks_and_slices(counts):
    data = dataset(counts)
    mask = np.arange(len(data)) % 2 == 0
    assert examples(data.select(mask)) == examples(data)[::2] == examples(data.select(slice(None, None, 2)))


@settings(deadline=None)
@given(sizes)
def test_a_data_set_is_a_sequence_of_examples(counts):
    data = dataset(counts, k=3, b=2)
    assert list(data) == examples(data)
    assert data[0] == data[np.int64(0)] == data[-len(data)] == data.example(0)
    assert data[-1] == examples(data)[-1]
    for beyond in (len(data), -len(data) - 1):
        with pytest.raises(IndexError):
            data[beyond]


@settings(deadline=None)
@given(sizes)
def test_slices_masks_and_numbers_give_data_sets(counts):
    data = dataset(counts, k=3, b=2)
    mask = np.arange(len(data)) % 2 == 0
    assert (
        examples(data[::2]) == examples(data[mask]) == examples(data[np.flatnonzero(mask)]) == examples(data)[::2]
    )
    assert examples(data[[0, 0]]) == [data[0], data[0]]
    assert len(data[[]]) == len(data[:0]) == 0
    assert (data[::2].k, data[::2].b) == (3, 2)


@settings(deadline=None)
@given(sizes, st.integers(1, 9))
def test_batches_are_all_graphs_in_parts(counts, size):
    data = dataset(counts, k=3, b=2)
    parts = list(data.batches(size))
    assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert [example for part in parts for example in part] == list(data)
    shuffled = [example for part in data.batches(size, np.random.default_rng(1)) for example in part]
    assert shuffled == [data[g] for g in np.random.default_rng(1).permutation(len(data))]
    for part in parts:
        found, (edges, queries) = part.disjoint(), whole(part)
        assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == edges
        assert list(zip(found.head.tolist(), found.tail.tolist(), strict=True)) == queries


def test_batches_of_nothing_are_refused_at_once():
    with pytest.raises(BadArgument, match="at least one graph, not 0"):
        dataset([2]).batches(0)


@settings(deadline=None)
@given(sizes, sizes)
def test_concat_undoes_a_split(left, right):
    a, b = dataset(left), dataset(right, seed=1)
    whole = Dataset.concat([a, b])
    assert examples(whole) == examples(a) + examples(b)
    assert len(whole) == len(a) + len(b)
    assert examples(whole.select(range(len(a), len(whole)))) == examples(b)


def test_concat_keeps_k_and_b_where_they_agree():
    whole = Dataset.concat([dataset([1], k=2, b=1), dataset([1], k=2, b=3)])
    assert (whole.k, whole.b) == (2, 0)


def test_concat_refuses_nothing_and_mixed_vocabularies():
    data = dataset([2])
    fields = {name: getattr(data, name) for name in Dataset.__dataclass_fields__}
    other = Dataset(**{**fields, "relations": ("<", "=", ">")})
    with pytest.raises(BadArgument, match="at least one"):
        Dataset.concat([])
    with pytest.raises(BadArgument, match=re.escape("DC EC EQ against < = >")):
        Dataset.concat([data, other])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("edge_label", [0], "edge_label has shape (1,); expected (2,)"),
        ("label", [3], "label refers beyond the relations"),
        ("edge_target", [1, 3], "edge_target refers beyond the nodes"),
        ("query_head", [-1], "query_head refers beyond the nodes"),
        ("edge_offset", [0, 1], "edge_offset must rise from 0 to 2"),
    ],
)
def test_wrong_arrays_are_refused(field, value, message):
    fields = {
        "relations": RELATIONS,
        "node_count": [3],
        "edge_offset": [0, 2],
        "edge_source": [0, 1],
        "edge_target": [1, 2],
        "edge_label": [0, 1],
        "query_head": [0],
        "query_tail": [2],
        "label": [0],
    }
    Dataset(**fields)
    with pytest.raises(BadArgument, match=re.escape(message)):
        Dataset(**{**fields, field: value})


def test_arrays_are_compact_and_contiguous():
    data = dataset([2, 3])
    assert data.edge_offset.dtype == np.int64
    assert data.edge_source.dtype == data.label.dtype == np.int32
    assert all(getattr(data, name).flags.c_contiguous for name in ("edge_source", "edge_target", "edge_label"))
