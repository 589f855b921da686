"""All links of a large graph: one is generated, opened by a memory map, and heads of it are asked about.

    python benchmarks/large_graph.py [--quick] [--out DIR]

EPIGNN_BENCH_HEADS sets how many heads are scored (1,000), by whole passes; a twentieth of them are scored again by
pruned ones. From the time of a pass follows what all heads would take on 100 machines of 2 cores each.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from epignn.data.graph import Graph, Ints
from epignn.data.shared import arrays_of, graph_of_arrays
from epignn.learn.config import load_experiment, model_class
from epignn.models.api import Scorer, build
from epignn.report.record import peak_mb
from epignn.workers.api import Mapped

from record import options, save

FACTS, ENTITIES, RELATIONS = 10_000_000, 1_000_000, 20
HEADS = int(os.environ.get("EPIGNN_BENCH_HEADS", "1000"))
TOP = 10
MACHINES, CORES = 100, 2
SHARE = 0.01
"""Of the entities that a pruned pass follows."""


def graph_of(facts: int, entities: int, rng: np.random.Generator) -> Graph:
    """Facts between entities of which some are in many, as in graphs that people make."""
    ends = [np.minimum(entities * rng.random(facts) ** 2, entities - 1).astype(np.int32) for _ in range(2)]
    triples = np.stack([ends[0], rng.integers(0, RELATIONS, facts, dtype=np.int32), rng.permutation(ends[1])], 1)
    names = tuple(f"entity_{number}" for number in range(entities))
    return Graph(names, tuple(f"relation_{number}" for number in range(RELATIONS)), triples)


def main() -> None:
    chosen = options(__doc__)
    torch.set_num_threads(1)
    scale = 100 if chosen.quick else 1
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        shared = Mapped.write(arrays_of(graph_of(FACTS // scale, ENTITIES // scale, rng)), Path(folder))
        generated = time.perf_counter() - start
        start = time.perf_counter()
        graph = graph_of_arrays(shared.open())
        opened = time.perf_counter() - start
        config = load_experiment("links").model
        model = build(model_class(config), 2 * RELATIONS, config, 0).eval()
        heads = rng.choice(len(graph.entities), min(HEADS, len(graph.entities)), replace=False).astype(np.int32)
        pruned = spent(model.pruned_scorer(graph, SHARE), heads[: max(1, len(heads) // 20)])
        whole = spent(model.scorer(graph), heads)
    figures = {
        "large_graph": {
            "facts": len(graph.facts),
            "entities": len(graph.entities),
            "relations": RELATIONS,
            "heads": len(heads),
            "machines": MACHINES,
            "cores": CORES,
            "generated_seconds": generated,
            "opened_seconds": opened,
            "pass_seconds": whole[0],
            "pass_cpu_seconds": whole[1],
            "pruned_share": SHARE,
            "pruned_heads": max(1, len(heads) // 20),
            "pruned_cpu_seconds": pruned[1],
            "peak_mb": float(peak_mb() or 0),
            "load": os.getloadavg()[0],
        }
    }
    save("large_graph", figures, chosen)


def spent(scorer: Scorer, heads: Ints) -> tuple[float, float]:
    """Seconds, and processor seconds, that the best answers of a head take for all relations."""
    start, cpu, best = time.perf_counter(), time.process_time(), 0.0
    with torch.no_grad():
        for number, head in enumerate(heads):
            if number % scorer.chunk == 0:
                scorer.prepare(heads[number : number + scorer.chunk])
            scores = scorer(int(head), np.arange(2 * RELATIONS, dtype=np.int32))
            best += float(np.partition(scores, -TOP, axis=1)[:, -TOP:].sum())
    assert np.isfinite(best)
    return (time.perf_counter() - start) / len(heads), (time.process_time() - cpu) / len(heads)


if __name__ == "__main__":
    main()
