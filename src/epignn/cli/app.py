"""The commands and their help; each lives in a module of its own, which is loaded when the command is called."""

import importlib
import inspect
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Annotated

import typer

from epignn.cli.output import say
from epignn.version import __version__

PANELS = MappingProxyType(
    {
        "Questions about facts": {
            "calculus": "calculi.app",
            "close": "networks.close",
            "entails": "networks.entails",
            "explain": "explain.explain",
            "ask": "ask.ask",
            "realise": "realise.realise",
            "relate": "relate.relate",
            "serve": "serve.serve",
        },
        "Models": {
            "demo": "demo.demo",
            "train": "train.train",
            "evaluate": "learn.evaluate",
            "predict": "learn.predict",
            "distil": "distil.distil",
            "refine": "refine.refine",
            "settings": "settings.settings",
        },
        "Comparisons": {
            "profile": "profile.profile",
            "reproduce": "reproduce.reproduce",
            "score": "score.score",
            "sweep": "sweep.sweep",
            "tune": "tune.tune",
        },
        "Data": {
            "generate": "generate.app",
            "check": "benchmark.check",
            "export": "relate.export",
            "data": "data.app",
            "info": "info.info",
        },
    }
)
"""Where each command is: a function of a module of this package, or a group of commands; by parts of the help."""
COMMANDS = MappingProxyType({name: where for panel in PANELS.values() for name, where in panel.items()})


def app(arguments: Iterable[str] = ()) -> typer.Typer:
    """The command line; with the command of the arguments alone, so that the others need not be loaded."""
    found = typer.Typer(
        name="epignn",
        help="Reason about relations: of regions, events, places, relatives, links.\n\n"
        "To begin with: `epignn calculus show rcc8` tells the words that facts about regions may use, and "
        '`epignn close "touches(pier, town). inside(town, city)"` what follows from some.\n\n'
        "Exit codes: 0 answered, 1 inconsistent or not entailed, 2 bad input, 3 undecided.",
        no_args_is_help=True,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    found.callback()(_options)  # without it, a single command would be called without its name
    asked = next(iter(arguments), "")
    panels = {name: panel for panel, names in PANELS.items() for name in names}
    for name in [asked] if asked in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(".")
        command = getattr(importlib.import_module(f"epignn.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            for below in command.registered_commands:
                below.help = _paragraphs(below.callback)
            found.add_typer(command, name=name, rich_help_panel=panels[name])
        else:
            found.command(name, help=_paragraphs(command), rich_help_panel=panels[name])(command)
    return found


def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        say(f"epignn {__version__}")
        raise typer.Exit


def _paragraphs(command: Callable[..., object] | None) -> str:
    """The docstring of a command, a line a paragraph: the terminal breaks lines, the source has its own."""
    text = inspect.cleandoc(getattr(command, "__doc__", None) or "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
