"""How time and memory of link prediction grow with edges, heads and dim, and how near kernels are to the machine.

    python benchmarks/links.py [--quick] [--out DIR]

Each row is measured in a process of its own, so that its peak memory is its own. Graphs are random, with as many
facts an entity as FB15k-237 v4 has; the last rows are that graph itself, where EPIGNN_DATA names a folder with it.
Seconds are of the processor, on one core, so that other work on the machine does not count; on all cores they are
by the clock, for which the machine must be quiet. Arithmetic is counted as the multiplications and additions of φ
along every edge in every round, forward; what a matrix product of torch does a second, in the same process, stands
for the most that the machine can.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from epignn.data.graph import Graph, Side
from epignn.learn.config import load_experiment, model_class
from epignn.learn.objectives.rank import Rank, RankConfig
from epignn.models import compiled
from epignn.models.api import Model, build
from epignn.models.epignn import EpiGNN, EpiGNNConfig, right_matrices
from epignn.models.links import Heads
from epignn.tasks.links import Grail

from record import Figures, options, save

FACTS_PER_ENTITY = 27_203 / 4_707
RELATIONS = 219
SCORED_HEADS = 1000
FACET = 4
"""Components of a facet, as in the recipe for FB15k-237."""
EPOCH_HEADS = 128
"""Heads of FB15k-237 v4 that are trained, of which an epoch has all."""
WIDTHS = (32, 64, 128, 256, 512)
"""Dims of the rows of FB15k-237 v4."""


def random_graph(facts: int) -> Graph:
    """Facts whose tails prefer some entities, as real ones do."""
    rng = np.random.default_rng(0)
    entities = round(facts / FACTS_PER_ENTITY)
    tails = (entities * rng.random(facts) ** 2).astype(int)
    triples = np.stack([rng.integers(0, entities, facts), rng.integers(0, RELATIONS, facts), tails], 1)
    triples = np.unique(triples, axis=0).astype(np.int32)
    return Graph(tuple(map(str, range(entities))), tuple(map(str, range(RELATIONS))), triples)


def model_of(graph: Graph, dim: int) -> EpiGNN:
    config = EpiGNNConfig(dim=dim, facets=dim // FACET, rounds=6, forward_only=True, a_ij="coupled")
    return build(EpiGNN, 2 * len(graph.relations), config, 0)


def preset(graph: Graph) -> Model:
    """The model of the preset of FB15k-237 v4, untrained; rules and frequencies beside it are counted."""
    experiment = load_experiment("fb237-v4")
    model = build(model_class(experiment.model), 2 * len(graph.relations), experiment.model, 0)
    model.count([graph.edges], 0)
    return model


def kernel_row(graph: Graph, heads: int, dim: int) -> dict[str, float]:
    """Arithmetic a second of passes that are asked about all entities, and seconds of their gradient."""
    model = model_of(graph, dim)
    with torch.no_grad():
        matrices = right_matrices(model.relation_vectors(), model.composition_table())
    passes = compiled.HeadPasses(graph.edges, matrices, model.link_passing())
    asked = Heads.everything(np.arange(heads, dtype=np.int32), len(graph.entities))
    states = passes.states(asked, keep=True)
    forward = least(lambda: passes.states(asked, keep=True))
    back = least(lambda: passes.gradient(asked, states))
    square = torch.rand(1024, 1024)
    product = least(lambda: square @ square)
    flops = 2 * len(graph.edges.source) * model.config.rounds * dim * FACET * heads
    return {
        "gflop_a_head": flops / heads / 1e9,
        "forward_gflops_per_second": flops / forward / 1e9,
        "product_gflops_per_second": 2 * 1024**3 / product / 1e9,
        "gradient_over_forward": back / forward,
    }


def least(work: Callable[[], object], times: int = 5) -> float:
    """Processor seconds of the quickest of some runs."""
    found = []
    for _ in range(times):
        before = time.process_time()
        work()
        found.append(time.process_time() - before)
    return min(found)


def train_row(graph: Graph, heads: int, dim: int, config: RankConfig) -> dict[str, float]:
    """Seconds of passing `heads` heads forward and back, in steps of 16."""
    model, objective = model_of(graph, dim), Rank(config, Side(graph, graph.facts[:1], graph.facts[:0]))
    rng = np.random.default_rng(0)
    chosen = rng.permutation(objective.sampler.heads)[:heads]
    with Spent() as spent:
        for first in range(0, heads, 16):
            objective.loss(model, objective.sampler.ask(chosen[first : first + 16], rng)).backward()
    return {"train_seconds": spent.seconds}


def score_row(graph: Graph, model: Model, heads: int) -> dict[str, float]:
    """Seconds of scoring all entities for all relations of `heads` heads."""
    scorer = model.scorer(graph)
    chosen = np.arange(heads, dtype=np.int32)
    relations = np.arange(2 * len(graph.relations), dtype=np.int32)
    with Spent() as spent:
        for first in range(0, heads, scorer.chunk):
            scorer.prepare(chosen[first : first + scorer.chunk])
            for head in chosen[first : first + scorer.chunk].tolist():
                scorer(head, relations)
    return {"score_seconds": spent.seconds, "chunk": scorer.chunk}


class Spent:
    """Seconds that a block takes: of the processor by one thread, by the clock by several."""

    seconds: float

    def __enter__(self) -> "Spent":
        self._clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
        self._begin = self._clock()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = self._clock() - self._begin


def one(kind: str, facts: int, heads: int, dim: int, threads: int) -> None:
    """One row, printed as JSON; no facts: those of FB15k-237 v4."""
    torch.set_num_threads(threads)
    graph = random_graph(facts) if facts else Grail(task="fb237:v4").links(0).train.graph
    if kind == "train":
        config = RankConfig() if facts else RankConfig(negatives=256, thin=0.6)
        row = train_row(graph, heads, dim, config)
    elif kind == "score":
        row = score_row(graph, model_of(graph, dim), heads)
    elif kind == "preset":
        row = score_row(graph, preset(graph), heads)
    else:
        row = kernel_row(graph, heads, dim)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(row if kind in ("kernel", "preset") else {**row, f"{kind}_peak_mb": peak}))


def measured(kind: str, facts: int, heads: int, dim: int, threads: int = 1) -> dict[str, float]:
    command = [sys.executable, __file__, "row", kind, *map(str, (facts, heads, dim, threads))]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def growth(quick: bool) -> Figures:
    """From one case, edges and heads doubled twice, dim three times; a quick run has a small case alone."""
    facts, heads, dim = (2_000, 16, 16) if quick else (20_000, 64, 32)
    figures: Figures = {}
    for what, of_case in CASES.items():
        for times in (1,) if quick else (1, 2, 4, 8) if what == "dim" else (1, 2, 4):
            case = of_case(times, facts, heads, dim)
            name = "{:,} facts, {} heads, dim {}".format(*case)
            if name in figures:
                continue
            found = measured("train", *case) | measured("score", *case)
            figures[name] = {"facts": case[0], "heads": case[1], "dim": case[2], **found}
            print(
                f"  {what if times > 1 else '':5} {name:<35} training {found['train_seconds']:6.2f} s, "
                f"{found['train_peak_mb']:4.0f} MB; scoring {found['score_seconds']:6.2f} s in chunks of "
                f"{found['chunk']} heads, {found['score_peak_mb']:4.0f} MB"
            )
    return figures


CASES: dict[str, Callable[[int, int, int, int], tuple[int, int, int]]] = {
    "edges": lambda times, facts, heads, dim: (times * facts, heads, dim),
    "heads": lambda times, facts, heads, dim: (facts, times * heads, dim),
    "dim": lambda times, facts, heads, dim: (facts, heads, times * dim),
}


def published_graph() -> Figures:
    """FB15k-237 v4: scoring, training and arithmetic by width, on one core and on all."""
    figures: Figures = {}
    cores = os.cpu_count() or 1
    for dim in WIDTHS:
        found = measured("score", 0, SCORED_HEADS, dim) | measured("train", 0, EPOCH_HEADS, dim)
        found |= measured("kernel", 0, 16, dim)
        shared = measured("score", 0, SCORED_HEADS, dim, cores) | measured("train", 0, EPOCH_HEADS, dim, cores)
        found |= {f"{key}_all_cores": shared[key] for key in ("score_seconds", "train_seconds")}
        figures[f"fb237:v4, dim {dim}"] = {"heads": SCORED_HEADS, "trained": EPOCH_HEADS, "dim": dim, **found}
        print(
            f"  FB15k-237 v4, dim {dim}: all entities for all relations of {SCORED_HEADS:,} heads "
            f"{found['score_seconds']:.1f} s, on {cores} cores {found['score_seconds_all_cores']:.1f} s, "
            f"{found['score_peak_mb']:.0f} MB; training {EPOCH_HEADS} heads {found['train_seconds']:.1f} s, "
            f"on {cores} cores {found['train_seconds_all_cores']:.1f} s, {found['train_peak_mb']:.0f} MB; forward "
            f"{found['forward_gflops_per_second']:.0f} GFLOP/s of {found['product_gflops_per_second']:.0f}",
            flush=True,
        )
    alone, shared = (measured("preset", 0, SCORED_HEADS, 0, threads)["score_seconds"] for threads in (1, cores))
    figures["fb237:v4, preset"] = {"heads": SCORED_HEADS, "score_seconds": alone, "score_seconds_all_cores": shared}
    print(
        f"  the same by its preset, rules and frequencies among it: {alone:.1f} s, on {cores} cores {shared:.1f} s"
    )
    return figures


def main() -> None:
    chosen = options(__doc__)
    print("How time and memory grow with edges, heads and dim; one core")
    figures = growth(chosen.quick)
    if os.environ.get("EPIGNN_DATA") and not chosen.quick:
        figures |= published_graph()
    save("links", figures, chosen)


if __name__ == "__main__":
    if sys.argv[1:2] == ["row"]:
        one(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        main()
