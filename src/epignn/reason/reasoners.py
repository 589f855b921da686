"""Three reasoners behind one interface: a calculus that is known, one that is learnt, and the neural model itself.

In the manner of scikit-learn: constructors only keep their arguments, `fit` learns from problems with answers and
returns the reasoner, and what was learnt has a name that ends in an underscore. Only what learns loads torch.

Facts are a `Network` over a calculus. Those of a model whose relations belong to none, such as kinship, are
`Statements`; rules then take the place of the learnt calculus.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, final

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset
from epignn.data.prove import answers
from epignn.data.statements import Statements
from epignn.distil.reason import reason
from epignn.distil.rules import RuleSet
from epignn.distil.rules_file import is_rule_file, load_rules
from epignn.errors import BadArgument
from epignn.explain import ruled, symbolic
from epignn.explain.ruled import RuleExplanation
from epignn.explain.symbolic import Explanation

if TYPE_CHECKING:
    from epignn.explain.neural import NeuralExplanation
    from epignn.explain.vocabulary import VocabularyExplanation
    from epignn.learn.checkpoint import Trained
    from epignn.learn.config import Experiment

T = TypeVar("T")
Facts = Network | Statements
Question = tuple[Network, str, str] | tuple[Statements, str, str]
"""Facts, and the pair that is asked about."""


class Reasoner(Protocol):
    """What all reasoners do."""

    def fit(self, data: Dataset) -> Self:
        """Learn from problems with answers."""

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The relations that may hold, for every question: `PO`, or `DC|EC`; `∅` where facts clash."""

    def explain(
        self, facts: Facts, head: str, tail: str
    ) -> "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation":
        """The answer to one question, and why."""


@final
class Exact:
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

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """What closure leaves of every pair that is asked about."""
        return _closed(self.calculus_, questions)

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation:
        """The answer of closure, with its proof."""
        return symbolic.explain(_over(self.calculus_, facts), head, tail)


@final
class Learnt:
    """Exact reasoning with what is distilled from a model trained on examples: a calculus, or else rules.

    Args:
        experiment: model and training, by name or itself.
        seed: of the training run.
    """

    def __init__(self, experiment: "str | Experiment" = "rcc8", seed: int = 0) -> None:
        self.experiment, self.seed = experiment, seed
        self._learnt: Calculus | RuleSet | None = None

    @classmethod
    def load(cls, name: str) -> Self:
        """One that was learnt before: a `.toml` file, or a model by name or run folder.

        Raises:
            BadArgument: no rules are beside a model that needs some.
        """
        self = cls(name)
        if name.endswith(".toml"):
            self._learnt = load_rules(Path(name)) if is_rule_file(Path(name)) else load(name)
            return self
        from epignn.explain.distilled import calculus_of, rules_of
        from epignn.learn.checkpoint import folder_of, load_config

        if load_config(folder_of(name))[0].data.calculus:
            self._learnt = calculus_of(name)
        elif (rules := rules_of(name)) is not None:
            self._learnt = rules
        else:
            raise BadArgument(
                f"no rules are beside {name}; epignn distil {name} --out {name}/rules.toml makes them."
            )
        return self

    @property
    def calculus_(self) -> Calculus:
        """The calculus that was learnt."""
        if isinstance(self._learnt, RuleSet):
            raise BadArgument("it has learnt rules, not a calculus.")
        return _fitted(self._learnt)

    @property
    def rules_(self) -> RuleSet:
        """The rules that were learnt."""
        if isinstance(self._learnt, Calculus):
            raise BadArgument("it has learnt a calculus, not rules.")
        return _fitted(self._learnt)

    def fit(self, data: Dataset) -> Self:
        """Train a model and distil a calculus from it, or rules, certified by the same examples."""
        from epignn.distil.calculus import distil_calculus
        from epignn.distil.reading import read_weights

        neural = Neural(self.experiment, self.seed).fit(data)
        trained = neural.trained_
        if trained.experiment.data.calculus:
            self._learnt = distil_calculus(read_weights(trained.model, trained.relations), data).calculus
        else:
            self._learnt = neural.rules_
        return self

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """What closure leaves, or rules derive, of every pair asked about; `?` where these derive nothing."""
        if not isinstance(self._learnt, RuleSet):
            return _closed(self.calculus_, questions)
        if not isinstance(questions, Dataset):
            questions = Dataset.concat([_stated(self.rules_, facts).graph(*pair) for facts, *pair in questions])
        rows = reason(self.rules_, questions).possible
        return ["|".join(self.rules_.relations[r] for r in row.nonzero()[0]) or "?" for row in rows]

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation | RuleExplanation:
        """The answer of closure or of rules, with its proof."""
        if not isinstance(self._learnt, RuleSet):
            return symbolic.explain(_over(self.calculus_, facts), head, tail)
        return ruled.explain(self.rules_, _stated(self.rules_, facts), head, tail)


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
        self._rules: RuleSet | None = None

    @classmethod
    def load(cls, name: str, threshold: float = 0.05) -> Self:
        """One that was trained before: a run folder, a weights file, or the name of a shipped model."""
        from epignn.explain.distilled import calculus_of, rules_of
        from epignn.learn.checkpoint import load_model

        self = cls(name, threshold=threshold)
        self._trained = load_model(name)
        if self._trained.experiment.data.calculus:
            self._calculus = calculus_of(name)
        else:
            self._rules = rules_of(name)
        return self

    @property
    def trained_(self) -> "Trained":
        """The model that was trained."""
        return _fitted(self._trained)

    @property
    def calculus_(self) -> Calculus:
        """What was distilled from it, and proves its answers."""
        return _fitted(self._calculus)

    @property
    def rules_(self) -> RuleSet:
        """The rules that were distilled from it, where its relations belong to no calculus."""
        return _fitted(self._rules)

    def fit(self, data: Dataset) -> Self:
        """Train a model, calibrate it on the graphs kept for validation, and read its table, or rules, off it."""
        from epignn.distil.learnt import distil
        from epignn.explain.distilled import from_weights
        from epignn.learn.calibrate import calibrate
        from epignn.learn.checkpoint import Trained
        from epignn.learn.config import load_experiment
        from epignn.learn.fit import fit
        from epignn.learn.sources import split

        experiment = load_experiment(self.experiment) if isinstance(self.experiment, str) else self.experiment
        train, validation = split((data, None), experiment.data, experiment.model, self.seed)
        model = fit(experiment, train, validation, self.seed)
        heat = (
            calibrate(model, validation, experiment.training.temperature).temperature if len(validation) else None
        )
        self._trained = Trained(experiment.name, model, experiment, data.relations, self.seed, {}, heat)
        if experiment.data.calculus:
            self._calculus = from_weights(self._trained)
        else:
            learnt = distil(model, data.relations, experiment, data)
            assert isinstance(learnt, RuleSet)
            self._rules = learnt
        return self

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The likeliest relation of every pair that is asked about."""
        from epignn.learn.answer import graph_of, predict

        trained = self.trained_
        if not isinstance(questions, Dataset):
            graphs = [
                facts.graph(*pair)
                if isinstance(facts, Statements)
                else graph_of(trained, _over(self.calculus_, facts), *pair)
                for facts, *pair in questions
            ]
            questions = Dataset.concat(graphs)
        return [answer.relation for answer in predict(trained, questions)]

    def explain(self, facts: Facts, head: str, tail: str) -> "NeuralExplanation | VocabularyExplanation":
        """The model's answer with probabilities and states, and the proof by its distilled calculus or rules."""
        from epignn.explain import neural, vocabulary

        if isinstance(facts, Statements):
            return vocabulary.explain(self.trained_, self._rules, facts, head, tail, self.threshold)
        network = _over(self.calculus_, facts)
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


def _closed(calculus: Calculus, questions: Dataset | Sequence[Question]) -> list[str]:
    """What complete closure leaves of every pair that is asked about."""
    if isinstance(questions, Dataset):
        _same(calculus, questions.relations)
        return [calculus.format(mask) for mask in answers(questions, calculus).tolist()]
    results = [(close(_over(calculus, facts)), pair) for facts, *pair in questions]
    return [calculus.format(found.relations(*pair) if found.consistent else 0) for found, pair in results]


def _stated(rules: RuleSet, facts: Facts) -> Statements:
    """Facts that rules can be applied to."""
    if not isinstance(facts, Statements):
        raise BadArgument("rules are applied to Statements; a Network is for a calculus.")
    if facts.relations != rules.relations[: rules.named]:
        raise BadArgument(f"the rules speak of {' '.join(rules.relations)}, not of {' '.join(facts.relations)}.")
    return facts


def _over(calculus: Calculus, network: Facts) -> Network:
    """The same facts, to be reasoned about with this calculus."""
    if not isinstance(network, Network):
        raise BadArgument(f"{calculus.name} is a calculus, which a Network is for; Statements are for rules.")
    _same(calculus, network.calculus.relations)
    return Network(calculus, network.names, network.heads, network.tails, network.masks, network.title)
