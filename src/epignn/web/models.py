"""What a worker asks of trained models: answers, explanations, links, what they have learnt. Loads torch."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from epignn.calculus import load
from epignn.distil.calculus import Distilled
from epignn.distil.compare import compared
from epignn.distil.learnt import distil_trained, examples, kind_of, save, task_of
from epignn.distil.reading import read_weights
from epignn.errors import BadArgument
from epignn.explain.neural import THRESHOLD
from epignn.learn.checkpoint import load_model
from epignn.reason import ask as asking
from epignn.reason.answers import LinkAnswer
from epignn.reason.calculi import rules_list
from epignn.reason.folders import CALCULUS, CONFIG, RULES, shipped_models
from epignn.reason.links import Links, by_first_head
from epignn.reason.neural import Neural
from epignn.web import graphs
from epignn.web.folders import WEIGHTS, model_folder
from epignn.web.limits import Context
from epignn.web.networks import answers_dict, explanation_dict, shipped, told

torch.set_num_threads(1)  # one is best for small models, and others work beside
PARTS = (CONFIG, WEIGHTS, CALCULUS, RULES)
KEPT = 4
"""Models that a worker keeps."""


def neural(context: Context, name: str) -> Neural:
    """A trained model, loaded once as long as its files stay as they are."""
    folder = model_folder(context, name)
    return _neural(folder, tuple(_written(folder / part) for part in PARTS))


@lru_cache(KEPT)
def _neural(folder: Path, written: tuple[int, ...]) -> Neural:
    trained = load_model(str(folder))
    return Neural.of(trained) if trained.config.ranks else Neural.load(str(folder))


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


def _classifier(request: dict[str, Any], context: Context, name: str) -> Neural:
    """A model of labelled graphs that speaks of what the request is about.

    Raises:
        BadArgument: it is a model of links, or of another calculus than the one that is named.
    """
    found = neural(context, name)
    if found.trained_.config.ranks:
        raise BadArgument(f"{name} predicts links; ask it by /api/links.")
    wanted = request["calculus"]
    if wanted is not None and found.exact is not None and shipped(wanted) != found.exact.calculus_:
        raise BadArgument(f"{name} is a model of {found.exact.calculus_.name}, the facts are of {wanted}.")
    return found


def ask(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """What may hold of a pair, by a model, by what was distilled from it, and by exact reasoning."""
    name = request["model"]
    found = asking.ask_model(
        _classifier(request, context, name), told(request, context), request["head"], request["tail"]
    )
    return answers_dict(found, name, [])


def explain(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Why a model, or what was distilled from it, answers as it does."""
    facts = told(request, context)
    name = request["model"] or asking.shipped_for(facts)
    found = _classifier(request, context, name)
    pair = request["head"], request["tail"]
    if request["by"] == "learnt":
        learnt = found.learnt_
        if learnt is None:
            raise BadArgument(f"nothing is distilled from {name} yet; distil it first.")
        return explanation_dict(learnt.explain(learnt.read(facts), *pair), request["svg"])
    asked = Neural.of(found.trained_, found.learnt_, request["threshold"] or THRESHOLD)
    return explanation_dict(asked.explain(asked.read(facts), *pair), request["svg"])


def links(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Who is the tail of a head and a relation."""
    model = Links(neural(context, request["model"]).trained_)
    graph, notes = graphs.read(request["triples"], model.trained.relations)
    question = [(request["head"], request["relation"])]
    found = model.answer(graph, question, request["top"], request["include_known"], request["paths"])
    if not request["include_known"] and (stated := model.stated(graph, by_first_head(graph, question))):
        notes = [*notes, f"{stated:,} answers that the graph states are left out."]
    return {
        "answers": [_answer(one) for one in found],
        "entities": len(graph.entities),
        "facts": len(graph.facts),
        "relations": list(graph.relations),
        "notes": notes,
    }


def _answer(one: LinkAnswer) -> dict[str, Any]:
    steps = one.path.steps if one.path is not None else ()
    return {**one.to_dict(), "support": [[step.source, step.relation, step.target] for step in steps]}


def distil(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Read a calculus or rules off a run's weights, and put them beside these."""
    name = request["name"]
    if name in shipped_models():
        raise BadArgument(f"{name} is a shipped model, and distilled already.")
    folder = model_folder(context, name)
    trained = load_model(str(folder))
    task_of(trained)
    kind = kind_of(trained.experiment)
    found = distil_trained(trained, examples(trained, (), _silent), kind, f"{name}-learnt", _silent)
    path = folder / (CALCULUS if kind == "calculus" else RULES)
    save(found, path)
    if not isinstance(found, Distilled):
        told = {"relations": list(found.rules.relations), "rules": rules_list(found.rules)}
        return {"kind": kind, **told, "toml": path.read_text(encoding="utf-8")}
    reading = read_weights(trained.model, trained.relations)
    true = load(trained.experiment.calculus)
    certificate = found.certificate.to_dict()
    return {"kind": kind, "calculus": true.name, "certificate": certificate, **compared(found, reading, true)}


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
