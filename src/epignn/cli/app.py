"""The commands and their help; each lives in a module of its own, which is loaded when the command is called."""

import importlib
from collections.abc import Iterable
from types import MappingProxyType

import typer

COMMANDS = MappingProxyType(
    {
        "close": "networks.close",
        "entails": "networks.entails",
        "explain": "explain.explain",
        "realise": "realise.realise",
        "check": "benchmark.check",
        "relate": "relate.relate",
        "export": "relate.export",
        "train": "learn.train",
        "evaluate": "learn.evaluate",
        "predict": "learn.predict",
        "score": "score.score",
        "profile": "profile.profile",
        "ask": "ask.ask",
        "distil": "distil.distil",
        "refine": "refine.refine",
        "reproduce": "reproduce.reproduce",
        "sweep": "sweep.sweep",
        "tune": "tune.tune",
        "settings": "settings.settings",
        "demo": "demo.demo",
        "serve": "serve.serve",
        "info": "info.info",
        "generate": "generate.app",
        "calculus": "calculi.app",
        "data": "data.app",
    }
)
"""Where each command is: a function of a module of this package, or a group of commands."""


def app(arguments: Iterable[str] = ()) -> typer.Typer:
    """The command line; with the command of the arguments alone, so that the others need not be loaded."""
    found = typer.Typer(
        name="epignn",
        help="Reason about relations: of regions, events, places, relatives, links. Exit codes: 0 answered, 1 "
        "inconsistent or not entailed, 2 bad input, 3 undecided.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    found.callback()(lambda: None)  # without it, a single command would be called without its name
    asked = next(iter(arguments), "")
    for name in [asked] if asked in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(".")
        command = getattr(importlib.import_module(f"epignn.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            found.add_typer(command, name=name)
        else:
            found.command(name)(command)
    return found
