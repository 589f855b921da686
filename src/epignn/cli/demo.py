"""`epignn demo`: the main job from start to end: generate, train, test, ask."""

import time
from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import MOST_SEED, SMOKE, emit_json, say, table

FACTS = "ec(harbour, old town). ntpp(old town, city). tppi(harbour, pier). po(pier, city)"
QUESTION = ("harbour", "city")
SETTINGS = ("training.epochs=8",)
CELLS = [(k, b) for k in range(2, 10) for b in (1, 2, 3)]


def demo(
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="The seed of the training run.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smoke test on little data; its figures are not to be compared.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """See it all at work, in two minutes: generate problems, train a model, test it on larger ones, ask it."""
    import torch

    from epignn.calculus.solve.closure import close
    from epignn.formats.facts import parse_facts
    from epignn.formats.networks import as_networks
    from epignn.learn.config import load_experiment
    from epignn.learn.fit import Epoch
    from epignn.learn.run import objective_of
    from epignn.learn.run import train as train_run
    from epignn.reason.neural import Neural
    from epignn.report.pictures import accuracy_by_k, check_name, save
    from epignn.report.reproduce import measure_cells
    from epignn.report.suites import SUITES

    check_name(out)
    torch.set_num_threads(1)
    experiment = load_experiment("rcc8", (*SETTINGS, *(("data.per_label=40",) if quick else ())))
    say(
        "Generating RCC-8 problems: graphs of 1 to 3 branches of length 2 to 4, and the relation that follows.",
        err=True,
    )
    objective = objective_of(experiment, seed)
    say(f"Training on {len(objective):,} of them, {experiment.training.epochs} epochs, on one core.", err=True)
    started = time.perf_counter()

    def report(epoch: Epoch) -> None:
        say(f"  epoch {epoch.number}: loss {epoch.loss:.4f}, validation {epoch.validation:.4f}", err=True)

    trained = train_run(experiment, objective, seed=seed, report=report).trained
    seconds = time.perf_counter() - started
    say(f"Trained in {seconds:.0f} s. Testing on graphs up to ten times as large.", err=True)
    tested = measure_cells(trained, CELLS, 4 if quick else 30, lambda text: None)
    results = {(cell["k"], cell["b"]): cell for cell in tested}
    average = sum(cell["accuracy"] for cell in results.values()) / len(results)
    curves = {f"b = {b}": [(k, results[k, b]["accuracy"]) for k in range(2, 10)] for b in (1, 2, 3)}
    save(accuracy_by_k(curves, "Trained on k ≤ 4, tested on k ≤ 9 (RCC-8)"), out)
    (network,) = as_networks(parse_facts(FACTS, "the facts"), None, "the facts")
    (learnt,) = Neural.of(trained).answer([(network, *QUESTION)])
    exact = network.calculus.format(close(network).mask(*QUESTION))
    if as_json:
        cells = list(results.values())
        emit_json(
            {
                **({"note": SMOKE} if quick else {}),
                "average": average,
                "training_seconds": seconds,
                "cells": cells,
                "answer": learnt.chances(),
                "exact": exact,
            }
        )
        return
    paper = SUITES["rcc8"].paper
    rows = [
        (
            f"k = {k}",
            *(f"{results[k, b]['accuracy']:.3f}" for b in (1, 2, 3)),
            f"{min(results[k, b]['closure'] for b in (1, 2, 3)):.3f}",
        )
        for k in range(2, 10)
    ]
    table(("accuracy", "b = 1", "b = 2", "b = 3", "exact closure"), rows)
    hardest = results[9, 3]["accuracy"]
    if quick:
        say(f"Average {average:.3f}; k = 9, b = 3: {hardest:.3f}. {SMOKE}")
    else:
        say(f"Average {average:.3f} (paper {paper['average']:.2f}).")
        say(f"k = 9, b = 3: {hardest:.3f} (paper {paper['k=9 b=3']:.2f}).")
    say(f"The picture is in {out}.")
    say()
    say(f"A question: {FACTS}.")
    say(f"How does the {QUESTION[0]} lie to the {QUESTION[1]}?")
    say(f"  the model just trained: {learnt.relation} with probability {learnt.probability:.3f}")
    say(f"  exact closure:          {exact}")
