"""The trained model as a reasoner: the one module here that asks `learn` for anything, and so loads torch."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, final

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.data.dataset import Dataset
from epignn.data.statements import directed
from epignn.errors import BadArgument
from epignn.explain import neural
from epignn.explain.explanation import Explanation, Floats
from epignn.formats.networks import read_raw
from epignn.formats.told import Told
from epignn.reason.answer import Answer, Facts, Question, Reasoner
from epignn.reason.exact import Exact
from epignn.reason.folders import distilled_beside, model_folder
from epignn.reason.learnt import Learnt

if TYPE_CHECKING:
    from epignn.learn.checkpoint import Trained
    from epignn.learn.config import Experiment


@final
class Neural(Reasoner):
    """The Epistemic GNN.

    A model whose labels are the relations of a calculus reads a `Network`: converses are known, so that facts may
    point either way. Any other model, of kinship terms for instance, reads `Statements` in their own direction.

    Args:
        experiment: model and training, by name or itself.
        seed: of the training run.
        threshold: a relation of at least this probability may still hold, in explanations.
    """

    def __init__(
        self, experiment: "str | Experiment" = "rcc8", seed: int = 0, threshold: float = neural.THRESHOLD
    ) -> None:
        self.experiment, self.seed, self.threshold = experiment, seed, threshold
        self._trained: Trained | None = None
        self._learnt: Learnt | None = None
        self._examples: Dataset | None = None
        self._words: Calculus | None = None

    @classmethod
    def of(cls, trained: "Trained", learnt: Learnt | None = None, threshold: float = neural.THRESHOLD) -> Self:
        """A trained model, and what was distilled from it, if anything was."""
        self = cls(trained.experiment, trained.seed, threshold)
        self._trained, self._learnt = trained, learnt
        return self

    @classmethod
    def load(cls, name: str, threshold: float = neural.THRESHOLD) -> Self:
        """One that was trained before: a run folder, a weights file, or the name of a shipped model."""
        from epignn.learn.checkpoint import load_model

        folder, trained = model_folder(name), load_model(name)
        if trained.config.ranks:
            raise BadArgument(
                f"{name} is a model of links, which answers about triples: epignn predict {name} TRIPLES.tsv "
                f"--head A --relation R --paths tells answers and their reasons, epignn distil {name} its rules."
            )
        found = distilled_beside(folder) if folder else None
        return cls.of(trained, Learnt.of(found) if found else None, threshold)

    def worded(self, told: Told) -> Self:
        """The same model, which explains itself in the words of some facts."""
        if self.calculus is None:
            return self
        found = self.of(self.trained_, self.learnt_ and self.learnt_.worded(told), self.threshold)
        found._words = told.spoken(self.calculus)
        return found

    def fit(self, data: Dataset) -> Self:
        """Train a model, and calibrate it on the graphs kept for validation."""
        from epignn.learn.config import load_experiment
        from epignn.learn.run import train_on

        experiment = load_experiment(self.experiment) if isinstance(self.experiment, str) else self.experiment
        self._trained = train_on(data, experiment, self.seed).trained
        self._learnt, self._examples = None, data
        return self

    # -- what it is --

    @property
    def trained_(self) -> "Trained":
        """The model that was trained."""
        if self._trained is None:
            raise BadArgument("it has learnt nothing yet; call fit first, or load one that has.")
        return self._trained

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that it tells apart."""
        return self.trained_.relations

    @property
    def calculus(self) -> Calculus | None:
        """The calculus whose base relations these are, if it was trained on one."""
        name = self.trained_.experiment.calculus
        return load(name) if name and load(name).relations == self.relations else None

    @property
    def exact(self) -> Exact | None:
        """Exact reasoning about its relations: in its calculus, or in the first that knows all of them as words."""
        name = self.trained_.experiment.calculus
        known = (c for c in map(load, [name] if name else CALCULI) if all(map(c.knows, self.relations)))
        return next((Exact(calculus, self.relations) for calculus in known), None)

    @property
    def learnt_(self) -> Learnt | None:
        """What was distilled from it, and proves its answers; None if nothing was.

        A calculus that is not beside the weights is read off them alone. Rules are distilled from the examples that
        it was fitted to, or have to be beside the weights.
        """
        if self._learnt is None:
            self._learnt = self._distil()
        if self._learnt is not None and self._learnt.relations != self.relations:
            other = "the calculus or the rules beside it speak of other relations; distil them anew"
            raise BadArgument(f"the model speaks of {' '.join(self.relations)}, {other}.")
        return self._learnt

    def _distil(self) -> Learnt | None:
        from epignn.distil.calculus import distil_calculus
        from epignn.distil.learnt import distil
        from epignn.distil.reading import read_weights
        from epignn.models.epignn import EpiGNN

        trained = self.trained_
        if not isinstance(trained.model, EpiGNN):
            return None
        if self.calculus is not None:
            name, reading = f"{Path(trained.name).stem}-learnt", read_weights(trained.model, trained.relations)
            return Learnt.of(distil_calculus(reading, None, name, "read off the weights alone").calculus)
        if self._examples is None:
            return None
        return Learnt.of(distil(trained.model, trained.relations, trained.experiment, self._examples))

    # -- what it answers --

    def read(self, told: Told) -> Facts:
        """Facts over its calculus, or over its vocabulary."""
        return told.statements(self.relations) if self.calculus is None else told.network(self.calculus)

    def graph(self, facts: Facts, head: str, tail: str) -> Dataset:
        """A question as the graph that the model reads.

        Raises:
            UnknownName: no fact names one of the two.
            BadArgument: the facts are over other relations, one has several, none connect the two, or they are one.
        """
        self._check(facts, head, tail)
        return self._graph(facts, head, tail)

    def graphs(self, path: str, head: str, tail: str) -> Dataset:
        """The networks of a file as graphs that ask about one pair."""
        each = [Told([raw], path) for raw in read_raw(path)]
        return Dataset.concat([self.graph(self.read(told), head, tail) for told in each])

    def _check(self, facts: Facts, head: str, tail: str) -> None:
        """Refuse what is no question for this model."""
        relations = facts.calculus.relations if isinstance(facts, Network) else facts.relations
        if relations != self.relations:
            other = facts.calculus.name if isinstance(facts, Network) else " ".join(relations)
            known = " ".join(self.relations)
            raise BadArgument(f"the model {self.trained_.name} speaks of {known}, the facts of {other}.")
        for name in (head, tail):
            facts.position(name)
        if head == tail:
            raise BadArgument(f"{head!r} is asked about itself; name two entities.")

    def _graph(self, facts: Facts, head: str, tail: str) -> Dataset:
        read = directed(facts, head)
        if not read.leads(head, tail):
            if isinstance(facts, Network):
                raise BadArgument(f"no facts connect {head!r} with {tail!r}; add some, or ask about another pair.")
            path = f"no path leads from head to tail, {head!r} to {tail!r}"
            raise BadArgument(f"{path}; add facts that connect them, or turn facts round.")
        return read.graph(head, tail)

    def answer(self, questions: Dataset | Sequence[Question]) -> list[Answer]:
        """The likeliest relation of every pair that is asked about, and the next, with their probabilities."""
        if not isinstance(questions, Dataset):
            return self._answer_each(questions)
        chances = self.probabilities(questions)
        order = np.argsort(-chances, axis=1, kind="stable")[:, :2]
        names = self.relations
        return [
            Answer(names[first], (names[first],), float(row[first]), names[second], float(row[second]))
            for row, (first, second) in zip(chances, order.tolist(), strict=True)
        ]

    def _answer_each(self, questions: Sequence[Question]) -> list[Answer]:
        """The same where some questions may have no answer: facts of several relations, or none that lead there."""
        graphs, reasons = [], {}
        for number, (facts, *pair) in enumerate(questions):
            self._check(facts, *pair)
            try:
                graphs.append(self._graph(facts, *pair))
            except BadArgument as error:
                reasons[number] = f"no answer: {error}"
        found = iter(self.answer(Dataset.concat(graphs)) if graphs else ())
        return [Answer.none(reasons[n]) if n in reasons else next(found) for n in range(len(questions))]

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The likeliest relation of every pair that is asked about.

        Raises:
            BadArgument: a question has no answer.
        """
        found = self.answer(questions)
        for reason in (answer.reason for answer in found if answer.reason):
            raise BadArgument(reason)
        return [answer.relation for answer in found]

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation:
        """The model's answer with probabilities and states, and the proof by its distilled calculus or rules."""
        self._check(facts, head, tail)
        by = self.learnt_.explain(facts, head, tail) if self.learnt_ else None
        names = [self._words.format(1 << r) for r in range(len(self.relations))] if self._words else self.relations
        return neural.explain(self, facts, head, tail, by, self.threshold, names=tuple(names))

    # -- what an explanation asks of it --

    def probabilities(self, data: Dataset) -> Floats:
        """(G, R): the softmax of scores, at the calibrated temperature or that of training."""
        from epignn.learn.evaluate import scores

        model = self.trained_.model
        return self._softmax(scores(model, type(model).prepare(data, model.config)))

    def by_rounds(self, data: Dataset) -> Iterator[Floats]:
        """The same after one round, two, and so on, if the model went forward only."""
        import torch

        with torch.no_grad():
            for found in self.trained_.model.by_rounds(data):
                yield self._softmax(found.cpu().numpy())

    def _softmax(self, scores: NDArray[np.floating]) -> Floats:
        from epignn.learn.calibrate import softmax

        return softmax(scores.astype(np.float64), self.trained_.temperature)

    def rounds(self, entities: int) -> int:
        """How many rounds it takes to reach so many entities; 0 where a model has no states by rounds."""
        model = self.trained_.model
        if not hasattr(model, "by_rounds"):
            return 0
        return entities + 1 if model.config.rounds == "auto" else int(model.config.rounds)

    def reach(self, rounds: int) -> float:
        """How many facts away an entity may be to have a state after so many rounds.

        Full closure has none of a pair until paths of that length are joined, to twice the length in every round.
        """
        return 2**rounds if self.trained_.model.config.closure == "full" else math.inf
