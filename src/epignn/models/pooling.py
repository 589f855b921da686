"""Pooling of epistemic states ψ: what all of several states still allow, normalised (paper, Eqs. 12 and 13)."""

import torch
from torch import Tensor

FLOOR = 1e-18
"""What counts as nothing: a state whose components sum to less is a contradiction."""


def normalise(states: Tensor) -> Tensor:
    """Scale the last axis to a sum of one; a contradiction becomes ignorance, not a division by zero."""
    total = states.sum(-1, keepdim=True)
    return torch.where(total < FLOOR, 1 / states.shape[-1], states / total.clamp_min(FLOOR))


def pool(values: Tensor, group: Tensor, groups: int, pooling: str, constrained: bool = True) -> Tensor:
    """Pool the states of each group.

    Args:
        values: (N, F, K) states.
        group: (N,) the group of each state; every group must occur.
        groups: how many there are.
        pooling: `min` or `mul`, component by component.
        constrained: normalise the result; without, it is the ablation of unconstrained embeddings.
    """
    if pooling == "min":
        low = _minimum(values, group, groups)
        return normalise(low) if constrained else low
    if constrained:
        # In logarithms, scaled to a largest component of one, no number of factors underflows.
        logs = values.new_zeros((groups, *values.shape[1:])).index_add(0, group, values.clamp_min(FLOOR).log())
        return normalise((logs - logs.amax(-1, keepdim=True)).exp())
    index = group[:, None, None].expand_as(values)
    ones = torch.ones((groups, *values.shape[1:]), dtype=values.dtype, device=values.device)
    return ones.scatter_reduce(0, index, values, "prod")


def _minimum(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The least of each group; among equals the first alone receives the gradient.

    `scatter_reduce` would share it, and uniform states tie often.
    """
    index = group[:, None, None].expand_as(values)
    shape = (groups, *values.shape[1:])
    with torch.no_grad():
        least = torch.full(shape, torch.inf, dtype=values.dtype, device=values.device)
        least = least.scatter_reduce(0, index, values, "amin")
        row = torch.arange(len(values), device=values.device)[:, None, None].expand_as(values)
        candidates = torch.where(values == least.gather(0, index), row, len(values))
        none = torch.full(shape, len(values), dtype=torch.long, device=values.device)
        first = none.scatter_reduce(0, index, candidates, "amin")
    return values.gather(0, first)
