"""Facts and graphs to begin with, each with a question whose answer is worth a look."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "examples"


@cache
def examples() -> dict[str, Any]:
    """All of them, as the page takes them: what `examples/index.toml` says, with the text of each file."""
    index = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
    return {
        "examples": [{**one, "facts": _text(f"{one['name']}.txt")} for one in index["examples"]],
        "graphs": [{**one, "triples": _text(f"{one['name']}.tsv")} for one in index["graphs"]],
    }


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
