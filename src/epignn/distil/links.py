"""The rules that a link prediction model has learnt, as text, with how often they hold, checked against the model.

A rule `capital^-1, part of -> lies in` is taken up if the model, shown nothing but two facts in a row of these
relations, scores the end of the row above an entity that nothing leads to: a question that any kind of model can be
asked. How far the rules explain a model is then measured: for how many held-out questions its first answer is one
that the strongest rule gives.
"""

import csv
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.data.graph import Graph, Known, Side, both_sides
from epignn.data.shared import arrays_of, graph_of
from epignn.distil.bodies import Bodies, Body, Counts
from epignn.errors import BadArgument
from epignn.files import json_text, write_text
from epignn.learn.checkpoint import Kept, Trained
from epignn.learn.protocols import by_head
from epignn.learn.ranking import METRICS, Ranks, stand
from epignn.learn.scorers import scorer_of
from epignn.models.tally import relations_of
from epignn.tasks.api import Report
from epignn.workers import Shared, Workers, run
from epignn.workers.api import Tell

Floats = NDArray[np.float64]
FACTS, CANDIDATES = 150, 60
"""Facts of each relation whose walks give bodies, and bodies of each relation that are tried, at most."""
TOGETHER = 64
"""Bodies that are laid into one graph for the model to score."""
ASKED = 300
"""Held-out triples by which rules are checked, at most."""
HEADER = ("relation", "rule", "score", "support", "pairs", "confidence")


@dataclass(frozen=True)
class LinkRule:
    """A rule that a model has learnt.

    Attributes:
        relation: that it concludes, by number.
        body: relations that lead to it, by number.
        text: the rule.
        score: of the model for the end of its body, less that of an entity which nothing leads to.
        counts: how often it holds on the graph.
    """

    relation: int
    body: Body
    text: str
    score: float
    counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        counts = self.counts
        found = {"rule": self.text, "score": round(self.score, 4), "support": counts.support, "pairs": counts.pairs}
        return {"relation": self.text.rpartition(" -> ")[2], **found, "confidence": round(counts.confidence, 4)}


@dataclass(frozen=True)
class Check:
    """How far rules explain what a model answers to held-out questions.

    Attributes:
        questions: how many were asked.
        explained: the share whose first answer, by the model, is one that the strongest rule gives.
        reached: the share whose first answer some rule gives.
        model_mrr, rules_mrr: how well both rank the held-out answers.
    """

    questions: int
    explained: float
    reached: float
    model_mrr: float
    rules_mrr: float


@dataclass(frozen=True)
class LinkRules:
    """All rules of a model, those of one relation together and the strongest first, and how far they explain it."""

    rules: tuple[LinkRule, ...]
    check: Check


@dataclass(frozen=True)
class Asked:
    """A relation whose rules are asked of a model, both ways: plain values.

    Attributes:
        model: of a run folder.
        graph: its arrays; see `epignn.data.shared`.
        relation: by number.
        most, longest: see `distil_links`.
    """

    model: Kept
    graph: Shared
    relation: int
    most: int
    longest: int


Both = tuple[list[LinkRule], list[LinkRule]]
"""The rules of a relation, and those of its inverse."""


def distil_links(
    trained: Trained,
    side: Side,
    most: int = 10,
    longest: int = 3,
    report: Report | None = None,
    workers: Workers | None = None,
) -> LinkRules:
    """Read the rules of a model off its answers.

    Args:
        trained: a model for links.
        side: a graph with held-out triples, in the model's relations.
        most: rules of each relation that are kept.
        longest: steps of a body, at most 3.
        report: called with relations done and relations in all.
        workers: who asks the model, which is then one of a run folder; this process, if nobody is named.

    Raises:
        BadArgument: the model is not for links.
    """
    if not trained.config.ranks:
        raise BadArgument(f"{trained.name} classifies graphs; its rules are distilled from labelled graphs.")
    if not 1 <= longest <= 3:
        raise BadArgument(f"bodies have 1 to 3 steps, not {longest}.")
    bodies, count = Bodies(side.graph), len(side.graph.relations)
    if workers is None or workers.count == 1:
        found = []
        for relation in range(count):
            found.append(rules_of(trained, bodies, relation, most, longest))
            if report is not None:
                report(relation + 1, count)
    else:
        with tempfile.TemporaryDirectory() as folder:
            shared = workers.share(arrays_of(side.graph), Path(folder))
            model = Kept.of(trained)
            asked = [Asked(model, shared, relation, most, longest) for relation in range(count)]
            found = run(workers, rules_asked, asked, report).all("relations")
    by_relation = {
        relation + count * turned: rules for relation, both in enumerate(found) for turned, rules in enumerate(both)
    }
    rules = tuple(rule for forwards, _ in found for rule in forwards)
    return LinkRules(rules, _check(trained, side, bodies, by_relation))


def rules_of(trained: Trained, bodies: Bodies, relation: int, most: int, longest: int) -> Both:
    """The strongest rules of a relation and of its inverse."""
    tried, count = _candidates(bodies, relation, longest), len(bodies.graph.relations)
    found: list[list[LinkRule]] = []
    for number, direction in ((relation, tried), (relation + count, [bodies.reversed(b) for b in tried])):
        scores = body_scores(trained, bodies.graph.relations, direction, number)
        order = [k for k in np.argsort(-scores, kind="stable").tolist() if scores[k] > 0][:most]
        found.append(
            [
                LinkRule(
                    number,
                    direction[k],
                    bodies.text(direction[k], number),
                    float(scores[k]),
                    bodies.counts(direction[k], number) if number == relation else Counts(0, 0),
                )
                for k in order
            ]
        )
    return found[0], found[1]


def rules_asked(asked: Asked, tell: Tell) -> Both:
    """What `rules_of` gives: a job for workers."""
    torch.set_num_threads(1)
    return rules_of(asked.model.load(), _bodies(asked.graph), asked.relation, asked.most, asked.longest)


@lru_cache(maxsize=1)
def _bodies(graph: Shared) -> Bodies:
    return Bodies(graph_of(graph))


def _candidates(bodies: Bodies, relation: int, longest: int) -> list[Body]:
    """The bodies that most often join what a relation joins, of some of its facts."""
    rng = np.random.default_rng(relation)
    facts = bodies.graph.facts[bodies.graph.facts[:, 1] == relation]
    chosen = rng.permutation(facts)[:FACTS].tolist()
    found = [bodies.between(head, tail, longest, rng) for head, _, tail in chosen if head != tail]
    number, count = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]), return_counts=True)
    relations = 2 * len(bodies.graph.relations)
    order = np.argsort(-count, kind="stable")  # among equals, shorter ones have smaller numbers
    ranked = [tuple(relations_of(body, relations)) for body in number[order[: CANDIDATES + 1]].tolist()]
    return [body for body in ranked if body != (relation,)][:CANDIDATES]


def body_scores(trained: Trained, relations: tuple[str, ...], bodies: Sequence[Body], relation: int) -> Floats:
    """What a model makes of bodies alone: the score of their ends, less that of an entity nothing leads to."""
    found = np.zeros(len(bodies))
    count = len(relations)
    for first in range(0, len(bodies), TOGETHER):
        part = bodies[first : first + TOGETHER]
        facts, starts, node = [], [], 1  # node 0 is the one that nothing leads to
        for body in part:
            starts.append(node)
            for step in body:
                ends = (node, node + 1) if step < count else (node + 1, node)
                facts.append((ends[0], step % count, ends[1]))
                node += 1
            node += 1
        graph = Graph(tuple(map(str, range(node))), relations, np.array(facts, dtype=np.int32))
        scorer = scorer_of(trained.model, trained.relations, graph)
        asked = np.array([relation], dtype=np.int32)
        for k, (start, body) in enumerate(zip(starts, part, strict=True)):
            scorer.prepare(np.array([start], dtype=np.int32))
            line = scorer(start, asked)[0]
            found[first + k] = line[start + len(body)] - line[0]
    return found


def _check(trained: Trained, side: Side, bodies: Bodies, rules: dict[int, list[LinkRule]]) -> Check:
    """Ask held-out questions of the model and of its rules."""
    graph = side.graph
    chosen = np.random.default_rng(0).permutation(len(side.valid))[:ASKED]
    asked = both_sides(side.valid[np.sort(chosen)], len(graph.relations))
    known, stated = side.known(), Known([graph.facts], len(graph.entities), len(graph.relations))
    explained = reached = 0
    by_model, by_rules = np.zeros((2, 3, len(asked)), dtype=np.int64)
    for rows, scores in by_head(asked, scorer_of(trained.model, trained.relations, graph)):
        for row, line in zip(rows.tolist(), scores, strict=True):
            head, relation, tail = asked[row].tolist()
            strength = _strengths(bodies, rules[relation], head)
            rival = np.ones(len(line), dtype=bool)
            rival[known.answers(head, relation)] = False
            for kept, values in ((by_model, line), (by_rules, strength)):
                kept[:, row] = stand(values[None], values[[tail]], rival[None]).columns[:, 0]
            open_answers = np.array(line, dtype=np.float64)
            open_answers[stated.answers(head, relation)] = -np.inf
            open_answers[head] = -np.inf
            strength[stated.answers(head, relation)] = 0
            first = int(open_answers.argmax())
            reached += int(strength[first] > 0)
            explained += int(strength[first] > 0 and strength[first] == strength.max())
    mrr = METRICS["mrr"]
    total = max(len(asked), 1)
    return Check(len(asked), explained / total, reached / total, mrr(Ranks(*by_model)), mrr(Ranks(*by_rules)))


def _strengths(bodies: Bodies, rules: Sequence[LinkRule], head: int) -> Floats:
    """(V): the score of the strongest rule that gives each entity; 0 where none does."""
    found = np.zeros(len(bodies.graph.entities))
    for rule in reversed(rules):  # the strongest last
        found[bodies.ends(rule.body, head)] = rule.score
    return found


def save_rules(found: LinkRules, path: Path) -> None:
    """Write rules: `.json` with the check, or a table with tabs, or commas by the name of .csv, between columns."""
    rows = [rule.to_dict() for rule in found.rules]
    if path.suffix == ".json":
        write_text(path, json_text({"check": vars(found.check), "rules": rows}) + "\n")
        return
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, HEADER, delimiter="," if path.suffix == ".csv" else "\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, buffer.getvalue())
