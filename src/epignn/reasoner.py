"""Three reasoners behind one interface: a calculus that is known, one that is learnt, and the neural model itself.

In the manner of scikit-learn: constructors only keep their arguments, `fit` learns from problems with answers and
returns the reasoner, and what was learnt has a name that ends in an underscore. Only what learns loads torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, final

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.closure import close
from epignn.calculus.network import Network
from epignn.data.dataset import Dataset
from epignn.data.prove import answers
from epignn.errors import BadArgument
from epignn.explain import symbolic
from epignn.explain.symbolic import Explanation

if TYPE_CHECKING:
    from epignn.bench.config import Experiment
    from epignn.bench.store import Trained
    from epignn.explain.neural import NeuralExplanation

T = TypeVar("T")
Question = tuple[Network, str, str]
"""Facts, and the pair that is asked about."""


class Reasoner(Protocol):
    """What all reasoners do."""

    def fit(self, data: Dataset) -> Self:
        """Learn from problems with answers."""

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The relations that may hold, for every question: `PO`, or `DC|EC`; `∅` where facts clash."""

    def explain(self, network: Network, head: str, tail: str) -> "Explanation | NeuralExplanation":
        """The answer to one question, and why."""


class _Closure(ABC):
    """Complete closure in a calculus, wherever it comes from."""

    @property
    @abstractmethod
    def calculus_(self) -> Calculus:
        """The calculus."""

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """What closure leaves of every pair that is asked about."""
        calculus = self.calculus_
        if isinstance(questions, Dataset):
            _same(calculus, questions.relations)
            return [calculus.format(mask) for mask in answers(questions, calculus).tolist()]
        results = [(close(_over(calculus, network)), pair) for network, *pair in questions]
        return [calculus.format(found.relations(*pair) if found.consistent else 0) for found, pair in results]

    def explain(self, network: Network, head: str, tail: str) -> Explanation:
        """The answer of closure, with its proof."""
        return symbolic.explain(_over(self.calculus_, network), head, tail)


@final
class Exact(_Closure):
    """Complete closure in a known calculus; there is nothing to learn.

    Args:
        calculus: one that epignn knows, by name, a `.toml` file, or a calculus itself.

    >>> rcc8 = load("rcc8")
    >>> network = Network.of(rcc8, [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")])
    >>> Exact("rcc8").predict([(network, "a", "c"), (network, "d", "b")])
    ['PO', 'DC|EC']
    """

    def __init__(self, calculus: str | Calculus = "rcc8") -> None:
        self.calculus = calculus

    @property
    def calculus_(self) -> Calculus:
        """The calculus."""
        return load(self.calculus) if isinstance(self.calculus, str) else self.calculus

    def fit(self, data: Dataset) -> Self:
        """Check that the problems are of this calculus.

        Raises:
            BadArgument: they speak of other relations.
        """
        _same(self.calculus_, data.relations)
        return self


@final
class Learnt(_Closure):
    """Complete closure in the calculus that is distilled from a model trained on examples.

    Args:
        experiment: model and training, by name or itself.
        seed: of the training run.
    """

    def __init__(self, experiment: "str | Experiment" = "rcc8", seed: int = 0) -> None:
        self.experiment, self.seed = experiment, seed
        self._calculus: Calculus | None = None

    @classmethod
    def load(cls, name: str) -> Self:
        """One that was learnt before: a `.toml` file, or a model by name or run folder."""
        from epignn.explain.distilled import calculus_of

        self = cls(name)
        self._calculus = load(name) if name.endswith(".toml") else calculus_of(name)
        return self

    @property
    def calculus_(self) -> Calculus:
        """The calculus that was learnt."""
        return _fitted(self._calculus)

    def fit(self, data: Dataset) -> Self:
        """Train a model and distil a calculus from it, certified by the same examples."""
        from epignn.distil.calculus import distil_calculus
        from epignn.distil.reading import read_weights

        trained = Neural(self.experiment, self.seed).fit(data).trained_
        self._calculus = distil_calculus(read_weights(trained.model, trained.relations), data).calculus
        return self


@final
class Neural:
    """The Epistemic GNN.

    Args:
        experiment: model and training, by name or itself.
        seed: of the training run.
        threshold: a relation of at least this probability may still hold, in explanations.
    """

    def __init__(self, experiment: "str | Experiment" = "rcc8", seed: int = 0, threshold: float = 0.05) -> None:
        self.experiment, self.seed, self.threshold = experiment, seed, threshold
        self._trained: Trained | None = None
        self._calculus: Calculus | None = None

    @classmethod
    def load(cls, name: str, threshold: float = 0.05) -> Self:
        """One that was trained before: a run folder, a weights file, or the name of a shipped model."""
        from epignn.bench.store import load_model
        from epignn.explain.distilled import calculus_of

        self = cls(name, threshold=threshold)
        self._trained, self._calculus = load_model(name), calculus_of(name)
        return self

    @property
    def trained_(self) -> "Trained":
        """The model that was trained."""
        return _fitted(self._trained)

    @property
    def calculus_(self) -> Calculus:
        """What was distilled from it, and proves its answers."""
        return _fitted(self._calculus)

    def fit(self, data: Dataset) -> Self:
        """Train a model, calibrate it on the graphs kept for validation, and read its table off the weights."""
        from epignn.bench.calibrate import calibrate
        from epignn.bench.config import load_experiment
        from epignn.bench.sources import split
        from epignn.bench.store import Trained
        from epignn.bench.train import fit
        from epignn.explain.distilled import from_weights

        experiment = load_experiment(self.experiment) if isinstance(self.experiment, str) else self.experiment
        train, validation = split((data, None), experiment.data, experiment.model, self.seed)
        model = fit(experiment, train, validation, self.seed)
        heat = (
            calibrate(model, validation, experiment.training.temperature).temperature if len(validation) else None
        )
        self._trained = Trained(experiment.name, model, experiment, data.relations, self.seed, {}, heat)
        self._calculus = from_weights(self._trained)
        return self

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The likeliest relation of every pair that is asked about."""
        from epignn.bench.answer import graph_of, predict

        trained = self.trained_
        if not isinstance(questions, Dataset):
            graphs = [graph_of(trained, _over(self.calculus_, network), *pair) for network, *pair in questions]
            questions = Dataset.concat(graphs)
        return [answer.relation for answer in predict(trained, questions)]

    def explain(self, network: Network, head: str, tail: str) -> "NeuralExplanation":
        """The model's answer with probabilities and states, and the proof by its distilled calculus."""
        from epignn.explain import neural

        network = _over(self.calculus_, network)
        return neural.explain(self.trained_, self.calculus_, network, head, tail, self.threshold)


def _fitted(value: T | None) -> T:
    if value is None:
        raise BadArgument("it has learnt nothing yet; call fit first, or load one that has.")
    return value


def _same(calculus: Calculus, relations: tuple[str, ...]) -> None:
    if calculus.relations != relations:
        raise BadArgument(
            f"{calculus.name} speaks of {' '.join(calculus.relations)}, not of {' '.join(relations)}."
        )


def _over(calculus: Calculus, network: Network) -> Network:
    """The same facts, to be reasoned about with this calculus."""
    _same(calculus, network.calculus.relations)
    return Network(calculus, network.names, network.heads, network.tails, network.masks, network.title)
