"""Spaces of settings to be searched, as data: which experiment, what is fixed, and what is tried of each setting.

experiment = "rcc8"                    # what `epignn train` takes
settings = ["training.epochs=10"]      # fixed, as given to --set
share = 0.5                            # of the training graphs that a trial sees
judges = 600                           # validation graphs that judge it; all if left out

[space]
training.learning_rate = { low = 0.0003, high = 0.01, log = true }
training.batch_size = [64, 128]
model.facets = { low = 1, high = 16 }
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epignn.errors import BadFile
from epignn.files import parse_toml, read_text
from epignn.learn.config import built, experiment_for

RANGE = {"low", "high", "step", "log"}


@dataclass(frozen=True)
class Range:
    """Numbers from low to high: whole ones, if both are."""

    low: float | int
    high: float | int
    step: float | int | None = None
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether these are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


Tried = Range | tuple[str, ...]
"""Numbers of a range, or values as `--set` takes them."""


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        experiment: what is trained, by a word that `epignn train` takes.
        settings: fixed, as given to `--set`.
        share: of the training graphs that a trial sees.
        judges: validation graphs that judge a trial; 0 is all.
        tried: what is tried of each setting.
    """

    experiment: str
    settings: tuple[str, ...] = ()
    share: float = 1.0
    judges: int = 0
    tried: Mapping[str, Tried] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, by which two spaces are told apart."""
        tried = {key: list(one) if isinstance(one, tuple) else vars(one) for key, one in self.tried.items()}
        found: dict[str, Any] = json.loads(json.dumps({**vars(self), "tried": tried}))
        return found

    def check(self, where: str, code: tuple[Path, ...] = ()) -> None:
        """Refuse settings that the experiment does not have, before anything is run.

        Raises:
            BadFile: tells which.
        """
        for key, tried in self.tried.items():
            for value in tried if isinstance(tried, tuple) else (tried.low, tried.high):
                try:
                    experiment_for(self.experiment, (*self.settings, f"{key}={value}"), code=code)
                except BadFile as error:
                    raise BadFile(f"{key} = {value}: {error}", where) from error


def read_space(path: Path) -> Space:
    """The space of a TOML file.

    Raises:
        BadFile: a key is unknown, or nothing is to be tried.
    """
    values = parse_toml(read_text(path), str(path))
    nested = values.pop("space", None)
    if not isinstance(nested, dict) or not nested:
        raise BadFile("nothing to search: it needs a table [space] with what is tried of each setting.", str(path))
    if not isinstance(values.get("experiment"), str):
        raise BadFile('it has to name what is trained, such as experiment = "rcc8".', str(path))
    fixed = built(_Fixed, values, str(path))
    tried = {key: _tried(key, value, str(path)) for key, value in _flat(nested).items()}
    return Space(fixed.experiment, fixed.settings, fixed.share, fixed.judges, tried)


@dataclass(frozen=True)
class _Fixed:
    """What a file of a space has beside the space itself."""

    experiment: str = ""
    settings: tuple[str, ...] = ()
    share: float = 1.0
    judges: int = 0


def _flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by their dotted names."""
    found: dict[str, Any] = {}
    for key, value in nested.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and not set(value) <= RANGE:
            found |= _flat(value, f"{name}.")
        else:
            found[name] = value
    return found


def _tried(key: str, value: object, where: str) -> Tried:
    if isinstance(value, list) and value:
        try:
            return tuple(json.dumps(one, allow_nan=False) for one in value)
        except (TypeError, ValueError) as error:  # a date, or no finite number
            raise BadFile(
                f"{key}: a value that is tried is a text, a number, true or false ({error}).", where
            ) from error
    if not isinstance(value, dict):
        raise BadFile(f"{key} must be a list of values, or {{ low = …, high = … }}.", where)
    for name, one in value.items():
        kinds: tuple[type, ...] = (bool,) if name == "log" else (int, float)
        if type(one) not in kinds:
            raise BadFile(f"{key}.{name} must be {' or '.join(kind.__name__ for kind in kinds)}.", where)
    if not {"low", "high"} <= set(value):
        raise BadFile(f"{key} needs both ends: {{ low = …, high = … }}.", where)
    found = Range(**value)  # whole numbers stay whole
    if not found.low < found.high or (found.log and found.low <= 0):
        raise BadFile(f"{key}: low must be below high, and above 0 on a logarithmic scale.", where)
    if not all(map(math.isfinite, (found.low, found.high))):
        raise BadFile(f"{key}: low and high must be finite numbers.", where)
    if found.step is not None and (found.log or not 0 < found.step <= found.high - found.low):
        raise BadFile(
            f"{key}: a step is above 0, no longer than the range, and none on a logarithmic scale.", where
        )
    if found.step is not None and found.whole and not isinstance(found.step, int):
        raise BadFile(f"{key}: the step of a range of whole numbers is a whole number.", where)
    return found
