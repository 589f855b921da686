"""Negatives that are drawn once and kept, so that several scorers are ranked among the same ones."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epignn.data.graph import Ints, Known
from epignn.errors import BadFile
from epignn.learn.checkpoint import write_whole

COUNT = 50
"""As many as GraIL draws for a head and as many for a tail."""


@dataclass(frozen=True, eq=False)
class Negatives:
    """Entities (N, S) that are no known answers to questions (N, 3); -1 where a question has fewer."""

    questions: Ints
    drawn: Ints
    seed: int


def draw(questions: Ints, known: Known, entities: int, seed: int, count: int = COUNT) -> Negatives:
    """Draw negatives of each question without replacement, from all entities that are no known answers."""
    rng = np.random.default_rng(seed)
    drawn = np.full((len(questions), count), -1, dtype=np.int32)
    for row, (head, relation, _) in enumerate(questions.tolist()):
        free = np.ones(entities, dtype=bool)
        free[known.answers(head, relation)] = False
        candidates = np.flatnonzero(free)
        chosen = rng.choice(candidates, min(count, len(candidates)), replace=False)
        drawn[row, : len(chosen)] = chosen
    return Negatives(questions, drawn, seed)


def save(path: Path, negatives: Negatives) -> None:
    """Write negatives, whole."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, questions=negatives.questions, drawn=negatives.drawn, seed=negatives.seed)
    write_whole(path, lambda part: _write(part, buffer.getvalue()))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def load(path: Path, questions: Ints) -> Negatives:
    """Read negatives; they have to be those of these questions."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = Negatives(arrays["questions"], arrays["drawn"], int(arrays["seed"]))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise BadFile("not a file of negatives; name a new file, and they are written there.", str(path)) from error
    if not np.array_equal(found.questions, questions):
        raise BadFile("these negatives were drawn for other questions; draw them anew.", str(path))
    return found
