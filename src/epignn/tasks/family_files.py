"""Files of kinship problems with the columns of the published ones, and two more that tell what follows.

`labels` holds every term that the facts of a problem leave possible, by the strict reading of `kinship`; `derived`
every term that CLUTRR's rules derive. The target is among the first always, and among the second where the problem
was made by the rules. Where there are more, it is true in the family of the problem, but does not follow.
"""

import csv
import io
import uuid
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus.algebra import Masks, members
from epignn.calculus.calculi.families import TERMS
from epignn.data.family_walks import EDGE_TERMS, Walk, as_dataset, family_walks, nodes_of
from epignn.data.kin_rules import derivable_labels
from epignn.data.kinship import possible_labels
from epignn.errors import BadArgument
from epignn.files import sha256, write_text
from epignn.tasks.output import LONGEST, MANIFEST, MOST_PROBLEMS, MOST_SEED, prepare_folder, within, write_manifest
from epignn.version import __version__

Progress = Callable[[int, int], None]

COLUMNS = (
    "id", "query", "target", "text_target", "proof_state", "f_comb", "task_name", "story_edges", "edge_types",
    "query_edge", "genders", "node_mapping", "task_split", "labels", "derived",
)  # fmt: skip
MEN = ("Adam", "Boris", "Carl", "David", "Emil", "Felix", "Georg", "Hugo", "Ivan", "Jakob", "Karim", "Leo")
WOMEN = ("Anna", "Berta", "Clara", "Dora", "Emma", "Frida", "Greta", "Hanna", "Ida", "Julia", "Karin", "Lena")


def generate_families(
    hops: Sequence[int],
    per_hop: int,
    seed: int,
    out: Path,
    relations: Sequence[str] = EDGE_TERMS,
    revisits: bool = False,
    replace: str = "rules",
    split: str = "test",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a file `1.<k>_<split>.csv.gz` for each number of hops, and a manifest; returns the manifest.

    Args:
        hops: numbers of facts, 2 or more each.
        per_hop: problems of each file.
        seed: the same seed gives the same files; a file depends on the seed and its hops alone.
        out: the folder; made if it is not there.
        relations: the terms that facts may have.
        revisits: whether a walk may meet somebody twice.
        replace: which two facts may stand for one, as for `family_walks`.
        split: what the file names end in, such as train or test; plays no part in the problems.
        overwrite: replace files of the same names.
        progress: called with the number of problems done and of all.

    Raises:
        BadArgument: a value is out of range, a file is there already, or no such walk is found.
    """
    hops = list(dict.fromkeys(hops))
    if not hops:
        raise BadArgument("nothing to generate: give at least one k.")
    for k in hops:
        within("k", k, 2, LONGEST)
    within("per_k", per_hop, 1, MOST_PROBLEMS)
    within("seed", seed, 0, MOST_SEED)
    if not split or Path(split).name != split or "," in split:
        raise BadArgument(f"{split!r} cannot end a file name; use a plain word such as train.")
    names = {k: f"1.{k}_{split}.csv.gz" for k in hops}
    rngs = {k: np.random.default_rng([seed, k]) for k in hops}
    makers = {k: family_walks(k, per_hop, rngs[k], relations, revisits, replace) for k in hops}
    with prepare_folder(out, [*names.values(), MANIFEST], overwrite) as out:
        manifest: dict[str, Any] = {
            "epignn": __version__,
            "kind": "families",
            "relations": list(relations),
            "revisits": revisits,
            "replace": replace,
            "seed": seed,
            "cells": [],
        }
        done = 0
        for k, maker in makers.items():
            walks = []
            for walk in maker:
                walks.append(walk)
                done += 1
                if progress is not None:
                    progress(done, len(hops) * per_hop)
            manifest["cells"].append(_write_cell(out / names[k], walks, k, split, rngs[k]))
        write_manifest(out, manifest)
        return manifest


def _write_cell(path: Path, walks: list[Walk], k: int, split: str, rng: np.random.Generator) -> dict[str, Any]:
    data = as_dataset(walks, k)
    possible, derived = possible_labels(data), derivable_labels(data)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    answers = zip(walks, possible.tolist(), derived.tolist(), strict=True)
    writer.writerows(
        [*_row(walk, k, split, rng), _names(left), _names(by_rules)] for walk, left, by_rules in answers
    )
    write_text(path, text.getvalue())
    return {
        "file": path.name,
        "k": k,
        "instances": len(walks),
        "distinct": len({walk.edges for walk in walks}),
        "ambiguous": _several(possible),
        "ambiguous_by_rules": _several(derived),
        "mean_nodes": round(float(data.node_count.mean()), 4),
        "labels": dict(zip(TERMS, np.bincount(data.label, minlength=len(TERMS)).tolist(), strict=True)),
        "sha256": sha256(path),
    }


def _row(walk: Walk, k: int, split: str, rng: np.random.Generator) -> list[str]:
    nodes = nodes_of(walk)
    name = {person: _name(node, bool(walk.family.female[person])) for person, node in nodes.items()}
    head, tail = walk.people[0], walk.people[-1]
    label = TERMS[walk.label]
    types = [TERMS[edge] for edge in walk.edges]
    sex = {person: "female" if walk.family.female[person] else "male" for person in nodes}
    cells = (
        uuid.UUID(bytes=rng.bytes(16), version=4),
        (name[head], name[tail]),
        label,
        [f"[{name[tail]}] is the {label} of [{name[head]}]."],
        _proof(walk, name),
        "-".join(types),
        f"task_1.{k}",
        [(nodes[a], nodes[b]) for a, b in pairwise(walk.people)],
        types,
        (nodes[head], nodes[tail]),
        ",".join(f"{name[person]}:{sex[person]}" for person in nodes),
        nodes,
        split,
    )
    return [str(cell) for cell in cells]


def _several(masks: Masks) -> int:
    """How many sets have more than one member."""
    return int(((masks & (masks - np.uint64(1))) != 0).sum())


def _names(mask: int) -> str:
    return str([TERMS[term] for term in members(mask)])


def _name(node: int, female: bool) -> str:
    """A name for each node of a problem; from the second dozen on with a number."""
    names = WOMEN if female else MEN
    again = node // len(names)
    return names[node % len(names)] + (str(again + 1) if again else "")


def _proof(walk: Walk, name: dict[int, str]) -> list[dict[tuple[str, str, str], list[tuple[str, str, str]]]]:
    steps = [[(name[head], TERMS[term], name[tail]) for head, term, tail in step] for step in walk.proof]
    return [{fact: [first, second]} for fact, first, second in steps]
