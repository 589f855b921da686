"""What the weights of a trained model say of every composition; the one module here that knows torch.

Axes: A left relation, B right relation, C result, F facets, K components of a facet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.models.epignn import LOG_FLOOR, EpiGNN

Floats = NDArray[np.float64]
Body = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Reading:
    """The learnt algebra, as numbers.

    Attributes:
        relations: names, in the order of the axes below.
        triple: (R, R, R) CE(φ(r_a, r_b), r_c), summed over facets; low says that c is possible for a ∘ b.
    """

    relations: tuple[str, ...]
    triple: Floats


@torch.no_grad()
def read_weights(model: EpiGNN, relations: tuple[str, ...], invented: Sequence[Sequence[Body]] = ()) -> Reading:
    """Score every composition a ∘ b against every relation c.

    Args:
        model: any but the unconstrained ablations.
        relations: their names.
        invented: further relations, each by the bodies that it stands for; its vector is the mean of their states.
    """
    vectors = model.relation_vectors()
    names = list(relations)
    for members in invented:
        vectors = torch.cat([vectors, _states(model, vectors, members).mean(0, keepdim=True)])
        names.append("∘".join(names[r] for r in members[0]))
    count = len(vectors)
    states = model.compose(vectors.repeat_interleave(count, 0), vectors.repeat(count, 1, 1))
    triple = _scores(states, vectors).reshape(count, count, count)
    return Reading(tuple(names), _numpy(triple))


@torch.no_grad()
def body_states(model: EpiGNN, members: Sequence[Body]) -> Floats:
    """(N, F, K): φ(r_a, r_b) of each body."""
    return _numpy(_states(model, model.relation_vectors(), members))


def _states(model: EpiGNN, vectors: Tensor, members: Sequence[Body]) -> Tensor:
    left, right = (vectors[list(side)] for side in zip(*members, strict=True))
    return model.compose(left, right)


def _scores(states: Tensor, vectors: Tensor) -> Tensor:
    """(N, E) cross-entropies, as the model's own scores, of relations that it may not know."""
    return -states.clamp_min(LOG_FLOOR).log().flatten(1) @ vectors.flatten(1).T


def _numpy(values: Tensor) -> Floats:
    return values.double().numpy()
