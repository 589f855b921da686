"""Questions put to a trained model: networks as graphs that it can read, and answers with probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.algebra import members
from epignn.calculus.network import Network
from epignn.data.dataset import Dataset
from epignn.data.statements import Statements
from epignn.errors import BadArgument
from epignn.formats.facts import RawNetwork
from epignn.formats.networks import read_networks, read_raw
from epignn.learn.calibrate import softmax
from epignn.learn.checkpoint import Trained
from epignn.learn.collate import prepare_for
from epignn.learn.evaluate import scores


@dataclass(frozen=True)
class Prediction:
    """What a model says of one pair: the likeliest relation and the next, with their probabilities."""

    relation: str
    probability: float
    runner_up: str
    runner_up_probability: float


def ask(trained: Trained, network: Network, head: str, tail: str) -> Prediction:
    """What may hold from head to tail, says the model."""
    return predict(trained, graph_of(trained, network, head, tail))[0]


def predict(trained: Trained, data: Dataset) -> list[Prediction]:
    """The answers of a model on graphs."""
    chances = probabilities(trained, data)
    order = np.argsort(-chances, axis=1, kind="stable")[:, :2]
    return [
        Prediction(trained.relations[first], float(row[first]), trained.relations[second], float(row[second]))
        for row, (first, second) in zip(chances, order.tolist(), strict=True)
    ]


def probabilities(trained: Trained, data: Dataset) -> NDArray[np.float64]:
    """(G, R): the softmax of negative scores, at the calibrated temperature or that of training."""
    found = scores(trained.model, prepare_for(trained.experiment.model, data))
    return softmax(found.astype(np.float64), trained.temperature)


def graphs_of(trained: Trained, path: str, head: str, tail: str) -> Dataset:
    """The networks of a file as graphs that ask about one pair."""
    if trained.experiment.data.calculus:
        networks = read_networks(path, load(trained.experiment.data.calculus))
        return Dataset.concat([graph_of(trained, network, head, tail) for network in networks])
    return Dataset.concat([graph_of_facts(trained, raw, head, tail, path) for raw in read_raw(path)])


def graph_of(trained: Trained, network: Network, head: str, tail: str) -> Dataset:
    """A network as a graph whose edges lead away from the head.

    A fact that points towards the head is turned round, with the converse relation: the same knowledge, seen from
    the side from which the model reads. Entities that nothing connects with the head are left out.
    """
    calculus = network.calculus
    if calculus.relations != trained.relations:
        raise BadArgument(
            f"the model {trained.name} speaks of {' '.join(trained.relations)}, the facts of {calculus.name}."
        )
    h, t = network.position(head), network.position(tail)
    if h == t:
        raise BadArgument(f"{head!r} is asked about itself; name two entities.")
    several = np.flatnonzero(np.bitwise_count(network.masks) != 1)
    if len(several):
        raise BadArgument(
            f"the model reads facts of one relation; {network.fact(int(several[0]))} has several. Exact reasoning "
            "takes them: epignn close."
        )
    distance = _distances(network, h)
    if distance[t] < 0:
        raise BadArgument(f"no facts connect {head!r} with {tail!r}; add some, or ask about another pair.")
    order = np.lexsort((np.arange(len(distance)), distance))
    order = order[distance[order] >= 0]
    number = np.full(len(distance), -1)
    number[order] = np.arange(len(order))
    edges = []
    for i, j, mask in zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True):
        if number[i] < 0 or i == j:
            continue
        forward = number[i] < number[j]
        (relation,) = members(mask if forward else calculus.converse(mask))
        edges.append((number[i], number[j], relation) if forward else (number[j], number[i], relation))
    facts = tuple(np.array(edges, dtype=np.int32).T)
    return _one_graph(trained.relations, len(order), facts, int(number[h]), int(number[t]))


def _one_graph(
    relations: tuple[str, ...], nodes: int, edges: tuple[NDArray[np.int32], ...], head: int, tail: int
) -> Dataset:
    """A graph with a question whose answer is not known."""
    source, target, label = edges

    def one(value: int) -> NDArray[np.int32]:
        return np.array([value], dtype=np.int32)

    offset = np.array([0, len(label)], dtype=np.int64)
    return Dataset(relations, one(nodes), offset, source, target, label, one(head), one(tail), one(0))


def graph_of_facts(trained: Trained, raw: RawNetwork, head: str, tail: str, file: str) -> Dataset:
    """Facts in a model's own vocabulary, which belongs to no calculus, as a graph; edges keep their direction."""
    return Statements.read(raw, trained.relations, file).graph(head, tail)


def _distances(network: Network, start: int) -> NDArray[np.int64]:
    """Facts between the start and each entity, in either direction; -1 where none lead."""
    distance = np.full(len(network.names), -1)
    distance[start] = 0
    frontier: Sequence[int] | NDArray[np.int64] = [start]
    while len(frontier):
        near = np.zeros(len(distance), dtype=bool)
        near[list(frontier)] = True
        touched = np.concatenate([network.tails[near[network.heads]], network.heads[near[network.tails]]])
        fresh = np.unique(touched[distance[touched] < 0])
        distance[fresh] = distance[frontier[0]] + 1
        frontier = fresh
    return distance
