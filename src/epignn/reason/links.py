"""Links: who is the tail of (head, relation, ?) in a knowledge graph, asked of one trained model or of several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Self, final

import numpy as np

from epignn.data.graph import Graph, Ints, Side, both_sides
from epignn.errors import BadArgument
from epignn.explain.support import Path, PathFinder
from epignn.learn.checkpoint import Trained, load_model
from epignn.learn.config import load_experiment
from epignn.learn.fit import Epoch
from epignn.learn.objectives.rank import Rank, RankConfig
from epignn.learn.protocols import Negatives, load_negatives, measure, save_negatives, stored_negatives
from epignn.learn.run import Run, train
from epignn.learn.scorers import Mean, scorer_of, translated
from epignn.models.api import Scorer, device_of
from epignn.models.baselines import BASELINES
from epignn.models.epignn import EpiGNN
from epignn.reason.answers import Answers, LinkAnswer
from epignn.reason.asking import Asking, stated
from epignn.reason.rows import frame, library_of, pairs, read_rows
from epignn.tasks import task_of
from epignn.tasks.api import LinkTask, Report
from epignn.tasks.links import graph_of, hold_out, read_graph

Question = tuple[str, str]
ROWS = 200_000
"""About so many answers are held at once."""


@final
class Links:
    """Trained link prediction models; of several, the mean of their normalised scores answers.

    Args:
        trained: a model; the graphs that it is asked about may be new to it.
        others: further ones.
        pruned: the share of entities that a pass follows at most; 1 is exact. See `epignn.models.pruned`.
    """

    def __init__(self, trained: Trained, *others: Trained, pruned: float = 1.0) -> None:
        self.models, self.pruned = (trained, *others), pruned
        for model in self.models:
            if not model.config.ranks:
                raise BadArgument(f"{model.name} classifies graphs; a model for links is trained on triples.")
        self.trained = trained
        self.graph_: Graph | None = None
        self.held_out_: Side | None = None
        self.run_: Run | None = None
        self._like: str | None = None
        self._asked: tuple[Graph, tuple[Any, ...], Asking] | None = None

    @classmethod
    def load(cls, name: str, device: str = "cpu", code: Iterable[FilePath | str] = (), pruned: float = 1.0) -> Self:
        """One that was trained before: a run folder, or a weights file in one; several with commas between."""
        names = [name] if FilePath(name).exists() else name.split(",")
        return cls(*(load_model(one, device, code) for one in names), pruned=pruned)

    @classmethod
    def fit(
        cls,
        triples: Any,
        *,
        settings: Sequence[str] = (),
        seed: int = 0,
        out: FilePath | str | None = None,
        device: str = "cpu",
        report: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """Train a model on triples of one's own; a tenth is held out for validation, a tenth for the test.

        Args:
            triples: a list of (head, relation, tail), a data frame of pandas or polars with these columns or with
                three columns, or the path of a file.
            settings: as given to `epignn train --set`, such as `training.epochs=100`.
            seed: of initial values and of what is held out.
            out: a run folder, which `load` reads and an interrupted run goes on from.
            device: where the model is trained.
            report: called after every epoch.

        The result knows all triples that were given: `predict` asks about them. `held_out_` has what was held out,
        `run_` the history.
        """
        file, like = read_rows(triples)
        experiment = load_experiment("links", settings)
        if not isinstance(experiment.objective, RankConfig):
            raise BadArgument(f"links are learnt by objective.kind = 'rank', not {experiment.objective.kind!r}.")
        links = hold_out(file, seed)
        objective = Rank(experiment.objective, links.train, device_of(device))
        folder = None if out is None else FilePath(out)
        run = train(experiment, objective, seed=seed, out=folder, device=device, report=report)
        found = cls(run.trained)
        found.run_, found.held_out_, found._like = run, links.test, like
        found.graph_, _ = graph_of(file, run.trained.relations)
        return found

    def predict(
        self,
        heads: Any,
        relation: Any,
        top: int = 10,
        *,
        graph: Any = None,
        include_known: bool = False,
        least: float = 0.0,
        paths: bool = False,
    ) -> Any:
        """The likeliest tails of some heads.

        Args:
            heads: an entity, or a list or column of them.
            relation: asked of every head; or a list or column with one for each head. `name^-1` asks backwards.
            top: how many answers to each.
            graph: the facts, in any form that `fit` takes; those of `fit` where left out. Entities may be new.
            include_known: rank what the graph states too.
            least: leave out answers of a smaller probability.
            paths: tell the path of facts that supports each answer.

        Returns:
            A list of `LinkAnswer` for lists; a data frame of the library that heads or triples came from.
        """
        like = library_of(heads) or self._like
        facts = self.graph_
        if graph is not None:
            file, named = read_rows(graph)
            facts, like = graph_of(file, self.relations)[0], like or named
        if facts is None:
            raise BadArgument("which facts? Give graph=, a list of triples, a data frame or a file.")
        found = self.answer(facts, pairs(heads, relation), top, include_known, paths, least=least)
        return found if like is None else frame([one.to_dict() for one in found], like, paths)

    @property
    def name(self) -> str:
        """The name of the model, or of all."""
        return ",".join(model.name for model in self.models)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """All relations that a model knows."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.relations))

    def graph(self, path: FilePath) -> tuple[Graph, list[str]]:
        """The facts of a file, with the model's relations first, and notes on what a person should know."""
        return read_graph(path, self.relations)

    def scorer(self, graph: Graph) -> Scorer:
        """What scores all entities of a graph; relations that no model knows tell nothing."""
        each = self.scorers(graph)
        return each[0] if len(each) == 1 else Mean(each)

    def scorers(self, graph: Graph) -> list[Scorer]:
        """The same, of each model by itself."""
        return [scorer_of(model.model, model.relations, graph, self.pruned) for model in self.models]

    # -- answers --

    def answers(
        self,
        graph: Graph,
        questions: Sequence[tuple[int, Ints]],
        top: int = 10,
        include_known: bool = False,
        least: float = 0.0,
        report: Report | None = None,
    ) -> Iterator[Answers]:
        """The likeliest answers to questions of many heads, in parts, as they are found.

        Args:
            graph: the facts.
            questions: heads, each with the relations that are asked of it, by number.
            top: how many answers to each.
            include_known: rank what the graph states too.
            least: leave out answers of a smaller probability.
            report: called with heads done and heads in all.
        """
        if top < 1:
            raise BadArgument(f"top must be 1 or more, not {top}.")
        asking = self._asking(graph, top, include_known, least)
        first = rows = 0
        for done, (_, relations) in enumerate(questions, 1):
            rows += top * len(relations)
            if done - first >= asking.chunk or rows >= ROWS or done == len(questions):
                yield asking.ask(questions[first:done])
                first, rows = done, 0
            if report is not None:
                report(done, len(questions))

    def _asking(self, graph: Graph, *how: Any) -> Asking:
        """What questions about a graph share; kept, because all shards of a table ask the same graph."""
        if self._asked is None or self._asked[0] is not graph or self._asked[1] != how:
            self._asked = graph, how, Asking(self.models, self.scorers(graph), graph, *how)
        return self._asked[2]

    def answer(
        self,
        graph: Graph,
        questions: Sequence[Question],
        top: int = 10,
        include_known: bool = False,
        paths: bool = True,
        report: Report | None = None,
        least: float = 0.0,
    ) -> list[LinkAnswer]:
        """The likeliest answers to each (head, relation), in the order of the questions.

        Args:
            graph: the facts.
            questions: names of head and relation; `relation^-1` asks for the heads of a tail.
            top: how many answers to each.
            include_known: rank what the graph states too.
            paths: find the supporting path of each answer, where the model composes relations.
            report: called with heads done and heads in all.
            least: leave out answers of a smaller probability.
        """
        asked = by_first_head(graph, questions)
        finder = self.finder(graph) if paths else None
        found: dict[Question, list[LinkAnswer]] = {}
        for part in self.answers(graph, asked, top, include_known, least, report):
            for one in part.rows(finder):
                found.setdefault((one.head, one.relation), []).append(one)
        return [one for question in questions for one in found.get(question, [])]

    def finder(self, graph: Graph) -> "Support | None":
        """What finds supporting paths in a graph; None where no model composes relations."""
        for model in self.models:
            if isinstance(model.model, EpiGNN):
                own, number = translated(graph, model.relations)
                return Support(PathFinder(own, model.model), number)
        return None

    def stated(self, graph: Graph, questions: Iterable[tuple[int, Ints]]) -> int:
        """How many answers of some questions the graph states already."""
        known = stated(graph)
        return sum(len(known.answers(head, int(r))) for head, relations in questions for r in relations)

    # -- evaluation --

    def side(self, name: str) -> tuple[Side, list[str]]:
        """The test side of a task, and notes on what a person should know.

        Raises:
            BadArgument: the task has no links, or no test triples.
        """
        task = task_of(name)
        if not isinstance(task, LinkTask):
            raise BadArgument(f"{name} holds labelled graphs; {self.name} predicts links.")
        # The seed of the run holds out of a single file what was held out in training.
        found = task.links(self.trained.seed)
        for model in self.models[1:]:
            if not np.array_equal(task.links(model.seed).test.test, found.test.test):
                raise BadArgument(
                    f"{self.trained.name} and {model.name} have other seeds, so that each was trained on test "
                    f"triples of the other; they are compared on a folder with test.txt, not on {name}."
                )
        if not len(found.test.test):
            raise BadArgument(
                f"{name} has no test triples; a folder has them in test.txt, or in that of its _ind twin."
            )
        strange = sorted(set(_used(found.test)) - set(self.relations))
        if strange and not set(_used(found.test)) & set(self.relations):
            raise BadArgument(f"{name} has no relation that {self.name} knows, such as {self.relations[0]!r}.")
        notes = list(found.notes)
        if FilePath(name).is_file():
            others = [one.name for one in self.models if _learnt_elsewhere(one, found.train)]
            if others:
                notes.append(
                    f"{name} is not the file that {' and '.join(others)} learnt from: questions are held out of it "
                    "now, and those of triples that both files have may have been learnt"
                )
        if strange and not any("never saw" in note for note in notes):
            notes.append(f"{name}: training never saw {', '.join(map(repr, strange[:5]))}; chance answers there")
        return found.test, notes

    def evaluate(
        self, side: Side, negatives: Negatives | None = None, report: Report | None = None
    ) -> dict[str, dict[str, float]]:
        """Every protocol, for the model and for scorers that learn nothing.

        Raises:
            BadArgument: this is no side, such as what a model that was loaded does not know to be held out.
        """
        if not isinstance(side, Side):
            raise BadArgument(
                f"what is it to be tested on? Not {side!r}: give what `links.side(NAME)[0]` has of a file, a "
                "folder or a data set; `held_out_` is there after `fit`."
            )
        stored = negatives or stored_negatives(side)
        return {"model": measure(self.scorer(side.graph), side, stored, report), **baselines(side, stored)}


def _learnt_elsewhere(model: Trained, side: Side) -> bool:
    """Whether a model is known to have learnt from other triples."""
    data, digest = model.experiment.data, model.config.digest
    return isinstance(data, LinkTask) and data.holdout == "triples" and digest not in ("", side.digest())


def baselines(side: Side, negatives: Negatives) -> dict[str, dict[str, float]]:
    """Every protocol, for scorers that learn nothing."""
    return {name: measure(make(side.graph), side, negatives) for name, make in BASELINES.items()}


class Support:
    """Finds supporting paths, asked in a graph's own numbers of relations."""

    def __init__(self, finder: PathFinder, number: Ints) -> None:
        self._finder, self._number = finder, number

    def best(self, head: int, relation: int, tail: int) -> Path | None:
        """The path from head to tail that fits a relation best; None where there is none, or none can be asked."""
        own = int(self._number[relation])
        return self._finder.best(head, own, tail) if own >= 0 and head != tail else None


def _used(side: Side) -> list[str]:
    """The relations of a side's triples."""
    used = np.unique(np.concatenate([side.graph.facts[:, 1], side.test[:, 1]]))
    return [side.graph.relations[r] for r in used.tolist()]


def by_first_head(graph: Graph, questions: Iterable[Question]) -> list[tuple[int, Ints]]:
    """Questions by head, in the order in which heads, and relations of each, occur first.

    Raises:
        UnknownName: the graph does not have an entity or a relation; with the near misses.
    """
    asked: dict[int, dict[int, None]] = {}
    number: dict[str, int] = {}
    for head, relation in questions:
        if relation not in number:
            number[relation] = graph.relation(relation)
        asked.setdefault(graph.entity(head), {})[number[relation]] = None
    return [(head, np.array(list(relations), dtype=np.int32)) for head, relations in asked.items()]


def every_question(graph: Graph, relations: Sequence[str] = ()) -> list[tuple[int, Ints]]:
    """All heads with some relations, or with all that occur in a fact."""
    used = np.unique(graph.facts[:, 1]).astype(np.int32)
    asked = np.array([graph.relation(name) for name in relations], dtype=np.int32) if relations else used
    return [(head, asked) for head in range(len(graph.entities))]


def negatives_of(side: Side, path: FilePath | None) -> Negatives:
    """Stored negatives: read where the file is there, drawn and written where it is not."""
    if path is not None and path.exists():
        return load_negatives(path, both_sides(side.test, len(side.graph.relations)))
    drawn = stored_negatives(side)
    if path is not None:
        save_negatives(path, drawn)
    return drawn
