"""`epignn info`: what is installed, which kernels answer, and for which instruction set."""

import os
import platform
from typing import Annotated

import typer

from epignn.cli.output import emit_json, say
from epignn.kernels import MISSING, instruction_set, instruction_sets, native
from epignn.version import __version__


def _version_of(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # slow to load

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def info(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Tell versions, whether the compiled kernels are in use, and where data are looked for."""
    facts = {
        "epignn": __version__,
        "kernels": "compiled" if native() else "plain",
        "simd": instruction_set() if native() else None,
        "simd_choices": list(instruction_sets()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "numpy": _version_of("numpy"),
        "torch": _version_of("torch"),
        "cores": os.cpu_count(),
        "EPIGNN_DATA": os.environ.get("EPIGNN_DATA"),
    }
    if as_json:
        emit_json(facts)
        return
    for name, value in facts.items():
        say(f"{name:<12} {(', '.join(value) if isinstance(value, list) else value) or '—'}")
    if native() is None:
        say(MISSING)
