"""A data folder as the registry describes it, small and made here: nothing in it is published.

The project's own generators and writers fill it, in the formats and under the names of the published files, so that
readers, suites and commands run from end to end without these. `registry.toml` in it is the registry with the
digests of its files.
"""

import gzip
import hashlib
import json
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus import load
from epignn.calculus.calculi.families import NO_TERM, TERMS, simulate, terms
from epignn.calculus.network import Network
from epignn.data.worlds import LIKE
from epignn.formats.networks import write_network
from epignn.tasks import registry
from epignn.tasks.family_files import generate_families
from epignn.tasks.generate import generate
from epignn.tasks.world_files import generate_world

CELLS = [(k, 1) for k in range(2, 10)] + [(k, b) for k in (2, 3, 4) for b in (2, 3)]
"""The cells (k, b) that are published of each calculus."""
PER_LABEL = 5
"""Problems of each label in a cell, where the published ones have 800."""
WALKS = {2: 1500, 3: 900, 4: 200}
"""Training problems by hops: those of two show every rule often enough to learn it."""
WORLD = replace(LIKE[32], sequences=60, train=200, valid=40, test=40)

FIGURE_5 = "F|FI(A, C) S|M(D, A) S|M(D, C) D|DI(A, B) D|DI(B, C) O(D, B)"
"""Allen 1983, figure 5: closed, yet without a scenario."""
ALGEBRAS = {"allen": "Linear_Interval_Algebra", "rcc8": "RCC8_Algebra"}

RandomNetwork = Callable[..., Network]


def make(folder: Path, random_network: RandomNetwork) -> None:
    """Fill a folder; `random_network(calculus, rng, entities, density, size)` gives networks of constraints."""
    for seed, (name, hops) in enumerate((("db9b8f04", (2, 3, 4)), ("089907f8", (2, 3)), ("9b2173cf_partial", ()))):
        _clutrr(folder / "clutrr" / f"data_{name}", hops, 10 * seed)
    generate_world(WORLD, 3, folder / "graphlog" / "world_32")
    generate_world(replace(WORLD, train=60), 4, folder / "graphlog" / "re_0")
    for split in ("train", "valid", "test"):
        _repeat_edges(folder / "graphlog" / "re_0" / f"{split}.jsonl.gz")
    for name in ("rcc8", "allen"):
        for k, b in CELLS:
            generate(load(name), [k], [b], PER_LABEL, 0, folder / "rcc8_ia", overwrite=True)
    for entry in registry.datasets():
        if entry.folder == "inductive_kgc":
            _triples(folder / entry.folder, entry.name)
        if entry.folder.startswith(("transductive/", "pykeen/", "better_inductive_kgc/")):
            _renamed(folder / entry.folder, entry)
        if entry.folder.startswith("qcn/"):
            _networks(folder / entry.folder, entry.files, random_network)
    (folder / "registry.toml").write_text(_registry(folder), encoding="utf-8")


def _pack(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _unpack(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def _clutrr(folder: Path, hops: tuple[int, ...], seed: int) -> None:
    """A training file of these hops, and tests of 2 to 10; of 2 and 3 alone where there is no training file."""
    for k in hops:
        generate_families([k], WALKS[k], seed + 1, folder, split="train", overwrite=True)
    parts = [folder / f"1.{k}_train.csv.gz" for k in hops]
    texts = [_unpack(part).partition("\n") for part in parts]
    for part in parts:
        part.unlink()
    if texts:
        name = ",".join(f"1.{k}" for k in hops)
        _pack(folder / f"{name}_train.csv.gz", texts[0][0] + "\n" + "".join(rows for _, _, rows in texts))
    generate_families(range(2, 11) if hops else (2, 3), 40, seed, folder, overwrite=True)
    for path in folder.glob("*.csv.gz"):  # the published columns
        _pack(path, registry.content(path, registry.find("clutrr-db9b8f04").columns).decode())
    (folder / "config.json").write_text("{}\n", encoding="utf-8")


def _repeat_edges(path: Path) -> None:
    """Give some edges of every graph twice, as one published world has them."""
    graphs = [json.loads(line) for line in _unpack(path).splitlines()]
    for graph in graphs:
        graph["edges"] = [edge for n, edge in enumerate(graph["edges"]) for _ in range(1 + (n % 3 == 0))]
    _pack(path, "".join(json.dumps(graph) + "\n" for graph in graphs))


def _triples(folder: Path, name: str) -> None:
    """A family as facts, and another as its twin; every word of valid and test occurs in train."""
    rng = np.random.default_rng(list(name.encode()))
    for twin in ("", "_ind"):
        found = terms(simulate(rng, couples=4, generations=4))
        pairs = rng.permutation(np.argwhere(found != NO_TERM)).tolist()
        facts = [(f"p{twin}{a}", TERMS[found[a, b]], f"p{twin}{b}") for a, b in pairs]
        parts: dict[str, list[tuple[str, ...]]] = {"train": [], "valid": [], "test": []}
        left = Counter(word for fact in facts for word in fact)
        for fact in facts:
            spare = all(left[word] > 2 for word in fact)
            part = next((p for p in ("valid", "test") if spare and len(parts[p]) < len(facts) // 10), "train")
            parts[part].append(fact)
            left.subtract(fact if part != "train" else ())
        for part, chosen in parts.items():
            _pack(folder / f"{name}{twin}" / f"{part}.txt.gz", "".join("\t".join(fact) + "\n" for fact in chosen))


def _renamed(folder: Path, entry: registry.Entry) -> None:
    """The same under other names: `test_0_graph.txt` are the facts of the twin, `test_0_samples.txt` its test."""
    _triples(folder.parent, folder.name)
    twin = folder.with_name(f"{folder.name}_ind")
    for name in entry.files:
        kind, _, part = name.removesuffix(".txt").rpartition("_")
        if kind:
            source = twin if kind.startswith("test") else folder
            wanted = {"graph": "train", "samples": "test" if kind.startswith("test") else "valid"}[part]
            shutil.copy(source / f"{wanted}.txt.gz", folder / f"{name}.gz")
    for path in folder.iterdir():
        if path.name.removesuffix(".gz") not in entry.files:
            path.unlink()
    shutil.rmtree(twin)


def _networks(folder: Path, names: Any, random_network: RandomNetwork) -> None:
    """Networks of constraints: several in a `.csp` file, one in a `.json` file, in qualreas' form."""
    for number, name in enumerate(names):
        calculus = load("rcc8" if "rcc8" in f"{folder.name}/{name}" else "allen")
        rng = np.random.default_rng(number)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csp":
            made = [random_network(calculus, rng, n, 0.7, len(calculus) / 2.5) for n in (4, 6, 8, 9)]
            _pack(path.with_name(path.name + ".gz"), "".join(write_network(network, "csp") for network in made))
        if path.suffix == ".json":
            facts = [fact.strip("()").replace("(", ", ").split(", ") for fact in FIGURE_5.split(") ")]
            if "Figure_5" not in name:
                drawn = random_network(calculus, rng, 5, 0.8, len(calculus) / 3)
                facts = [[f.relations, f.head, f.tail] for f in map(drawn.fact, range(len(drawn)))]
            nodes = sorted({end for _, *ends in facts for end in ends})
            document = {
                "name": name,
                "algebra": ALGEBRAS[calculus.name],
                "nodes": [[node, ["Entity"]] for node in nodes],
                "edges": [[head, tail, relations] for relations, head, tail in facts],
                "abbreviations": {},
            }
            path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _registry(folder: Path) -> str:
    """The registry with the files of this folder alone, and their sizes and digests."""
    lines: list[str] = []
    for table in tomllib.loads(registry.REGISTRY.read_text(encoding="utf-8"))["dataset"]:
        entry, told = registry.find(table["name"]), table.pop("files")
        paths = {file.name: registry.present(entry, file, folder) for file in entry.files.values()}
        if not any(paths.values()):
            continue
        lines += ["[[dataset]]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
        lines.append("[dataset.files]")
        for name, path in paths.items():
            if path is not None:
                data = registry.content(path, entry.columns)
                known = told[name] | {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in known.items())
                lines.append(f"{json.dumps(name)} = {{ {inline} }}")
    return "\n".join(lines) + "\n"
