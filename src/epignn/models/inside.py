"""What walks and their labels say of a composition table: exact expectation-maximisation.

The table has, for each cell (i, j), the probability of each relation, and of none that has a name. A walk is read
in this way: its edges are put in brackets, every part being split at a place drawn evenly, and two parts that
were read as i and j are read together as a relation drawn from cell (i, j). Where nothing with a name is drawn
the reading fails, and another is begun. The label is what the whole walk is read as. So a cell that says nothing,
or something that has no name, need not explain any label, and of the orders of composition those count that tell.

All readings are summed by the inside algorithm (Baker 1979), span by span. The outside algorithm is its
derivative: how often an entry is expected to be used is the entry times the derivative of the logarithm of what
is summed. For each label that is seen, (1 - Z) / Z readings are expected to have failed before, where Z is the
probability of success.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from epignn.models.walks import Walks

LEAST = 1e-300
"""Stands for the probability of what cannot be."""
CHUNK = 1 << 23
"""Numbers that are kept together while walks are summed: 64 MB."""


class Evidence(NamedTuple):
    """Different walks of one length.

    Attributes:
        relation: (W, L) the relations along each.
        label: (W, R) how often each was seen with each label, float64.
    """

    relation: Tensor
    label: Tensor


def evidence(parts: Iterable[Walks], relations: int, longest: int, most: int = 1 << 62) -> list[Evidence]:
    """The walks of 2 up to `longest` edges, every one by itself with the label of its graph, by their length.

    Where there are more than `most` different ones, so many are taken, always the same. The order of the graphs
    does not matter.
    """
    found: list[Evidence] = []
    given = list(parts)
    width = max((part.relation.shape[1] for part in given), default=0)
    if not width:
        return found
    relation = torch.cat([nn.functional.pad(p.relation, (0, width - p.relation.shape[1]), value=-1) for p in given])
    label = torch.cat([part.label[part.graph] for part in given]).cpu()
    digest = np.concatenate([part.digests() for part in given])
    _, first, place = np.unique(digest, return_index=True, return_inverse=True)
    seen = torch.bincount(torch.from_numpy(place) * relations + label, minlength=len(first) * relations)
    seen, relation = seen.view(-1, relations).double(), relation.cpu()[torch.from_numpy(first)]
    length = (relation >= 0).sum(1)
    taken = ((length >= 2) & (length <= longest)).nonzero()[:most, 0]  # in order of digests: as good as drawn
    seen, relation, length = seen[taken], relation[taken], length[taken]
    for steps in range(2, min(width, longest) + 1):
        chosen = length == steps
        if chosen.any():
            found.append(Evidence(relation[chosen, :steps], seen[chosen]))
    return found


def expected(table: Tensor, walks: Iterable[Evidence]) -> tuple[Tensor, float]:
    """How often each entry of a table is expected to be used, and the log-likelihood of the labels.

    Args:
        table: (R, R, R + 1) the probabilities of each cell; the last is that of no relation that has a name.
        walks: what was seen.
    """
    relations = len(table)
    counts, likelihood = torch.zeros_like(table), 0.0
    for relation, label in walks:
        spans = relation.shape[1] * (relation.shape[1] - 1) // 2
        step = max(1, CHUNK // (spans * (relations + 1) ** 2))
        for first in range(0, len(relation), step):
            part, seen = relation[first : first + step], label[first : first + step]
            with torch.enable_grad():
                entries = table.detach().requires_grad_()
                read = inside(entries, part)
                named, failed = read[:, :-1].clamp_min(LEAST), read[:, -1].clamp_min(LEAST)
                success, times = named.sum(1), seen.sum(1)
                right = (seen * named.log()).sum()
                before = (times * failed / success).detach()
                (slope,) = torch.autograd.grad(right + (before * failed.log()).sum(), entries)
            counts += table * slope
            likelihood += float(right.detach() - (times * success.detach().log()).sum())
    return counts, likelihood


def inside(table: Tensor, relation: Tensor) -> Tensor:
    """(W, R + 1): the probability of each reading of walks (W, L) of one length; the last is that it fails."""
    relations, length = len(table), relation.shape[1]
    whole = _with_failure(table).reshape(-1, relations + 1)
    span = {
        (at, at + 1): nn.functional.one_hot(relation[:, at], relations + 1).to(table.dtype) for at in range(length)
    }
    for size in range(2, length + 1):
        for first in range(length - size + 1):
            last = first + size
            left = torch.stack([span[first, at] for at in range(first + 1, last)], 2)
            right = torch.stack([span[at, last] for at in range(first + 1, last)], 1)
            span[first, last] = (left @ right).flatten(1) @ whole / (size - 1)
    return span[0, length]


def _with_failure(table: Tensor) -> Tensor:
    """(R + 1, R + 1, R + 1): a table in which what has failed stays so."""
    relations = len(table)
    fails = table.new_zeros(relations + 1)
    fails[-1] = 1
    wider = torch.cat([table, fails.expand(relations, 1, -1)], 1)
    return torch.cat([wider, fails.expand(1, relations + 1, -1)])
