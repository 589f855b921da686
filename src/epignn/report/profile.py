"""Systematicity profiles: how far beyond its training problems a model still answers rightly.

Accuracy is measured while paths grow and branches stay as many, and while branches grow and paths stay as long; and
so the largest k up to which it holds. Problems are generated from the seed of tests. Of tasks without branches,
walks alone grow; of kinship, those that have one right answer are taken.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.data.figures import figures
from epignn.data.kin_rules import ambiguous_by_rules
from epignn.data.prove import answers
from epignn.entries import Code, is_file
from epignn.errors import BadArgument
from epignn.report import pictures
from epignn.report.record import circumstances
from epignn.report.tables import cell_name
from epignn.tasks import task_of
from epignn.tasks.api import TEST_SEED, GraphTask
from epignn.tasks.families import Families
from epignn.tasks.star import Star

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from epignn.learn.checkpoint import Trained

Cell = dict[str, Any]
Right = Callable[[Dataset], NDArray[np.bool_]]
"""Whether each problem is answered rightly."""
Say = Callable[[int, int, str], None]
"""Called with how many sizes are done, with how many there may be, and with what was found."""
SIZES = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
"""Of k and b, one after the other."""
EXACT = "exact"
"""What the calculus itself is called."""


@dataclass(frozen=True)
class Plan:
    """What is tested.

    Attributes:
        task: a calculus, `families`, or a task of one's own.
        b: branches while paths grow; as many as training graphs have at most.
        k: length of the paths while branches grow; as of training graphs at most.
        longest: paths grow up to here.
        widest: branches grow up to here.
        problems: of each size, about as many.
        floor: a model that falls below this accuracy is tested no further.
        least: the accuracy that is to hold.
        seconds: of a processor; a model that needs more for one size is tested no further.
    """

    task: str
    b: int = 3
    k: int = 4
    longest: int = 30
    widest: int = 12
    problems: int = 400
    floor: float = 0.5
    least: float = 0.95
    seconds: float = 600.0

    def __post_init__(self) -> None:
        for name, least in (("b", 1), ("k", 2), ("longest", 2), ("widest", 1), ("problems", 1)):
            if getattr(self, name) < least:
                raise BadArgument(f"{name} must be {least} or more, not {getattr(self, name)}.")
        for name in ("floor", "least"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadArgument(f"{name} is an accuracy, from 0 to 1, not {getattr(self, name)}.")

    def sizes(self, branches: bool) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(k, b) while k grows, and while b grows; of a task without branches, b is 0 and does not grow."""
        lengths = [k for k in SIZES if 2 <= k <= self.longest]
        if not branches:
            return [(k, 0) for k in lengths], []
        return [(k, self.b) for k in lengths], [(self.k, b) for b in SIZES if b <= self.widest]


@dataclass(frozen=True)
class Holds:
    """The largest k of which it and all smaller ones that were tested hold; None where the least does not.

    Attributes:
        k: by accuracy.
        low: by the lower end of its 95 % interval, which is nearly sure.
        high: by the upper end, which is not excluded.
        last: the largest k that was tested; where it holds, so may larger ones.
    """

    k: int | None
    low: int | None
    high: int | None
    last: int

    def __str__(self) -> str:
        """Such as `9 (7–12)`; `≥ 30` where the largest holds."""
        if self.low == self.high:
            return self._shown(self.k)
        return f"{self._shown(self.k)} ({self._shown(self.low)}–{self._shown(self.high)})"

    def _shown(self, k: int | None) -> str:
        return "none" if k is None else f"≥ {k}" if k == self.last else str(k)


@dataclass(frozen=True)
class Profile:
    """What a model reaches.

    Attributes:
        name: of the model.
        by_k: accuracy while paths grow, a cell each.
        by_b: accuracy while branches grow.
        notes: why it was tested no further, where it did not fall below the floor.
    """

    name: str
    by_k: list[Cell] = field(default_factory=list)
    by_b: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def holds(self, least: float) -> Holds:
        """The largest k up to which an accuracy holds."""
        reached = {}
        for bound in ("accuracy", "low", "high"):
            best = None
            for cell in self.by_k:
                if cell[bound] < least:
                    break
                best = cell["k"]
            reached[bound] = best
        return Holds(reached["accuracy"], reached["low"], reached["high"], self.by_k[-1]["k"])

    def to_dict(self, least: float) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "holds": asdict(self.holds(least))}


def profiles(models: Mapping[str, Right], plan: Plan, task: GraphTask, say: Say | None = None) -> list[Profile]:
    """How accuracy falls: every model on the same problems, until it falls below the floor or the sizes end.

    Raises:
        BadArgument: there is no model, or one cannot take even the smallest problems.
    """
    if not models:
        raise BadArgument("nothing to profile: name a model.")
    found = {name: Profile(name) for name in models}
    by_k, by_b = plan.sizes(isinstance(task, Star))
    make, known = _maker(task, plan.problems), {}
    growth = [*((cell, "by_k") for cell in by_k), *((cell, "by_b") for cell in by_b)]
    fallen: dict[str, set[str]] = {"by_k": set(), "by_b": set()}
    for done, (cell, part) in enumerate(growth, start=1):
        left = {name: right for name, right in models.items() if name not in fallen[part]}
        if not left:
            continue
        missing = {name: right for name, right in left.items() if (name, cell) not in known}
        if missing:
            data = make(*cell)
            for name, right in missing.items():
                known[name, cell] = _tested(found[name], right, data, cell)
        for name in left:
            told = known[name, cell]
            if told is not None:
                getattr(found[name], part).append(told)
            if told is None or told["accuracy"] < plan.floor:
                fallen[part].add(name)
        if say is not None:
            accuracies = {name: one["accuracy"] for name in left if (one := known[name, cell]) is not None}
            told_all = ", ".join(f"{name} {accuracy:.4f}" for name, accuracy in accuracies.items())
            say(done, len(growth), f"{cell_name(*cell)}: {told_all}")
    return list(found.values())


def _tested(profile: Profile, right: Right, data: Dataset, cell: tuple[int, int]) -> Cell | None:
    """What a model reaches on problems of one size; None, and a note, where they are too large for it."""
    try:
        count = int(right(data).sum())
    except BadArgument as error:  # a limit of the model, or of our patience
        if not profile.by_k:
            raise
        profile.notes.append(f"not tested at {cell_name(*cell)} and beyond: {error}")
        return None
    return {**figures(data, count), "k": cell[0], "b": cell[1]}


def _maker(task: GraphTask, count: int) -> Callable[[int, int], Dataset]:
    """What gives about `count` problems of a size, from the seed of tests."""
    if isinstance(task, Families):
        return lambda k, b: _of_one_answer(task.cell(k, b, count, TERMS))
    relations = load(task.task).relations if isinstance(task, Star) else task.examples()[0].relations
    return lambda k, b: task.cell(k, b, -(-count // len(relations)), relations)


def _of_one_answer(data: Dataset) -> Dataset:
    """Walks for which CLUTRR's rules derive one term: about nine of ten."""
    return data.select(~ambiguous_by_rules(data))


def task_for(name: str, code: Code = frozenset()) -> GraphTask:
    """The task of a name, whose problems can be made of any size.

    Raises:
        BadArgument: they cannot.
    """
    name = "families" if name == "kinship" else name
    task = task_of(name, code)
    if not isinstance(task, Star | Families) and not (is_file(name) and isinstance(task, GraphTask)):
        raise BadArgument(
            f"no problems of growing size can be made of {name}; --calculus takes a calculus, kinship, or a task "
            "of your own, path/to/file.py:Class."
        )
    return task


def subject(trained: "Trained") -> str:
    """What a model is about, where its run tells.

    Raises:
        BadArgument: it tells nothing that problems can be made of.
    """
    experiment = trained.experiment
    if experiment.calculus:
        return experiment.calculus
    if set(trained.relations) <= set(TERMS):
        return "families"
    if is_file(experiment.data.task):
        return experiment.data.task
    raise BadArgument(f"{trained.name} is a model of {experiment.data.task}, of which no problems are made.")


def by_model(trained: "Trained", seconds: float = math.inf) -> Right:
    """Whether a model answers problems rightly; it is stopped after so many seconds of a processor.

    Raises:
        BadArgument: it is a model of links.
    """
    if trained.config.ranks:
        raise BadArgument(f"{trained.name} ranks links, and has no profile; name a model of graphs.")

    def right(data: Dataset) -> NDArray[np.bool_]:
        from epignn.learn.evaluate import scores

        began = time.process_time()

        def within(done: int, of: int) -> None:
            if done < of and time.process_time() - began > seconds:
                raise BadArgument(f"{trained.name} gave {done} of {of} answers in {seconds:g} s.")

        own, model = in_words_of(trained.name, data, trained.relations), trained.model
        found = scores(model, type(model).prepare(own, model.config), batch_size=64, report=within)
        marks: NDArray[np.bool_] = found.argmax(1) == own.label
        return marks

    return right


def by_calculus(task: GraphTask) -> Right:
    """Whether exact closure answers problems rightly.

    Raises:
        BadArgument: the labels do not follow by a calculus.
    """
    if not task.calculus:
        raise BadArgument(f"no calculus decides the problems of {task.task}; leave --exact out.")
    calculus = load(task.calculus)
    return lambda data: answers(data, calculus) == np.uint64(1) << data.label.astype(np.uint64)


def in_words_of(name: str, data: Dataset, relations: Sequence[str]) -> Dataset:
    """Problems over the vocabulary of a model.

    Raises:
        BadArgument: they have relations that the model does not know.
    """
    if data.relations == tuple(relations):
        return data
    place = {relation: at for at, relation in enumerate(relations)}
    meant = np.array([place.get(relation, -1) for relation in data.relations], dtype=np.int32)
    used = np.unique(np.concatenate([data.edge_label, data.label]))
    if unknown := [data.relations[r] for r in used[meant[used] < 0]]:
        raise BadArgument(
            f"{name} is a model of {' '.join(relations[:8])}{' …' * (len(relations) > 8)}, and knows no "
            f"{', '.join(unknown[:4])}; name what it is about by --calculus."
        )
    return Dataset(
        tuple(relations),
        data.node_count,
        data.edge_offset,
        data.edge_source,
        data.edge_target,
        meant[data.edge_label],
        data.query_head,
        data.query_tail,
        meant[data.label],
        k=data.k,
        b=data.b,
    )


def short_names(names: Iterable[str]) -> list[str]:
    """The last part of each name, or all of it where others end alike.

    >>> short_names(["runs/a", "rcc8", "old/a"])
    ['runs/a', 'rcc8', 'old/a']
    """
    names = list(names)
    ends = [Path(name).name for name in names]
    return [end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)]


def document(plan: Plan, found: Sequence[Profile]) -> dict[str, Any]:
    """Profiles as plain values."""
    return {"plan": asdict(plan), "test_seed": TEST_SEED, "models": [one.to_dict(plan.least) for one in found]}


def record(plan: Plan, found: Sequence[Profile], models: Mapping[str, "Trained"]) -> dict[str, Any]:
    """The same, with what each model is and how it was trained, versions, machine and commit."""
    told = document(plan, found)
    for one in told["models"]:
        if (trained := models.get(one["name"])) is not None:
            one["parameters"] = sum(p.numel() for p in trained.model.parameters())
            one["seed"], one["experiment"] = trained.seed, trained.experiment.to_dict()
    return {**told, **circumstances()}


def draw(plan: Plan, found: Sequence[Profile]) -> "Figure":
    """Accuracy against k and against b, a line a model, with the intervals as bands."""

    def curves(part: str, axis: str) -> pictures.Bands:
        lines = {one.name: getattr(one, part) for one in found}
        return {
            name: [(cell[axis], cell["accuracy"], cell["low"], cell["high"]) for cell in cells]
            for name, cells in lines.items()
            if cells
        }

    branches = any(one.by_b for one in found)
    panels = {
        f"b = {plan.b}" if branches else "": (pictures.PATH_LENGTH if branches else "hops", curves("by_k", "k"))
    }
    if branches:
        panels[f"k = {plan.k}"] = ("branches b", curves("by_b", "b"))
    return pictures.profiles(panels, f"{plan.task}: how far accuracy holds", plan.least, reference=(EXACT,))
