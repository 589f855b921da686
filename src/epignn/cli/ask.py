"""`epignn ask`: one question to a model, to what was distilled from it, and to the exact calculus."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import emit_json
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.calculus.network import Network
    from epignn.calculus.result import Result
    from epignn.learn.answer import Prediction
    from epignn.learn.checkpoint import Trained


def ask(
    facts: Annotated[str, typer.Argument(help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')],
    head: Annotated[str, typer.Argument(help="What may hold from this entity …")],
    tail: Annotated[str, typer.Argument(help="… to this one?")],
    model: Annotated[
        str | None, typer.Option(help="A model; by default the shipped one for the facts' calculus.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Ask a model, the calculus distilled from it and the exact one; exit code 1 if the facts clash.

    Where they disagree, it is said. A model of relations that belong to no calculus is asked beside its rules.
    """
    from epignn.cli.networks import read_facts
    from epignn.learn.checkpoint import load_model, shipped_models

    if model is not None and not load_model(model).experiment.data.calculus:
        return _ask_vocabulary(load_model(model), facts, (head, tail), as_json)
    network = read_facts(facts)
    name = model or network.calculus.name
    if model is None and name not in shipped_models():
        raise BadArgument(f"no model is shipped for {name}; train one and name it with --model.")
    return _ask(load_model(name), network, (head, tail), as_json)


def _ask(trained: "Trained", network: "Network", pair: tuple[str, str], as_json: bool) -> None:
    from epignn.calculus.solve.closure import close
    from epignn.explain.distilled import calculus_of

    for entity in pair:
        network.position(entity)
    neural, reason = _neural(trained, network, pair)
    learnt, exact = close(replace(network, calculus=calculus_of(trained.name))), close(network)
    sets = {"learnt": _possible(learnt, pair), "exact": _possible(exact, pair)}
    if as_json:
        answers: dict[str, Any] = {"neural": None if neural is None else vars(neural), **sets}
        agree = neural is not None and sets["learnt"] == sets["exact"] == [neural.relation]
        about = {"calculus": network.calculus.name, "model": trained.name}
        emit_json({**about, **answers, "agree": agree, "consistent": exact.consistent})
    else:
        typer.echo(f"neural  {reason}" if neural is None else _neural_line(neural, pair))
        for who, result in (("learnt", learnt), ("exact", exact)):
            clash = "the facts contradict each other: " + ", ".join(map(str, result.conflict))
            typer.echo(f"{who}  ".ljust(8) + (_left(result, pair) if result.consistent else clash))
        for line in _differences(neural, learnt, exact, sets):
            typer.echo(line)
    if not exact.consistent:
        raise typer.Exit(1)


def _neural(trained: "Trained", network: "Network", pair: tuple[str, str]) -> tuple["Prediction | None", str]:
    """The model's answer, or why it has none: it reads facts of one relation that connect the pair."""
    from epignn.learn.answer import graph_of, predict

    try:
        graph = graph_of(trained, network, *pair)
    except BadArgument as error:
        if network.calculus.relations != trained.relations or pair[0] == pair[1]:
            raise
        return None, f"no answer: {error}"
    return predict(trained, graph)[0], ""


def _possible(result: "Result", pair: tuple[str, str]) -> list[str]:
    """The relations that may hold; none where the facts clash."""
    return list(result.network.calculus.names(result.relations(*pair))) if result.consistent else []


def _left(result: "Result", pair: tuple[str, str]) -> str:
    calculus, mask = result.network.calculus, result.relations(*pair)
    ends = f"({', '.join(pair)})"
    return f"anything may hold of {ends}" if mask == calculus.universal else f"{calculus.format(mask)}{ends}"


def _neural_line(found: "Prediction", pair: tuple[str, str]) -> str:
    return (
        f"neural  {found.relation}({', '.join(pair)}) with probability {found.probability:.3f}; next "
        f"{found.runner_up} with {found.runner_up_probability:.3f}"
    )


def _differences(
    neural: "Prediction | None", learnt: "Result", exact: "Result", sets: dict[str, list[str]]
) -> list[str]:
    """Who answers otherwise than exact closure, in sentences; no sentence where all agree."""
    said = []
    if exact.consistent and neural is not None and [neural.relation] != sets["exact"]:
        among = neural.relation in sets["exact"]
        said.append(f"The model's answer is {'one of those possible' if among else 'not possible'}.")
    if sets["learnt"] != sets["exact"] or learnt.consistent != exact.consistent:
        said.append("The learnt calculus disagrees with the exact one.")
    return [" ".join(said)] if said else []


def _ask_vocabulary(trained: "Trained", facts: str, pair: tuple[str, str], as_json: bool) -> None:
    """Ask a model whose relations belong to no calculus, and its rules; facts keep their direction."""
    from epignn.cli.explain import read_statements
    from epignn.distil.reason import reason
    from epignn.explain.distilled import rules_of
    from epignn.learn.answer import predict

    graph = read_statements(facts, trained.relations).graph(*pair)
    (neural,) = predict(trained, graph)
    rules = rules_of(trained.name)
    learnt = None
    if rules is not None:
        learnt = [rules.relations[r] for r in reason(rules, graph).possible[0].nonzero()[0]]
    if as_json:
        emit_json(
            {
                "calculus": None,
                "model": trained.name,
                "neural": vars(neural),
                "learnt": learnt,
                "agree": learnt == [neural.relation],
            }
        )
        return
    typer.echo(_neural_line(neural, pair))
    if learnt is None:
        return
    typer.echo(f"learnt  {'|'.join(learnt)}({', '.join(pair)})" if learnt else "learnt  no rule leads to an answer")
    if learnt and learnt != [neural.relation]:
        among = neural.relation in learnt
        typer.echo(f"The model's answer is {'one of those' if among else 'not one'} that its rules derive.")
