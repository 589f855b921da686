"""What a model is.

A model of one's own is a class that derives from `Model`, has a `Config` of settings, and says in `scores` how
likely each relation is between head and tail of every graph. `examples/model.py` is one. With `rank` it predicts
links, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.data.graph import Graph, Ints
from epignn.errors import BadArgument, TooLarge
from epignn.models.links import Questions
from epignn.models.memory import machine
from epignn.models.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class ModelConfig:
    """The settings of a model; those of each kind derive from it and are set as `model.NAME`.

    Attributes:
        kind: which model: a name of the list, or `path/to/file.py:Class`.
    """

    kind: str = "epignn"


class Batch(Protocol):
    """Graphs as a model wants them, in any number."""

    @property
    def label(self) -> Tensor:
        """(G) the right answers."""

    def __len__(self) -> int: ...

    def select(self, graphs: Tensor) -> Self:
        """Some of the graphs, in the given order."""

    def slice(self, first: int, last: int) -> Self:
        """The graphs from `first` up to `last`."""

    def chunks(self, size: int) -> "Iterator[Self]":
        """Consecutive parts of at most `size` graphs, fewer where memory would run short."""

    def to(self, device: torch.device | str) -> Self:
        """The same graphs on another device."""


class Scorer(Protocol):
    """Scores of all entities of one graph as answers to questions."""

    chunk: int
    """How many heads may be prepared together."""

    def prepare(self, heads: Ints) -> None:
        """Do the work that the questions of some heads share; at most `chunk` heads."""

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): the score of every entity as an answer to (head, relation, ?); high is likely."""


class Model(nn.Module):
    """What all models share.

    Args:
        relations: how many relations there are; for links, inverses are counted, too.
        config: an instance of the model's `Config`.

    Initial values are drawn from torch's own generator, which `build` seeds.
    """

    Config: ClassVar[type[ModelConfig]] = ModelConfig
    recipes: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"classify": ('objective.loss="cross_entropy"', 'training.schedule="one_cycle"', "training.epochs=20")}
    )
    """How it is trained unless an experiment says otherwise, as given to `--set`, by objective: the recipe of its
    authors. What differs for some data has a key of its own, `rank fb237` or `rank fb237:v1`, and is added. Where
    none is given for an objective, the experiment's own settings stand."""
    grown: ClassVar[tuple[str, ...]] = ()
    """Names of buffers, its own and those of its parts, whose size the training data decide."""

    def __init__(self, relations: int, config: Any) -> None:
        super().__init__()
        self.relations, self.config = relations, config

    @classmethod
    def prepare(cls, data: Dataset, config: Any) -> Any:
        """The graph work of a data set, done once: a `Batch` of all its graphs."""
        return prepare(data)

    @classmethod
    def admit(cls, objective: Any, config: Any) -> None:
        """Refuse what it could not be trained on in any reasonable time; called before training begins.

        Raises:
            TooLarge: the data are too large for it.
        """

    def scores(self, batch: Any) -> Tensor:
        """(B, R): how likely each relation is between head and tail of each graph; high is likely."""
        raise BadArgument(f"{type(self).__name__} does not classify graphs: it has no method `scores`.")

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): how likely each candidate is as the answer to each question; high is likely."""
        raise BadArgument(f"{type(self).__name__} does not predict links: it has no method `rank`.")

    def rank_parts(self, questions: Questions) -> Tensor:
        """(P, Q, C): as `rank`, by each part of a model that is to answer by itself; the loss is their mean."""
        return self.rank(questions).unsqueeze(0)

    def scorer(self, graph: Graph) -> Scorer:
        """What scores all entities of a graph; models that share work between questions have their own."""
        return RankScorer(self, graph)

    def validating_scorer(self, graph: Graph) -> Scorer:
        """The same for a graph that is asked the same questions after every epoch.

        A model may keep what training does not change.
        """
        return self.scorer(graph)

    def pruned_scorer(self, graph: Graph, share: float) -> Scorer:
        """The same from passes that follow at most a share of the entities, where a model has such."""
        raise BadArgument(f"{type(self).__name__} has no pruned passes: leave --pruned out.")

    def count(self, graphs: Iterable[Any], epoch: int) -> float:
        """Learn from all training graphs without gradients: what a model that has no parameters does in an epoch.

        It may keep other figures in every epoch: the epoch of the best validation is taken. What it keeps are
        buffers. The result stands for a loss. A model that has parameters, too, counts once, at the beginning.
        """
        raise BadArgument(f"{type(self).__name__} has nothing to train: no parameters, and no method `count`.")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **options: Any) -> None:
        """As torch's; buffers that have grown take the size of what is loaded."""
        for name in self.grown:
            found = state_dict.get(f"{prefix}{name}")
            if name in self._buffers and found is not None:  # those of a part are the part's to load
                setattr(self, name, torch.empty_like(found))
        super()._load_from_state_dict(state_dict, prefix, *args, **options)

    def forward(self, batch: Any) -> Tensor:
        """The scores of a batch."""
        return self.scores(batch)

    @property
    def device(self) -> torch.device:
        """Where its parameters are, or what it has counted."""
        held = next(self.parameters(), next(self.buffers(), None))
        return torch.device("cpu") if held is None else held.device


class RankScorer:
    """All entities as candidates of `Model.rank`, one head at a time."""

    chunk = 1

    def __init__(self, model: Model, graph: Graph) -> None:
        self.model, self.graph = model, graph

    def prepare(self, heads: Ints) -> None:
        """Nothing is shared between heads."""

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): the scores of questions about the graph."""
        return self.model.rank(questions)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): see `Scorer`."""
        with torch.no_grad():
            found = self.rank(Questions.everything(self.graph, head, relations))
        scores: Scores = found.float().cpu().numpy()
        return scores


def build(kind: type[Model], relations: int, config: ModelConfig, seed: int) -> Model:
    """A model with the initial values of a seed; torch's own generator is left as it was.

    Raises:
        TooLarge: its parameters would not fit into the memory of this machine; nothing has been allocated then.
    """
    needed, there = _size(kind, relations, config), machine()
    if needed > there:
        raise TooLarge(
            f"a model of such settings has {needed / 1e9:,.1f} GB of parameters, and this machine has "
            f"{there / 1e9:,.1f} GB of memory; make it narrower."
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(relations, config)


def _size(kind: type[Model], relations: int, config: ModelConfig) -> int:
    """The bytes of all parameters and buffers, from shapes alone; 0 where these cannot be told beforehand."""
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            held = kind(relations, config).state_dict().values()
    except (
        NotImplementedError,
        RuntimeError,
        TypeError,
    ):  # a model that looks at its initial values cannot be made of shapes
        return 0
    return sum(value.numel() * value.element_size() for value in held)


def device_of(name: str) -> torch.device:
    """A device by name: `cpu`, `cuda`, `cuda:1`, `mps`, or `auto` for the best there is.

    Raises:
        BadArgument: this machine, or this build of torch, has none such.
    """
    have: Sequence[str] = (
        *(["cuda"] if torch.cuda.is_available() else []),
        *(["mps"] if torch.backends.mps.is_available() else []),
        "cpu",
    )
    if name == "auto":
        return torch.device(have[0])
    if name.partition(":")[0] not in have:
        raise BadArgument(f"there is no device {name!r} here; choose among {', '.join(have)} and auto.")
    return torch.device(name)
