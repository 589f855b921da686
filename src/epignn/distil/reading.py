"""What the weights of a trained model say of every composition. Only this module of the package uses torch.

Axes: A left relation, B right relation, C result, F facets, K components of a facet.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.epignn import EpiGNN, log_likelihood

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """The scores of all facts `c ∈ a∘b`.

    Attributes:
        relations: names, in the order of the axes below.
        triple: (A, B, C) the cross-entropy of φ(r_a, r_b) and r_c, summed over facets; low means that c is
            possible.
    """

    relations: tuple[str, ...]
    triple: Floats


def same_relations(relations: tuple[str, ...], data: Dataset | None) -> None:
    """Refuse training data over other relations than the model's."""
    if data is not None and data.relations != relations:
        raise BadArgument(f"the model speaks of {' '.join(relations)}, the data of {' '.join(data.relations)}.")


@torch.no_grad()
def read_weights(model: EpiGNN, relations: tuple[str, ...]) -> Reading:
    """Score every composition a ∘ b against every relation c.

    Args:
        model: any but the unconstrained ablations.
        relations: their names.

    Raises:
        BadArgument: the model has no states to read.
    """
    if not isinstance(model, EpiGNN):
        raise BadArgument(
            f"{type(model).__name__} has no epistemic states to read a calculus or rules off; distil an EpiGNN."
        )
    vectors = model.relation_vectors()
    count = len(vectors)
    states = model.compose(vectors.repeat_interleave(count, 0), vectors.repeat(count, 1, 1))
    triple = -log_likelihood(states, vectors).reshape(count, count, count)
    return Reading(relations, _numpy(triple))


def _numpy(values: Tensor) -> Floats:
    return values.double().numpy()
