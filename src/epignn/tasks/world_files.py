"""Files of a rule world in Graphlog's format: graphs a line, the rules beside them, and what they come to."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from epignn.data.world_graphs import Graph, graphs, plan_world
from epignn.data.worlds import World, WorldShape
from epignn.files import sha256, write_text
from epignn.formats.graphlog import WorldFile, read_world
from epignn.tasks.output import MANIFEST, MOST_SEED, prepare_folder, within, write_manifest
from epignn.version import __version__

Progress = Callable[[int, int], None]

SPLITS = ("train", "valid", "test")
CONFIG = "config.json"


def generate_world(
    shape: WorldShape,
    seed: int,
    out: Path,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write train, valid and test files of a world, its rules (`config.json`) and a manifest; returns the manifest.

    Args:
        shape: what the world is to look like.
        seed: the same seed gives the same files.
        out: the folder; made if it is not there.
        overwrite: replace files of the same names.
        progress: called with the number of graphs done and of all.

    Raises:
        BadArgument: no world of that shape is found, or a file is there already.
    """
    within("seed", seed, 0, MOST_SEED)
    names = {split: f"{split}.jsonl.gz" for split in SPLITS}
    rng = np.random.default_rng([seed, 0x10610])
    plan = plan_world(shape, rng)
    with prepare_folder(out, [*names.values(), CONFIG, MANIFEST], overwrite) as out:
        done, total = 0, shape.train + shape.valid + shape.test
        for split, name in names.items():
            lines = []
            for graph in graphs(plan, shape, split, rng):
                lines.append(_line(plan.world, graph))
                done += 1
                if progress is not None:
                    progress(done, total)
            write_text(out / name, "".join(lines))
        write_text(out / CONFIG, json.dumps(_config(plan.world, shape, seed), indent=1) + "\n")
        manifest = {
            "epignn": __version__,
            "kind": "world",
            "seed": seed,
            "shape": asdict(shape),
            "statistics": statistics([read_world(out / name) for name in names.values()]),
            "sha256": {name: sha256(out / name) for name in names.values()},
        }
        write_manifest(out, manifest)
        return manifest


def _line(world: World, graph: Graph) -> str:
    names = world.relations
    head, tail, label = graph.query
    document = {
        "edges": [[a, b, names[relation]] for a, b, relation in graph.edges],
        "query": [head, tail, names[label]],
        "rules": [],
        "resolution_path": graph.path,
    }
    return json.dumps(document) + "\n"


def _config(world: World, shape: WorldShape, seed: int) -> dict[str, Any]:
    """The rules as published worlds have them: those of inverses, then those of two steps."""
    names = world.relations
    unary = [{"body": f"R_{i}_+", "head": f"R_{i}_-", "p": 1.0} for i in range(world.pairs)]
    binary = [{"body": [names[p], names[q]], "head": names[r], "p": 1.0} for (p, q), r in world.rules.items()]
    return {"num_rel": shape.pairs, "seed": seed, "shape": asdict(shape), "rules": unary + binary}


def statistics(files: Sequence[WorldFile]) -> dict[str, float]:
    """What the files of a world come to, as Graphlog's authors count it: over all splits together."""
    labels, sequences = set(), set()
    for file in files:
        data = file.data
        labels |= {data.relations[label] for label in np.unique(data.label)}
        sequences |= {_sequence(file, g) for g in range(len(data))}
    nodes = np.concatenate([file.data.node_count for file in files])
    edges = np.concatenate([file.data.edge_count for file in files])
    paths = np.concatenate([np.diff(file.path_offset) - 1 for file in files])
    return {
        "graphs": len(nodes),
        "classes": len(labels),
        "sequences": len(sequences),
        "mean_path": round(float(paths.mean()), 3),
        "mean_nodes": round(float(nodes.mean()), 3),
        "std_nodes": round(float(nodes.std()), 3),
        "mean_edges": round(float(edges.mean()), 3),
    }


def _sequence(file: WorldFile, g: int) -> tuple[str, ...]:
    """The relations along the resolution path of a graph."""
    found = {(a, b): relation for a, relation, b in file.data.example(g).edges}
    path = file.path_node[file.path_offset[g] : file.path_offset[g + 1]].tolist()
    return tuple(found[pair] for pair in pairwise(path))
