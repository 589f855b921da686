"""Distilled calculi on disk: the table as any other calculus file, its certificate beside it as JSON."""

import json
from pathlib import Path

from epignn.calculus.toml import write_calculus
from epignn.distil.calculus import Distilled


def certificate_path(path: Path) -> Path:
    """`calculus.toml` has `calculus.certificate.json` beside it."""
    return path.with_suffix(".certificate.json")


def calculus_text(distilled: Distilled) -> str:
    """The calculus file, with the certificate in words as its comment."""
    comment = "".join(f"# {line}\n" for line in distilled.certificate.lines())
    return comment + "\n" + write_calculus(distilled.calculus)


def certificate_text(distilled: Distilled) -> str:
    """The certificate as JSON."""
    return json.dumps(distilled.certificate.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
