"""From a calculus to weights: the way back from distilling, by the construction of the paper's Proposition 2.

One facet has a component for each relation, a relation's vector is certain of its own, and a_ij is spread evenly
over what i ∘ j allows. A component of a state is zero then, but for rounding, where directional closure excludes
its relation.
"""

from dataclasses import replace

import numpy as np
import torch

from epignn.calculus.algebra import Calculus
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig

SURE = 80.0
"""How far the logit of what is possible is above that of what is not: by e^80 in shares, which float32 holds."""


def exact_model(calculus: Calculus, like: EpiGNNConfig) -> EpiGNN:
    """The EpiGNN whose states are the sets of a calculus; messages pass and pool as in another model."""
    count = len(calculus)
    config = replace(
        like, dim=count, facets=1, a_ij="free", right_identity=False, weighted=False, counting=0, groups=1
    )
    order = np.array([calculus.identity, *(r for r in range(count) if r != calculus.identity)])
    bits = calculus.composition_table[..., None] >> np.arange(count, dtype=np.uint64) & np.uint64(1)
    possible = torch.from_numpy(bits.astype(bool)[np.ix_(order[1:], order, order)])
    model = build(EpiGNN, count, config, 0)
    assert isinstance(model, EpiGNN)
    with torch.no_grad():
        model.relation_RFK.fill_(-SURE)
        model.relation_RFK[torch.from_numpy(order), 0, torch.arange(count)] = 0
        model.composition_FIJK[0] = torch.where(possible, 0.0, -SURE)
    return model
