"""Every setting of a run, with its default and its meaning, read off the dataclasses that hold them."""

import inspect
import re
from dataclasses import MISSING, dataclass, fields
from typing import Any

from epignn.learn.config import TrainConfig
from epignn.learn.objectives import OBJECTIVES
from epignn.models import MODELS
from epignn.tasks import TASKS

KIND = "kind"
"""Which class holds the settings of a section; chosen by the name of a task, a model or an objective."""


@dataclass(frozen=True)
class Setting:
    """One entry of an experiment, as `--set KEY=VALUE` changes it."""

    key: str
    default: str
    meaning: str


def meanings_of(holder: type) -> dict[str, str]:
    """What the docstrings of a class, and of those it derives from, say of its attributes."""
    found: dict[str, str] = {}
    for cls in reversed(holder.__mro__):
        _, _, listed = inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition("\nAttributes:\n")
        for entry in re.split(r"\n(?=    \S)", "\n" + listed.partition("\n\n")[0]):
            names, colon, told = entry.strip().partition(": ")
            if colon:
                found |= {name.strip(): " ".join(told.split()) for name in names.split(",")}
    return found


def settings_of(section: str, holder: type) -> list[Setting]:
    """The settings that a class holds."""
    told = meanings_of(holder)
    return [
        Setting(f"{section}.{field.name}", _shown(field), told.get(field.name, ""))
        for field in fields(holder)
        if field.name != KIND
    ]


def _shown(field: Any) -> str:
    if field.default is MISSING:
        return ""
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def all_settings() -> dict[str, list[Setting]]:
    """The settings of everything in the lists, by what they belong to; classes that several entries share once."""
    found: dict[str, list[Setting]] = {"training": settings_of("training", TrainConfig)}
    holders: dict[tuple[str, type], list[str]] = {}
    for section, entries in (("objective", OBJECTIVES), ("data", TASKS), ("model", MODELS)):
        for name in entries.names():
            entry = entries.get(name)
            holders.setdefault((section, entry if section == "data" else entry.Config), []).append(name)
    for (section, holder), names in holders.items():
        found[f"{section} {', '.join(names)}"] = settings_of(section, holder)
    return {what: settings for what, settings in found.items() if settings}
