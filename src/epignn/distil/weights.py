"""From a calculus to weights: the way back from distilling, by the construction of the paper's Proposition 2.

A component stands for each relation, a relation's vector is certain of its own, and a_ij is spread over what i ∘ j
allows. A component of a state is zero then, but for rounding, where directional closure excludes its relation. All
facets are alike.
"""

import numpy as np
import torch
from torch import Tensor

from epignn.calculus.algebra import Calculus
from epignn.errors import BadArgument
from epignn.models.epignn import EpiGNNConfig

SURE = 80.0
"""The logit of what is certain, above that of what is impossible: a share of e^-80, which float32 still holds."""


def weights_of(calculus: Calculus, config: EpiGNNConfig) -> dict[str, Tensor]:
    """The parameters of an EpiGNN whose states are the sets of a calculus.

    Raises:
        BadArgument: facets have fewer components than there are relations, or the model is an ablation.
    """
    count, size, facets = len(calculus), config.size, config.facets
    if config.ablated:
        raise BadArgument("an ablation has no weights that are a calculus; use a model without it.")
    if size < count:
        raise BadArgument(
            f"a calculus of {count} relations needs facets of as many components, and these have {size}; use a "
            f"model with model.dim={count * facets} and model.facets={facets}."
        )
    order = np.array([calculus.identity, *(r for r in range(count) if r != calculus.identity)])
    vectors = torch.full((count, facets, size), -SURE)
    vectors[torch.from_numpy(order), :, torch.arange(count)] = 0
    possible = torch.from_numpy(_possible(calculus, order, size))
    if config.right_identity:
        possible = possible[:, 1:]
    learnt = torch.where(possible[1:], 0.0, -SURE).expand(facets, -1, -1, -1).clone()
    weights = {"relation_RFK": vectors, "composition_FIJK": learnt}
    return weights | ({"weight_RF": torch.zeros(count, facets)} if config.weighted else {})


def _possible(calculus: Calculus, order: np.ndarray, size: int) -> np.ndarray:
    """(I, J, K): whether component k may come of i and j.

    Components that stand for no relation know nothing as an argument, and come of nothing but one another: where
    a_ij are coupled, a result needs some right argument.
    """
    count = len(calculus)
    bits = calculus.composition_table[..., None] >> np.arange(count, dtype=np.uint64) & np.uint64(1)
    possible = np.zeros((size, size, size), bool)
    possible[:count, :count, :count] = bits.astype(bool)[np.ix_(order, order, order)]
    possible[count:, :, :count] = possible[:, count:, :] = True
    return possible
