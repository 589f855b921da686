"""Why a trained model answers as it does: its states round by round, the facts that matter, and a proof.

The proof is by the calculus that was distilled from the model's weights: compositions and intersections of sets,
which the model's own computation approximates. Where the two answer differently the explanation says so; no proof
is made up for what the table does not prove.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.explain import symbolic
from epignn.explain.paths import distances
from epignn.explain.symbolic import Explanation, Status
from epignn.learn.answer import graph_of, probabilities
from epignn.learn.checkpoint import Trained

Floats = NDArray[np.float64]
THRESHOLD = 0.05
"""A relation of at least this probability may still hold."""
STEADY = 1e-6
"""States that move less than this between two rounds no longer change."""


@dataclass(frozen=True, eq=False)
class States:
    """What the model thinks may hold from the head to each entity, after each round of message passing.

    `chances[r, e]` are the probabilities of relations for entity e after r + 1 rounds; all the same as long as the
    model has no state of it.
    """

    entities: tuple[str, ...]
    chances: Floats


@dataclass(frozen=True, eq=False)
class Belief:
    """What a model thinks of a pair.

    Attributes:
        relations: the names of relations.
        chances: their probabilities.
        threshold: a relation of at least this probability may still hold.
        states: round by round.
        influence: for each fact, how much the probability of the likeliest relation falls without it.
    """

    relations: tuple[str, ...]
    chances: Floats
    threshold: float
    states: States
    influence: Floats

    @property
    def likeliest(self) -> int:
        """The relation of the highest probability."""
        return int(self.chances.argmax())

    @property
    def mask(self) -> int:
        """The relations that may still hold: all from the threshold on, or else the likeliest, and its equals."""
        least = min(self.threshold, float(self.chances.max()))
        return sum(1 << r for r in np.flatnonzero(self.chances >= least).tolist())


@dataclass(frozen=True, eq=False)
class NeuralExplanation(Belief):
    """An answer of a model, and why.

    Attributes:
        table: what the calculus distilled from the model says of the same facts, with its proof.
    """

    table: Explanation

    @property
    def status(self) -> Status:
        """Contradictory if the facts clash; otherwise whether the model leaves one relation or several."""
        if self.table.status is Status.CONTRADICTORY:
            return Status.CONTRADICTORY
        return Status.DETERMINED if self.mask.bit_count() == 1 else Status.OPEN

    @property
    def proved(self) -> bool:
        """Whether the distilled calculus proves the very set that the model answers with."""
        return self.table.status is not Status.CONTRADICTORY and self.table.mask == self.mask

    def __str__(self) -> str:
        calculus = self.table.network.calculus
        return f"{calculus.format(self.mask)}({self.table.head}, {self.table.tail})"


def explain(
    trained: Trained,
    calculus: Calculus,
    network: Network,
    head: str,
    tail: str,
    threshold: float = THRESHOLD,
    rounds: int | None = None,
) -> NeuralExplanation:
    """What a model says of a pair, and why.

    Args:
        trained: the model.
        calculus: what was distilled from it, over the same relations.
        network: the facts, of one relation each.
        head: what may hold from this entity …
        tail: … to this one.
        threshold: a relation of at least this probability may still hold.
        rounds: the most rounds of states to keep; None for all until they no longer change.

    Raises:
        BadArgument: the model cannot read such facts, or speaks of other relations.
    """
    if calculus.relations != trained.relations:
        raise BadArgument(
            f"the model speaks of {' '.join(trained.relations)}, the calculus of {' '.join(calculus.relations)}."
        )
    check_threshold(threshold)
    table = symbolic.explain(replace(network, calculus=calculus), head, tail)
    chances = chances_of(trained, [network], head, tail)[0]
    likeliest = int(chances.argmax())
    without = [
        network.select([f for f in range(len(network)) if f != left_out]) for left_out in range(len(network))
    ]
    influence = chances[likeliest] - chances_of(trained, without, head, tail)[:, likeliest]
    reached = [entity for entity in distances(network, network.position(head)) if network.names[entity] != head]
    names = tuple(network.names[entity] for entity in reached)
    far = tuple(distances(network, network.position(head))[entity] for entity in reached)
    states = states_of(trained, names, far, lambda name: graph_of(trained, network, head, name), rounds)
    return NeuralExplanation(trained.relations, chances, threshold, states, influence, table)


def check_threshold(threshold: float) -> None:
    """Refuse what is no probability."""
    if not 0 < threshold < 1:
        raise BadArgument(f"the threshold must lie between 0 and 1, not at {threshold}.")


def chances_of(trained: Trained, networks: list[Network], head: str, tail: str) -> Floats:
    """(N, R): probabilities of relations by each network; all the same where no facts connect the pair."""
    count = len(trained.relations)
    chances = np.full((len(networks), count), 1 / count)
    joined = [n for n, network in enumerate(networks) if _connected(network, head, tail)]
    if joined:
        data = Dataset.concat([graph_of(trained, networks[n], head, tail) for n in joined])
        chances[joined] = probabilities(trained, data)
    return chances


def _connected(network: Network, head: str, tail: str) -> bool:
    return network.position(tail) in distances(network, network.position(head))


def states_of(
    trained: Trained,
    names: tuple[str, ...],
    far: tuple[int, ...],
    graph: Callable[[str], Dataset],
    most: int | None,
) -> States:
    """The states of the forward model, or of the pairs with the head, round by round until they are steady.

    Each is what the model would answer of that entity if it went forward only and stopped after so many rounds.

    Args:
        trained: the model.
        names: the entities that facts connect with the head.
        far: how many facts it takes to each of them.
        graph: the facts, with the question that asks about the head and an entity.
        most: rounds to keep; None for all.
    """
    if not names:
        return States(names, np.zeros((0, 0, len(trained.relations))))
    data = Dataset.concat([graph(name) for name in names])
    known = trained.experiment.model.rounds
    last = len(names) + 1 if known == "auto" else int(known)
    chances: list[Floats] = []
    for number in range(1, (last if most is None else min(most, last)) + 1):
        found = probabilities(_stopped(trained, number), data)
        if trained.experiment.model.closure == "full":  # pairs join to twice the length in every round
            found[np.array(far) > 2**number] = 1 / len(trained.relations)
        chances.append(found)
        if number > 1 and np.abs(chances[-1] - chances[-2]).max() < STEADY:
            chances.pop()
            break
    return States(names, np.stack(chances))


def _stopped(trained: Trained, rounds: int) -> Trained:
    """The same weights, forward only, stopped after so many rounds."""
    config = replace(trained.experiment.model, rounds=rounds, forward_only=True)
    model = copy.copy(trained.model)
    model.config = config
    return replace(trained, model=model, experiment=replace(trained.experiment, model=config))
