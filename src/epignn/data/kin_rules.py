"""The rules by which CLUTRR's labels were made, and the labels that they derive from a walk.

A rule says what the second of one's first is called, such as "a child's sibling is a child". The rules are few and
not all sound: "a child's grandparent is a parent" holds of half of them, and is why the published files call some
in-laws mother or brother. A label is derivable when composing a walk in some order, edge by edge, gives it.
"""

from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Masks
from epignn.calculus.calculi.families import KINDS, TERMS, Bools
from epignn.data.dataset import Dataset
from epignn.data.kinship import term_places
from epignn.errors import BadArgument

RULES = MappingProxyType(
    {
        ("parent", "parent"): "grandparent",
        ("parent", "child"): "sibling",
        ("parent", "sibling"): "parent's sibling",
        ("child", "child"): "grandchild",
        ("child", "sibling"): "child",
        ("child", "spouse"): "child's spouse",
        ("child", "grandparent"): "parent",
        ("child", "parent's sibling"): "sibling",
        ("sibling", "sibling"): "sibling",
        ("sibling", "parent"): "parent",
        ("sibling", "grandparent"): "grandparent",
        ("sibling", "child"): "sibling's child",
        ("spouse", "child"): "child",
        ("spouse", "grandchild"): "grandchild",
        ("spouse", "parent"): "spouse's parent",
        ("grandchild", "sibling"): "grandchild",
    }
)
"""The kinds of K. Sinha et al., CLUTRR, 2019; its two-hop training rows show each of them and no other."""


@cache
def rule_table() -> Masks:
    """The term that the rules give for two terms, as one bit over `TERMS`, or 0; shape (20, 20)."""
    table = np.zeros((len(TERMS), len(TERMS)), dtype=np.uint64)
    kind_of = {name: (kind, sex) for kind, names in KINDS.items() for sex, name in enumerate(names)}
    for first, (first_kind, middle) in kind_of.items():
        for second, (second_kind, sex) in kind_of.items():
            kind = RULES.get((first_kind, second_kind))
            if kind is not None and not (second_kind == "spouse" and sex == middle):
                result = TERMS.index(KINDS[kind][sex])
                table[TERMS.index(first), TERMS.index(second)] = 1 << result
    return table


def derivable_labels(data: Dataset) -> Masks:
    """The terms that the rules derive for the query of each problem, as bits over `TERMS`; 0 if they derive none.

    Raises:
        BadArgument: the edges of a problem, in their order, are no walk from head to tail.
    """
    _check_walks(data)
    labels = term_places(data.relations)[data.edge_label]
    result = np.zeros(len(data), dtype=np.uint64)
    for length in np.unique(data.edge_count).tolist():
        rows = np.flatnonzero(data.edge_count == length)
        walks = labels[data.edge_offset[rows, None] + np.arange(length)]
        distinct, which = np.unique(walks, axis=0, return_inverse=True)
        result[rows] = _compose_walks(np.uint64(1) << distinct.astype(np.uint64))[which.ravel()]
    return result


def ambiguous_by_rules(data: Dataset) -> Bools:
    """Whether the rules derive more than one term for the query of each problem."""
    derived = derivable_labels(data)
    result: Bools = (derived & (derived - np.uint64(1))) != 0
    return result


def _check_walks(data: Dataset) -> None:
    first, last = data.edge_offset[:-1], data.edge_offset[1:] - 1
    inner = np.setdiff1d(np.arange(len(data.edge_label)), first)
    if np.any(data.edge_count == 0) or (
        np.any(data.edge_source[inner] != data.edge_target[inner - 1])
        or np.any(data.edge_source[first] != data.query_head)
        or np.any(data.edge_target[last] != data.query_tail)
    ):
        raise BadArgument("only walks can be composed: edges must lead from head to tail, one after the other.")


def _compose_walks(walks: Masks) -> Masks:
    """What walks of one length come to, composed in every order (Cocke, Younger and Kasami); shape (W,)."""
    spans = [walks]  # spans[n - 1][w, i]: what the n edges from the i-th on come to
    for length in range(2, walks.shape[1] + 1):
        count = walks.shape[1] - length + 1
        found = np.zeros((len(walks), count), dtype=np.uint64)
        for cut in range(1, length):
            found |= _compose(spans[cut - 1][:, :count], spans[length - cut - 1][:, cut : cut + count])
        spans.append(found)
    return spans[-1][:, 0]


def _compose(left: Masks, right: Masks) -> Masks:
    """Compose sets of terms, five bits of each at a time; most spans of a long walk come to nothing."""
    result = np.zeros(left.shape, dtype=np.uint64)
    some = np.nonzero((left != 0) & (right != 0))
    lefts, rights = (
        [(masks[some] >> np.uint64(shift)) & np.uint64(31) for shift in range(0, len(TERMS), 5)]
        for masks in (left, right)
    )
    found = np.zeros(len(some[0]), dtype=np.uint64)
    for p, a in enumerate(lefts):
        for q, b in enumerate(rights):
            found |= _pieces()[p, q][a, b]
    result[some] = found
    return result


@cache
def _pieces() -> NDArray[np.uint64]:
    """The compositions of all five-bit pieces: `[p, q, a, b]` for piece p of the left set and q of the right."""
    table = rule_table().reshape(4, 5, 4, 5)
    chosen = (np.arange(32)[:, None] >> np.arange(5)) & 1 == 1
    pieces = np.zeros((4, 4, 32, 32), dtype=np.uint64)
    for p, q in np.ndindex(4, 4):
        both = chosen[:, None, :, None] & chosen[None, :, None, :]
        pieces[p, q] = np.bitwise_or.reduce(np.where(both, table[p, :, q], np.uint64(0)), axis=(2, 3))
    return pieces
