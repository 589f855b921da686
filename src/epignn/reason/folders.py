"""Where trained models are, and the calculus or the rules beside their weights. Nothing here loads torch."""

from pathlib import Path

from epignn.calculus import ALIASES
from epignn.calculus.algebra import Calculus
from epignn.distil.rules import RuleSet, load_distilled

SHIPPED = Path(__file__).parent.parent / "weights"
CONFIG, CALCULUS, RULES = "config.json", "calculus.toml", "rules.toml"
"""Of a run folder: what was trained, and where `epignn distil RUN --out RUN/…` puts what was distilled from it."""


def shipped_models() -> list[str]:
    """The names of the models inside the package."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CONFIG}"))


def model_folder(name: str) -> Path | None:
    """The folder of a model: a run folder, that of a file in one, or that of a shipped model; None if it is none.

    >>> model_folder("Interval").name
    'allen'
    """
    path = Path(name)
    if path.is_file() and path.suffix != ".toml":
        path = path.parent
    for folder in (path, SHIPPED / ALIASES.get(name.casefold(), name.casefold())):
        if (folder / CONFIG).is_file():
            return folder
    return None


def distilled_beside(folder: Path) -> Calculus | RuleSet | None:
    """The calculus, or else the rules, beside the weights of a model, if they were distilled."""
    for file in (folder / CALCULUS, folder / RULES):
        if file.is_file():
            return load_distilled(file)
    return None
