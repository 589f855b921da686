"""Exact reasoning with a calculus or rules on test problems, in the figures of a model's evaluation. No torch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from epignn.calculus.algebra import Calculus, members
from epignn.data.dataset import Dataset
from epignn.data.figures import figures
from epignn.data.prove import answers
from epignn.distil.choose import chosen
from epignn.distil.evidence import verdict
from epignn.distil.reason import reason
from epignn.distil.rules import RuleSet, load_distilled
from epignn.formats.readers import read_graphs
from epignn.formats.star_csv import read_csv
from epignn.workers import Here, Workers, run
from epignn.workers.api import Tell

Report = Callable[[int, int], None]


class Asked(NamedTuple):
    """A calculus or rules, and a file of problems over its relations."""

    learnt: RuleSet | Calculus
    file: Path


def exact_results(
    path: Path, files: Sequence[Path], report: Report | None = None, workers: Workers | None = None
) -> list[dict[str, Any]]:
    """The figures of every file by a calculus or by rules, without a model.

    Args:
        path: a calculus file or a rule file.
        files: benchmark files over its relations.
        report: called with the files done and all of them.
        workers: who reasons; this process, if nobody is named.
    """
    learnt = load_distilled(path)
    asked = [Asked(learnt, Path(file)) for file in files]
    return run(workers or Here(), exact_result, asked, report).all("files")


def exact_result(asked: Asked, tell: Tell) -> dict[str, Any]:
    """The figures of a file: a job for workers."""
    learnt, file = asked
    if isinstance(learnt, Calculus):
        return {"file": str(file), **exact_figures(learnt, read_csv(file, learnt))}
    return {"file": str(file), **rule_figures(learnt, read_graphs(file, learnt.relations[: learnt.named]))}


def exact_figures(calculus: Calculus, data: Dataset) -> dict[str, Any]:
    """The figures of closure, which is right if it leaves only the label.

    `entailed`, `open` and `contradicted` count the labels that closure alone leaves, leaves among others, excludes.
    """
    counts = np.zeros((len(data), len(calculus)), dtype=np.int64)
    counts[np.arange(len(data)), data.label] = 1
    found = verdict(answers(data, calculus), counts)
    return {
        **figures(data, found.entailed),
        "entailed": found.entailed,
        "open": found.open,
        "contradicted": found.contradicted,
    }


def compared(learnt: Calculus, true: Calculus) -> dict[str, int]:
    """How a learnt table differs from a known one, by the names of relations.

    `cells` counts all cells, `equal` those that agree, `excluding` those that lack a relation which is possible.
    """
    position = [true.relations.index(name) for name in learnt.relations]

    def translated(mask: int) -> int:
        return sum(1 << position[c] for c in members(mask))

    pairs = [
        (translated(learnt.composition[a][b]), true.composition[position[a]][position[b]])
        for a in range(len(learnt))
        for b in range(len(learnt))
    ]
    return {
        "cells": len(pairs),
        "equal": sum(found == known for found, known in pairs),
        "excluding": sum(bool(known & ~found) for found, known in pairs),
    }


def rule_figures(rules: RuleSet, data: Dataset) -> dict[str, Any]:
    """The figures of rules; of several equally strong answers the one that `choose` prefers counts.

    `entailed` counts problems whose only answer is the label, `contradicted` those whose only answer is another,
    `open` those with several answers or none; `ambiguous` those with several, and `among` those of them that
    include the label. `unambiguous` is the accuracy over problems with one answer or none.
    """
    possible = reason(rules, data).possible
    several = possible.sum(1)
    hit = possible[np.arange(len(data)), data.label] if len(data) else np.zeros(0, dtype=bool)
    right = (several > 0) & (chosen(rules, data, possible) == data.label)
    alone, ambiguous = several == 1, several > 1
    clear = int((~ambiguous).sum())
    return {
        **figures(data, int(right.sum())),
        "entailed": int((hit & alone).sum()),
        "open": int((~alone).sum()),
        "contradicted": int((~hit & alone).sum()),
        "ambiguous": int(ambiguous.sum()),
        "among": int((hit & ambiguous).sum()),
        "unambiguous": int((hit & alone).sum()) / clear if clear else 1.0,
    }


def accuracy(learnt: Calculus | RuleSet, data: Dataset) -> float:
    """The share of problems that exact reasoning with what was learnt answers correctly."""
    found = exact_figures(learnt, data) if isinstance(learnt, Calculus) else rule_figures(learnt, data)
    return float(found["accuracy"])
