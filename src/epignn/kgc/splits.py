"""What a model is trained and tested on: the GraIL splits, a folder of one's own, or one file of triples."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epignn.data.graph import Graph, Ints, Known
from epignn.errors import BadArgument, BadFile, unknown
from epignn.formats.triples import Triples, read_triples

NAMED = {"wn18rr": "WN18RR", "fb237": "fb237", "fb15k-237": "fb237", "fb15k237": "fb237"}
SPLITS = tuple(f"{name}:v{version}" for name in ("wn18rr", "fb237") for version in (1, 2, 3, 4))
HELD_OUT = 0.1
"""Share of a single file's triples that is kept for validation, and as many for the test."""


@dataclass(frozen=True, eq=False)
class Side:
    """A graph of facts, and triples over the same entities that are held out."""

    graph: Graph
    valid: Ints
    test: Ints

    def known(self) -> Known:
        """All triples of this side: what filtered ranking passes over."""
        groups = [self.graph.facts, self.valid, self.test]
        return Known(groups, len(self.graph.entities), len(self.graph.relations))

    def digest(self) -> str:
        """Tells this side from others: of its names, its facts and its validation triples."""
        names = json.dumps([self.graph.entities, self.graph.relations]).encode()
        parts = (names, self.graph.facts.tobytes(), self.valid.tobytes())
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Task:
    """Where a model is trained and validated, and where it is tested.

    Attributes:
        name: as it was asked for.
        train: facts to learn from, and triples that choose the epoch.
        test: another graph with the same relations; the same one where there is no twin.
        notes: what was passed over while reading.
    """

    name: str
    train: Side
    test: Side
    notes: tuple[str, ...] = ()


def is_task(what: str) -> bool:
    """Whether this names triples: a GraIL split, a folder with train.txt, or a file of triples, there or not."""
    name = what.partition(":")[0].casefold()
    return name in NAMED or _part(Path(what), "train") is not None or is_triples(Path(what))


def is_triples(path: Path) -> bool:
    """Whether a file is one of triples, by its name."""
    return not path.is_dir() and bool(re.search(r"\.(tsv|txt)(\.gz)?$", path.name))


def load_task(what: str, data: Path | None = None, seed: int = 0) -> Task:
    """Read a task by name or place.

    Args:
        what: `wn18rr:v1` … `fb237:v4`, a folder with train, valid and test.txt (and a twin of its name and `_ind`),
            or one file of triples, some of which are then held out.
        data: where the GraIL splits are; by default the folder that EPIGNN_DATA names.
        seed: chooses what is held out of a single file.
    """
    path = Path(what)
    if is_triples(path):
        return _held_out(path, seed)
    folder = path if path.is_dir() else _named(what, data)
    train, notes = _read_side(folder, None)
    twin = folder.with_name(folder.name + "_ind")
    if not twin.is_dir():
        return Task(what, train, train, tuple(notes))
    test, more = _read_side(twin, train.graph.relations)
    return Task(what, train, test, (*notes, *more))


def _named(what: str, data: Path | None) -> Path:
    name, _, version = what.partition(":")
    if name.casefold() not in NAMED or version not in ("v1", "v2", "v3", "v4"):
        raise unknown("split", what, [*SPLITS, "a folder with train.txt", "a file of triples (.tsv)"])
    root = data or (Path(os.environ["EPIGNN_DATA"]) if os.environ.get("EPIGNN_DATA") else None)
    if root is None:
        raise BadArgument(f"where is {what}? Name the folder that holds inductive_kgc/ in EPIGNN_DATA.")
    for folder in (root / "inductive_kgc", root):
        found = folder / f"{NAMED[name.casefold()]}_{version}"
        if found.is_dir():
            return found
    raise BadArgument(f"{what} is not in {root}: there is no inductive_kgc/{NAMED[name.casefold()]}_{version}.")


def _part(folder: Path, part: str) -> Path | None:
    names = (f"{part}{end}" for end in (".txt", ".txt.gz", ".tsv", ".tsv.gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read_side(folder: Path, relations: tuple[str, ...] | None) -> tuple[Side, list[str]]:
    """A folder's three files; relations come from its facts unless they are given."""
    path = _part(folder, "train")
    if path is None:
        raise BadFile("there is no train.txt in it; a split has train.txt, valid.txt and test.txt.", str(folder))
    facts = read_triples(path)
    others = [read_triples(p) if (p := _part(folder, part)) else None for part in ("valid", "test")]
    files = [facts, *(o for o in others if o is not None)]
    entities = entity_names(files)
    vocabulary = relations if relations is not None else tuple(sorted({r for _, r, _ in facts.triples}))
    graph = Graph(entities, vocabulary, encode(facts, entities, vocabulary))
    none = np.zeros((0, 3), dtype=np.int32)
    held = [none if o is None else encode(o, entities, vocabulary) for o in others]
    notes = [note for file in files for note in file.notes()]
    alone = len(entities) - len(np.unique(graph.facts[:, ::2]))
    if alone:
        notes.append(f"{folder}: {alone:,} entities occur in no fact, only in valid or test")
    return Side(graph, held[0], held[1]), notes


def entity_names(files: Sequence[Triples]) -> tuple[str, ...]:
    """All entities, sorted."""
    return tuple(sorted({name for file in files for h, _, t in file.triples for name in (h, t)}))


def encode(file: Triples, entities: Sequence[str], relations: Sequence[str]) -> Ints:
    """Triples as numbers (N, 3).

    Raises:
        BadFile: a relation is not among the known ones; the message names the line.
    """
    entity = {name: number for number, name in enumerate(entities)}
    number_of = {name: number for number, name in enumerate(relations)}
    for (_, relation, _), line in zip(file.triples, file.lines, strict=True):
        if relation not in number_of:
            raise BadFile(str(unknown("relation", relation, relations)), file.file, line)
    rows = [(entity[h], number_of[r], entity[t]) for h, r, t in file.triples]
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


def _held_out(path: Path, seed: int) -> Task:
    """One file of triples: some are held out for validation and test, of relations that remain among the facts."""
    file = read_triples(path)
    entities, relations = entity_names([file]), tuple(sorted({r for _, r, _ in file.triples}))
    triples = encode(file, entities, relations)
    order = np.random.default_rng(seed).permutation(len(triples))
    # The first triple of each relation, in this order, stays a fact, so that every relation is learnt.
    _, first = np.unique(triples[order, 1], return_index=True)
    free = np.delete(order, first)
    held = min(max(1, round(HELD_OUT * len(triples))), len(free) // 2)
    if not held:
        raise BadFile(f"{len(triples)} triples are too few to hold some out for validation.", str(path))
    valid, test = triples[free[:held]], triples[free[held : 2 * held]]
    facts = triples[np.sort(np.concatenate([order[first], free[2 * held :]]))]
    side = Side(Graph(entities, relations, facts), valid, test)
    return Task(str(path), side, side, tuple(file.notes()))


def read_graph(path: Path, relations: tuple[str, ...], skip_unknown: bool = False) -> tuple[Graph, list[str]]:
    """Facts of a new graph for a model that knows these relations, and notes on what was passed over.

    Args:
        path: a file of triples.
        relations: what the model knows.
        skip_unknown: pass over facts of other relations and count them; otherwise they are an error.
    """
    file = read_triples(path)
    notes = file.notes()
    if skip_unknown:
        known = file.only(frozenset(relations))
        if len(known) < len(file):
            notes.append(f"{path}: {len(file) - len(known):,} facts of unknown relations passed over")
        if not len(known):
            raise BadFile("no fact in it has a relation that the model knows.", str(path))
        file = known
    entities = entity_names([file])
    return Graph(entities, relations, encode(file, entities, relations)), notes
