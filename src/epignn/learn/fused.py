"""Training steps of an EpiGNN on labelled graphs, each in one call of the compiled kernels.

A step is that of the plain loop, `objective.loss` and torch's AdamW, within rounding; tests compare them. Weights
and the moments of AdamW stay in the memory of torch, so that all else sees no difference. `FusedSteps.of` chooses.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Self

import torch
from torch import Tensor

from epignn.kernels import kernels
from epignn.learn.config import TrainConfig
from epignn.learn.group import Alone, Group
from epignn.learn.objectives.api import Objective
from epignn.learn.objectives.classify import Classify
from epignn.models.api import Model
from epignn.models.batch import GraphBatch
from epignn.models.epignn import EpiGNN

LOSSES = ("margin", "cross_entropy", "binary")
"""As the kernels number them."""


class FusedSteps:
    """The steps of a model, what it learns, and the optimiser whose moments they change."""

    def __init__(
        self, model: EpiGNN, objective: Classify, optimiser: torch.optim.Optimizer, config: TrainConfig
    ) -> None:
        self.model, self.objective, self.optimiser, self.config = model, objective, optimiser, config
        optimiser.step()  # without gradients it changes nothing; schedules ask for a first one

    @classmethod
    def of(
        cls, model: Model, objective: Objective, optimiser: torch.optim.Optimizer, config: TrainConfig, group: Group
    ) -> Self | None:
        """The steps of these; None where they are not what the kernels know, and the plain loop serves."""
        if type(model) is not EpiGNN or type(objective) is not Classify or not isinstance(group, Alone):
            return None
        settings, learnt = model.config, list(model.parameters())
        if settings.ablated or settings.weighted or model.device.type != "cpu" or kernels(model.backend) is None:
            return None
        if learnt[0].dtype not in KINDS or not all(p.requires_grad and p.is_contiguous() for p in learnt):
            return None
        return cls(model, objective, optimiser, config) if isinstance(objective.train, GraphBatch) else None

    def steps(self, seed: int, epoch: int) -> Iterator[float]:
        """Take the steps of an epoch, and give the loss of each."""
        graphs, order, other = self.objective.lesson(seed, epoch)
        held = [
            getattr(graphs, field.name).contiguous() for field in fields(GraphBatch) if field.name != "edge_offset"
        ]
        native, step = kernels("compiled"), self._step()
        assert native is not None
        there, size, threads = native.graphs(*_addresses(held)), self.config.batch_size, torch.get_num_threads()
        for first in range(0, len(order), size):
            chosen = order[first : first + size]
            wrong = 0 if other is None else other[first : first + size].data_ptr()
            rate = self.optimiser.param_groups[0]["lr"]
            yield step(there, chosen.data_ptr(), wrong, len(chosen), rate, threads)

    def _step(self) -> Any:
        """What the kernels are told of the model, and where its weights and their moments are."""
        model, objective, adam = self.model.config, self.objective.config, self.optimiser.param_groups[0]
        native = kernels("compiled")
        assert native is not None
        settings = native.step_settings(
            relations=self.model.relations,
            facets=model.facets,
            size=model.size,
            coupled=model.a_ij == "coupled",
            right_identity=model.right_identity,
            minimum=model.pooling == "min",
            rounds=model.passing.rounds or 0,
            self_message=model.self_message,
            forward_only=model.forward_only,
            loss=LOSSES.index(objective.loss),
            margin=objective.margin,
            temperature=objective.temperature,
            clip=self.config.clip,
            decay=adam["weight_decay"],
            beta1=adam["betas"][0],
            beta2=adam["betas"][1],
            epsilon=adam["eps"],
        )
        relation, composition = self.model.relation_RFK, self.model.composition_FIJK
        memory = [*self._memory(relation), *self._memory(composition)]
        return getattr(native, KINDS[relation.dtype])(settings, *_addresses(memory))

    def _memory(self, parameter: torch.nn.Parameter) -> list[Tensor]:
        """Where a parameter, its moments and the number of its steps are; those of AdamW before its first step."""
        state = self.optimiser.state[parameter]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        return [parameter.data, state["exp_avg"], state["exp_avg_sq"], state["step"]]


KINDS = {torch.float32: "TrainingStepFloat", torch.float64: "TrainingStepDouble"}
"""What the kernels call the steps of each precision."""


def _addresses(tensors: list[Tensor]) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]
