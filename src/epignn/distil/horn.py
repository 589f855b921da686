"""Distil rules: what a model has learnt of relations that are no algebra, such as kinship."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset
from epignn.distil.induce import Body, Counts, Floats, induce, probabilities, readable
from epignn.distil.invent import group, nameless
from epignn.distil.reading import body_states, read_weights
from epignn.distil.reason import reason
from epignn.distil.rules import Rule, RuleSet
from epignn.distil.walks import Walks
from epignn.errors import BadArgument
from epignn.models.epignn import EpiGNN

LEAST = 0.05
"""Rules below this weight are left out."""
LONG_WALKS = 12
"""Walks of more steps tell little that shorter ones do not, and take long to read."""


@dataclass(frozen=True)
class DistilledRules:
    """Rules, and what they make of the training data: the reasoner's verdict on every graph."""

    rules: RuleSet
    walks: int
    steps: dict[int, int]
    """How many bodies are shown by walks of each length; 0 for those that no walk shows."""


def distil_rules(
    model: EpiGNN, relations: tuple[str, ...], data: Dataset | None, temperature: float = 1.0, source: str = ""
) -> DistilledRules:
    """The rules that a model has learnt.

    Args:
        model: the model.
        relations: names of its relations.
        data: its training data, over the same relations; None to go by the weights alone.
        temperature: of the softmax in training.
        source: where the rules come from, for the file.

    Raises:
        BadArgument: the data are over other relations.
    """
    if data is not None and data.relations != relations:
        raise BadArgument(f"the model speaks of {' '.join(relations)}, the data of {' '.join(data.relations)}.")
    reading = read_weights(model, relations)
    probability = probabilities(reading.triple, temperature)
    if data is None:
        weight, counts = probability, Counts.none(len(relations))
        return DistilledRules(_rules(relations, len(relations), weight, counts, probability, {}, source), 0, {})
    walks = Walks.of(data).upto(LONG_WALKS)
    counts = induce(probability, walks, {})
    found = nameless(walks, readable(counts, probability, {}))
    defined: dict[Body, int] = {}
    if found:
        groups = group(body_states(model, found), found)
        defined = {body: len(relations) + g for g, members in enumerate(groups) for body in members}
        reading = read_weights(model, relations, groups)
        probability = probabilities(reading.triple, temperature)
        probability[:, :, len(relations) :] = 0  # nothing but its definition concludes an invented relation
        counts = induce(probability, walks, defined)
    weight = counts.weight(probability)
    rules = _rules(reading.relations, len(relations), weight, counts, probability, defined, source)
    lengths, bodies = np.unique(counts.steps, return_counts=True)
    steps = dict(zip(lengths.tolist(), bodies.tolist(), strict=True))
    return DistilledRules(replace(rules, ties=_ties(rules, data)), len(walks.labels), steps)


def _rules(
    relations: tuple[str, ...],
    named: int,
    weight: Floats,
    counts: Counts,
    probability: Floats,
    defined: dict[Body, int],
    source: str,
) -> RuleSet:
    """The rules of some weight, and the definitions of invented relations, which are certain."""
    found = [
        Rule(
            int(a),
            int(b),
            int(c),
            round(float(weight[a, b, c]), 4),
            support=int(counts.head[a, b, c]),
            confidence=round(float(counts.head[a, b, c] / max(counts.body[a, b], 1)), 4),
            model=round(float(probability[a, b, c]), 4),
        )
        for a, b, c in np.argwhere(weight >= LEAST)
    ]
    found += [Rule(a, b, invented, 1.0) for (a, b), invented in defined.items()]
    return RuleSet(relations, named, tuple(found), source=source)


def _ties(rules: RuleSet, data: Dataset) -> tuple[int, ...]:
    """How often training queries with several equally strong answers bear each label."""
    possible: NDArray[np.bool_] = reason(rules, data).possible
    ambiguous = possible.sum(1) > 1
    return tuple(np.bincount(data.label[ambiguous], minlength=len(data.relations)).tolist())
