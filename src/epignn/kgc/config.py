"""Experiments of knowledge graph completion as frozen dataclasses: where every default is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from epignn.errors import BadArgument, lookup
from epignn.kgc.heads import Passing
from epignn.learn.config import EXPERIMENTS, from_dict, override, read_toml
from epignn.models.epignn import ModelConfig

METRICS = ("mrr", "hits@1", "hits@3", "hits@10", "hits@10_50")


@dataclass(frozen=True)
class KgcModel(ModelConfig):
    """The forward-only EpiGNN over relations and their inverses.

    Entities that know nothing of the head send, unless `silent`, what follows from knowing nothing, which tells
    what kind of entity hears it.
    """

    dim: int = 32
    facets: int = 8
    rounds: int | str = 6
    forward_only: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rounds, int) or not self.forward_only:
            raise BadArgument("link prediction takes a number of rounds and forward_only = true.")
        if self.composition != "bilinear" or not self.constrained:
            raise BadArgument("link prediction takes composition = 'bilinear' and constrained = true.")

    @property
    def passing(self) -> Passing:
        """How messages pass."""
        return Passing(self.pooling, int(self.rounds), self.self_message, self.silent)


@dataclass(frozen=True)
class KgcTraining:
    """How a model is trained.

    Attributes:
        epochs: passes over all heads, at most.
        batch_size: heads of a step.
        learning_rate, decay, clip, schedule: as for other models.
        loss: `margin`, or `cross_entropy` of the answer against all negatives.
        margin: Δ of the margin loss.
        temperature: scores are divided by it in the cross-entropy.
        negatives: entities sampled for each head; those known to be answers are no negatives.
        share: of a head's facts that a pass asks, and leaves out; at least one.
        thin: up to this share of all facts is missing in a step, at random, so that sparser graphs are met too.
        patience: epochs without a better validation metric before training ends; 0 sets no limit.
        metric: that chooses the epoch.
        validation_triples: at most so many are ranked after an epoch.
    """

    epochs: int = 15
    batch_size: int = 16
    learning_rate: float = 0.01
    loss: str = "cross_entropy"
    margin: float = 1.0
    temperature: float = 1.0
    negatives: int = 64
    share: float = 0.3
    thin: float = 0.0
    decay: float = 0.0
    clip: float = 0.0
    schedule: str = "constant"
    patience: int = 0
    metric: str = "hits@10_50"
    validation_triples: int = 1000

    def __post_init__(self) -> None:
        choices = {
            "loss": ("margin", "cross_entropy"),
            "schedule": ("constant", "one_cycle"),
            "metric": METRICS,
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise BadArgument(f"{name} must be {' or '.join(allowed)}, not {getattr(self, name)!r}.")
        if min(self.epochs, self.batch_size, self.negatives, self.validation_triples) < 1:
            raise BadArgument("epochs, batch_size, negatives and validation_triples must be 1 or more.")
        if self.learning_rate <= 0 or not 0 < self.share <= 1 or not 0 <= self.thin < 1:
            raise BadArgument("learning_rate must be above 0, share above 0 and at most 1, thin below 1.")


@dataclass(frozen=True)
class KgcExperiment:
    """One run, but for its data and seed."""

    name: str = "kgc"
    model: KgcModel = field(default_factory=KgcModel)
    training: KgcTraining = field(default_factory=KgcTraining)


def shipped() -> dict[str, Path]:
    """The experiments that come with epignn, by name."""
    return {path.stem: path for path in sorted((EXPERIMENTS / "kgc").glob("*.toml"))}


def load_experiment(name: str, overrides: Sequence[str] = ()) -> KgcExperiment:
    """An experiment by name or from a TOML file, with overrides such as `model.facets=8`."""
    path = Path(name) if name.endswith(".toml") else lookup("experiment", name, shipped())
    values = read_toml(path)
    for text in overrides:
        override(values, text)
    return from_dict(KgcExperiment, values, str(path))
