"""Knowledge graphs whose missing links are to be found: published splits, a folder, or one file of triples."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epignn.data.graph import Graph, Ints, Side
from epignn.errors import BadFile, lookup, near_misses, unknown
from epignn.formats.triples import Triples as TriplesFile
from epignn.formats.triples import read_triples
from epignn.tasks import SAME, SPLITS
from epignn.tasks.api import Links, LinkTask
from epignn.tasks.pykeen import folder_of as carried
from epignn.tasks.registry import find, locate

NAMED = {"wn18rr": "WN18RR", "fb237": "fb237", "nell": "nell"}
"""How the files of a family of splits are called."""
WHOLE = {"wn18rr": "WN18RR", "fb237": "FB15k-237"}
"""How the whole graph of a family is called, of which its splits are parts."""
CLUSTERED = {
    "wn18rr-e": "wn18rr_E",
    "codex-m-e": "codex_m_E",
    "hetionet-e": "hetionet_E",
    "fb237-er": "fb15k-237_ER",
    "codex-m-er": "codex_m_ER",
}
"""Splits into clusters, and how their folders are called."""
NAMED_UNSEEN = 5
"""So many relations that training never saw are named in a note."""
HELD_OUT = 0.1
"""Share of a single file's triples that is kept for validation, and as many for the test."""


@dataclass(frozen=True)
class Grail(LinkTask):
    """An inductive split of GraIL, `wn18rr:v1` … `nell:v4`: the test graph has other entities than the first.

    Without a version, the whole graph: `wn18rr` and `fb237` are tested on the entities that they are trained on.
    """

    task: str = "wn18rr:v1"

    def links(self, seed: int) -> Links:
        """The graphs of the split, below EPIGNN_DATA or where `epignn data get` put them."""
        word = self.task.partition(":")[0].casefold()
        family = SAME.get(word, word)
        if not self.version and family in WHOLE:
            return read_folder(locate(WHOLE[family], "train.txt").parent)
        if self.version not in ("v1", "v2", "v3", "v4"):
            raise unknown("split", self.task, [*SPLITS, *(f"nell:v{n}" for n in (1, 2, 3, 4)), *WHOLE])
        name = f"{NAMED[family]}_{self.version}"
        return read_folder(locate(name, f"{name}/train.txt").parent)


@dataclass(frozen=True)
class Clustered(LinkTask):
    """An inductive split into clusters of a graph, in which PageRank is no shortcut (Shomer and others, 2024).

    `wn18rr-e`, `codex-m-e` and `hetionet-e` are tested on new entities, `fb237-er` and `codex-m-er` on new
    relations too. The test graph is the first, or `:1` for the second.
    """

    task: str = "wn18rr-e"

    def links(self, seed: int) -> Links:
        """The training graph and one of the test graphs."""
        name = CLUSTERED[self.task.partition(":")[0].casefold()]
        tests = [file.removesuffix("_graph.txt") for file in find(name).files if file.endswith("_graph.txt")]
        numbers = {test.removeprefix("test_"): test for test in tests if test != "train"}
        test = lookup(f"test graph of {self.task}", self.version or "0", numbers)
        train, notes = side_of([locate(name, "train_graph.txt"), locate(name, "valid_samples.txt"), None], None)
        there = [locate(name, f"{test}_graph.txt"), None, locate(name, f"{test}_samples.txt")]
        learnt = _first_relations(train, len(np.unique(train.graph.facts[:, 1])))
        tested, more = side_of(there, learnt.graph.relations)
        return Links(learnt, tested, (*notes, *more))


@dataclass(frozen=True)
class Carried(LinkTask):
    """A small graph that PyKEEN carries, `nations`, `umls` or `kinships`, tested on the entities of training."""

    task: str = "nations"

    def links(self, seed: int) -> Links:
        """Its three files, wherever they are."""
        return read_folder(carried(self.task.casefold()))


@dataclass(frozen=True)
class Triples(LinkTask):
    """Triples of one's own: a folder with train, valid and test.txt, or one file, of which some are held out.

    A folder may have a twin to be tested on, of the same name with `_ind` behind it.
    """

    def sources(self) -> list[str]:
        """The file, or the parts of the folder."""
        path = Path(self.task)
        found = [_part(path, part) for part in ("train", "valid", "test")] if path.is_dir() else [path]
        return [str(file) for file in found if file is not None]

    def links(self, seed: int) -> Links:
        """What is there, or what the seed holds out."""
        path = Path(self.task)
        return read_folder(path) if path.is_dir() else hold_out(read_triples(path), seed)


def holds_triples(path: Path) -> bool:
    """Whether a name is that of a folder with train.txt, or of a file of triples, there or not."""
    if path.is_dir():
        return _part(path, "train") is not None
    return bool(re.search(r"\.(tsv|txt)(\.gz)?$", path.name))


def read_folder(folder: Path) -> Links:
    """A folder's graph and, where there is a twin of its name and `_ind`, that one to be tested on.

    Relations that occur in no fact of the folder are not learnt: validation passes over them, tests ask them.
    """
    found, notes = _read_side(folder, None)
    learnt = len(np.unique(found.graph.facts[:, 1]))
    train = found if learnt == len(found.graph.relations) else _first_relations(found, learnt)
    twin = folder.with_name(folder.name + "_ind")
    if not twin.is_dir():
        return Links(train, found, tuple(notes))
    test, more = _read_side(twin, train.graph.relations)
    return Links(train, test, (*notes, *more))


def _first_relations(side: Side, count: int) -> Side:
    """A side without the triples of all but the first relations."""
    facts, valid, test = (t[t[:, 1] < count] for t in (side.graph.facts, side.valid, side.test))
    return Side(Graph(side.graph.entities, side.graph.relations[:count], facts), valid, test)


def _part(folder: Path, part: str) -> Path | None:
    names = (f"{part}{end}" for end in (".txt", ".txt.gz", ".tsv", ".tsv.gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read_side(folder: Path, relations: tuple[str, ...] | None) -> tuple[Side, list[str]]:
    """A folder's three files; see `side_of`."""
    if _part(folder, "train") is None:
        raise BadFile("there is no train.txt in it; a split has train.txt, valid.txt and test.txt.", str(folder))
    return side_of([_part(folder, part) for part in ("train", "valid", "test")], relations)


def side_of(paths: Sequence[Path | None], relations: tuple[str, ...] | None) -> tuple[Side, list[str]]:
    """Files of facts, validation and test triples, of which the last two may be missing.

    Relations come from the facts unless they are given; others stand behind them.
    """
    assert paths[0] is not None
    facts, *others = (None if path is None else read_triples(path) for path in paths)
    assert facts is not None
    files = [facts, *(o for o in others if o is not None)]
    entities = entity_names(files)
    known = relations if relations is not None else tuple(sorted(facts.relations))
    vocabulary, notes = with_unseen(known, files)
    graph = Graph(entities, vocabulary, encode(facts, entities, vocabulary))
    none = np.zeros((0, 3), dtype=np.int32)
    held = [none if o is None else encode(o, entities, vocabulary) for o in others]
    alone = len(entities) - len(np.unique(graph.facts[:, ::2]))
    if alone:
        notes.append(f"{paths[0].parent}: {alone:,} entities occur in no fact, only in valid or test")
    return Side(graph, held[0], held[1]), notes


def with_unseen(known: tuple[str, ...], files: Sequence[TriplesFile]) -> tuple[tuple[str, ...], list[str]]:
    """Known relations and, behind them, those that some files have besides; notes on these and on lines."""
    notes = [note for file in files for note in file.notes()]
    unseen: dict[str, int] = {}
    for file in files:
        counts = np.bincount(file.which, minlength=len(file.relations)).tolist()
        for name, count in zip(file.relations, counts, strict=True):
            if name not in known:
                unseen[name] = unseen.get(name, 0) + count
    if unseen:
        told = [f"{name!r} ({unseen[name]:,} triples{_near(name, known)})" for name in sorted(unseen)]
        more = f" and {len(told) - NAMED_UNSEEN} more" if len(told) > NAMED_UNSEEN else ""
        notes.append(
            f"{files[0].file}: training never saw the relation{'s' * (len(told) > 1)} "
            f"{', '.join(told[:NAMED_UNSEEN])}{more}; such facts tell the model nothing, and as an answer every "
            "entity is as good as any other"
        )
    return (*known, *sorted(unseen)), notes


def _near(name: str, known: Sequence[str]) -> str:
    """A known relation that looks much like an unseen one, which may be a slip."""
    near = near_misses(name, known, 1)
    return f", is {near[0]!r} meant?" if near else ""


def entity_names(files: Sequence[TriplesFile]) -> tuple[str, ...]:
    """All entities, sorted."""
    return tuple(sorted({name for file in files for name in file.entities}))


def encode(file: TriplesFile, entities: Sequence[str], relations: Sequence[str]) -> Ints:
    """Triples as numbers (N, 3); all their names have to be among the given ones."""
    entity = {name: number for number, name in enumerate(entities)}
    number_of = {name: number for number, name in enumerate(relations)}
    entity_of = np.array([entity[name] for name in file.entities], dtype=np.int32)
    relation_of = np.array([number_of[name] for name in file.relations], dtype=np.int32)
    return np.stack([entity_of[file.heads], relation_of[file.which], entity_of[file.tails]], 1)


def hold_out(file: TriplesFile, seed: int) -> Links:
    """Triples, of which some are held out for validation and test, of relations that remain among the facts."""
    entities, relations = entity_names([file]), tuple(sorted(file.relations))
    triples = encode(file, entities, relations)
    order = np.random.default_rng(seed).permutation(len(triples))
    # The first triple of each relation, in this order, stays a fact, so that every relation is learnt.
    _, first = np.unique(triples[order, 1], return_index=True)
    free = np.delete(order, first)
    held = min(max(1, round(HELD_OUT * len(triples))), len(free) // 2)
    if not held:
        raise BadFile(f"{len(triples)} triples are too few to hold some out for validation.", file.file)
    valid, test = triples[free[:held]], triples[free[held : 2 * held]]
    facts = triples[np.sort(np.concatenate([order[first], free[2 * held :]]))]
    side = Side(Graph(entities, relations, facts), valid, test)
    return Links(side, side, tuple(file.notes()))


def read_graph(path: Path, relations: tuple[str, ...] | None) -> tuple[Graph, list[str]]:
    """The graph of a file of triples; see `graph_of`."""
    return graph_of(read_triples(path), relations)


def graph_of(file: TriplesFile, relations: tuple[str, ...] | None) -> tuple[Graph, list[str]]:
    """Facts of a new graph for a model that knows some relations, and notes on what a person should know.

    Args:
        file: the triples.
        relations: what the model knows, and what the graph then has, with those of the triples behind them; None
            takes those of the triples.
    """
    if relations is None:
        relations = tuple(sorted(file.relations))
    vocabulary, notes = with_unseen(relations, [file])
    if not set(relations) & set(file.relations):
        raise BadFile("no fact in it has a relation that the model knows.", file.file)
    entities = entity_names([file])
    return Graph(entities, vocabulary, encode(file, entities, vocabulary)), notes
