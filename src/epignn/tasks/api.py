"""What a task is: labelled graphs to classify (`GraphTask`), or a knowledge graph whose links to rank (`LinkTask`).

A task of one's own is a class that derives from one of the two; `examples/task.py` is one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from epignn.data.augment import augment
from epignn.data.cut import cut_out, own_facts
from epignn.data.dataset import Dataset
from epignn.data.graph import Graph, Side
from epignn.data.stream import digests
from epignn.errors import BadArgument

Report = Callable[[int, int], None]
"""Called with how much of a piece of work is done, and with all of it."""
Longs = NDArray[np.int64]
TEST_SEED = 2025
"""Test problems come from this seed of a generator; training sets use others."""


@dataclass(frozen=True)
class Task:
    """What all tasks share: the settings of the `data` section of an experiment.

    Attributes:
        kind: which entry of the list of tasks; found by the name where it is left out.
        task: what is trained on: a name such as `rcc8` or `clutrr:db9b8f04`, a folder or a file.
    """

    kind: str = ""
    task: str = ""
    objective: ClassVar[str] = ""
    """What models are trained for, unless an experiment says otherwise: a name of the list of objectives."""

    @property
    def version(self) -> str:
        """What stands after the colon of its name."""
        return self.task.partition(":")[2]

    def sources(self) -> list[str]:
        """The files of one's own that it is read from, for the record of a run; else none."""
        return []


@dataclass(frozen=True)
class GraphTask(Task):
    """Small graphs, each with the relation that holds between its head and its tail.

    Attributes:
        validation: the share of the graphs that validation gets, where the data set has no validation file.
        holdout: which graphs these are. `graphs`: any, at random. `longest`: some of the distinct problems of most
            edges, with all their copies. `longer`: walks that are made of the training walks, with up to twice as
            many edges. `larger`: all graphs of most edges; of generated graphs, new ones that are larger than any
            to learn from. The last three judge how far a model goes beyond its training graphs.
        augment: how many walks are added to the training graphs, each a given walk with parts replaced by their
            equals.
        longest: how many edges an added walk may have.
        equals: how many edges the parts may have that are replaced, or put in; 0 for all that walks come to when
            they are contracted (`epignn.data.contract`).
    """

    validation: float = 0.2
    holdout: str = "graphs"
    augment: int = 0
    longest: int = 6
    equals: int = 2
    objective: ClassVar[str] = "classify"

    def __post_init__(self) -> None:
        if self.holdout not in ("graphs", "longest", "longer", "larger"):
            raise BadArgument(f"holdout must be graphs, longest, longer or larger, not {self.holdout!r}.")
        if not 0 <= self.validation < 1:
            raise BadArgument(f"data.validation must be at least 0 and below 1, not {self.validation}.")

    @property
    def calculus(self) -> str:
        """The calculus whose base relations are the labels; empty where there is none."""
        return ""

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """All graphs to learn from; those for validation apart, where the data set says which."""
        raise NotImplementedError

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """The test problems of one cell: of path length k and with b branches, where that applies.

        Args:
            k: path length; 0 where a task has one test set.
            b: branches.
            per_label: how many problems of each label, where they are generated.
            relations: the vocabulary of the model that is tested.
        """
        raise NotImplementedError

    def published_cell(self, k: int, b: int) -> Path | None:
        """The published test file of a cell whose problems are generated here, where it is on this machine."""
        return None

    def tested_on(self, cells: Sequence[tuple[int, int]], per_label: int) -> str:
        """Where the test problems of some cells come from, in words."""
        return f"the test set of {self.task}"

    def split(self, seed: int, report: Report | None = None) -> tuple[Dataset, Dataset]:
        """Training and validation graphs."""
        return self.divided(self.examples(report), seed)

    def divided(self, given: tuple[Dataset, Dataset | None], seed: int) -> tuple[Dataset, Dataset]:
        """Training graphs, with walks added, and validation graphs, held out of them where there are none apart."""
        train, valid = given
        rng = np.random.default_rng([seed, 0x5011])
        if valid is None and self.holdout == "longer":
            valid = self._longer(train, rng)
        elif valid is None and self.holdout == "larger":
            train, valid = self.larger(train)
        elif valid is None:
            learnt, kept = self._held_out(train, rng)
            train, valid = train.select(learnt), train.select(kept)
        return self.augmented(train, seed), valid

    def larger(self, data: Dataset) -> tuple[Dataset, Dataset]:
        """Graphs to learn from, and larger ones: those of the most edges."""
        largest = data.edge_count == data.edge_count.max(initial=0)
        return data.select(~largest), data.select(largest)

    def augmented(self, train: Dataset, seed: int) -> Dataset:
        """Training graphs with as many walks more as the settings ask for."""
        if not self.augment:
            return train
        return augment(train, self.augment, self.longest, np.random.default_rng([seed, 0xA06]), self.equals)

    def _held_out(self, data: Dataset, rng: np.random.Generator) -> tuple[Longs, Longs]:
        """Graphs to learn from, and graphs that are kept for validation."""
        if self.holdout == "longest":
            problem = digests(data)
            longest = np.unique(problem[data.edge_count == data.edge_count.max()])
            held = np.isin(problem, rng.permutation(longest)[: int(len(longest) * self.validation)])
            return np.flatnonzero(~held), np.flatnonzero(held)
        order = rng.permutation(len(data))
        count = int(len(data) * self.validation)
        return order[count:], order[:count]

    def _longer(self, data: Dataset, rng: np.random.Generator) -> Dataset:
        """Walks with parts replaced by their equals, of more edges than any to learn from."""
        count = int(len(data) * self.validation)
        made = augment(data, 8 * count, 2 * self.longest, rng, self.equals)
        longer = np.flatnonzero(made.edge_count > max(self.longest, data.edge_count.max(initial=0)))
        if len(longer) < count:
            raise BadArgument(
                f"too few walks of up to {2 * self.longest} edges can be made; choose another holdout."
            )
        return made.select(longer[:count])


@dataclass(frozen=True, eq=False)
class Links:
    """Where a link prediction model is trained and validated, and where it is tested.

    Attributes:
        train: facts to learn from, and triples that choose the epoch.
        test: another graph with the same relations; the same one where there is no other.
        notes: what was passed over while reading.
        judged: where models are compared after an epoch, by the validation triples of all of them together; `train`
            itself where there is nothing else.
    """

    train: Side
    test: Side
    notes: tuple[str, ...] = ()
    judged: tuple[Side, ...] = ()


@dataclass(frozen=True)
class LinkTask(Task):
    """A knowledge graph whose missing links are to be found.

    Attributes:
        holdout: what judges a model after each epoch. `triples`: held-out triples of its own graph. `entities`: a
            graph of other entities, a fifth of all, which is cut out before training (`epignn.data.cut`); this
            tells what is learnt for new graphs, and is for choosing settings, since fewer facts are left to learn
            from. `asked`: the facts of the graph that the model is tested on, each over the others; its test and
            validation triples are not read. This chooses settings for that one graph.
        turns: for `entities` and `asked`: how many tenths of the triples that judge are asked.
    """

    holdout: str = "triples"
    turns: int = 10
    objective: ClassVar[str] = "rank"

    def __post_init__(self) -> None:
        if self.holdout not in ("triples", "entities", "asked"):
            raise BadArgument(f"holdout must be triples, entities or asked, not {self.holdout!r}.")
        if not 1 <= self.turns <= 10:
            raise BadArgument(f"turns must be between 1 and 10, not {self.turns}.")

    def links(self, seed: int) -> Links:
        """Facts and held-out triples; the seed chooses what is held out where the task does not say."""
        raise NotImplementedError

    def split(self, seed: int) -> Links:
        """What `links` gives, with entities cut out of the graph to learn from where the settings ask for it.

        The seed chooses neither roots nor triples of the cut, so that runs of several seeds can be compared.
        """
        links = self.links(seed)
        if self.holdout == "triples":
            return links
        if self.holdout == "asked":
            return replace(links, judged=own_facts(_new_graph(links), 0, self.turns))
        train, judged = cut_out(links.train, 0, self.turns)
        return replace(links, train=train, judged=judged)


def _new_graph(links: Links) -> Graph:
    """The graph that is asked, with the relations that are learnt; its facts must be new."""
    graph, relations = links.test.graph, links.train.graph.relations
    if shared := _named_facts(graph) & _named_facts(links.train.graph):
        raise BadArgument(
            f"the graph that is asked shares facts with the graph that is learnt from ({len(shared):,} of "
            f"{len(graph.facts):,}), so that they judge nothing; choose holdout = 'triples'."
        )
    return Graph(graph.entities, relations, graph.facts[graph.facts[:, 1] < len(relations)])


def _named_facts(graph: Graph) -> set[tuple[str, str, str]]:
    """Facts by the names of what is in them, which graphs share, as they share no numbers."""
    names, relations = graph.entities, graph.relations
    return {(names[head], relations[relation], names[tail]) for head, relation, tail in graph.facts.tolist()}
