"""Experiments as frozen dataclasses: the only place a default is written; TOML files and `--set` override."""

import dataclasses
import tomllib
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from epignn.errors import BadArgument, BadFile, lookup, unknown
from epignn.models.epignn import ModelConfig

T = TypeVar("T")
EXPERIMENTS = Path(__file__).parent.parent / "experiments"


@dataclass(frozen=True)
class DataConfig:
    """Where training graphs come from: generated here, a published data set, or files.

    Attributes:
        calculus: whose problems are generated, and whose relations are the labels; empty where none is known, and
            the labels are the sorted names of the training files.
        k, b: cells of the training set.
        per_label: graphs of each label in each cell.
        seed: of the generator; test sets use others.
        source: a data set to train on instead: a published one by its name in `epignn data list`, or a generated
            one, `families` or `world-32`.
        files: files to train on instead.
        validation: share of the graphs kept for validation, where the data set has no validation file.
        holdout: what is kept: `graphs` at random; all copies of some of the `longest` distinct problems, which
            tells more of how a model does on longer ones yet; or none, and as many walks are made as if for
            training, but `longer`: of up to twice as many edges.
        augment: walks to add to the training graphs, each a given one with parts replaced by their equals.
        longest: edges that an added walk may have.
        equals: edges of the longest parts that are replaced, or put in.
    """

    calculus: str = "rcc8"
    k: tuple[int, ...] = (2, 3, 4)
    b: tuple[int, ...] = (1, 2, 3)
    per_label: int = 800
    seed: int = 1
    source: str = ""
    files: tuple[str, ...] = ()
    validation: float = 0.2
    holdout: str = "graphs"
    augment: int = 0
    longest: int = 6
    equals: int = 2

    def __post_init__(self) -> None:
        if self.holdout not in ("graphs", "longest", "longer"):
            raise BadArgument(f"holdout must be graphs, longest or longer, not {self.holdout!r}.")


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; defaults follow the paper's text.

    Attributes:
        epochs, batch_size, learning_rate: as usual.
        loss: `margin` against one random other relation, or `cross_entropy` against all.
        margin: Δ of the margin loss.
        temperature: scores are divided by it in the cross-entropy; above 1 it asks for sharper states.
        decay: decoupled weight decay (AdamW); 0 is Adam.
        schedule: `constant`, or `one_cycle`: up for three tenths of the steps, then down to nothing.
        clip: largest norm of the gradient; 0 sets no limit.
        random_path: choose among shortest paths anew in every epoch, as the paper says; without, the first found
            is kept, as in the published code.
        starts: train from so many initial values, one after the other; of all their epochs validation chooses one.
        average: how slowly a moving average of the weights follows them, below 1; the average is what is kept.
            0 keeps the weights as they are.
    """

    epochs: int = 40
    batch_size: int = 128
    learning_rate: float = 0.01
    loss: str = "margin"
    margin: float = 1.0
    temperature: float = 1.0
    decay: float = 0.0
    schedule: str = "constant"
    clip: float = 0.0
    random_path: bool = True
    starts: int = 1
    average: float = 0.0

    def __post_init__(self) -> None:
        for name, allowed in (("loss", ("margin", "cross_entropy")), ("schedule", ("constant", "one_cycle"))):
            if getattr(self, name) not in allowed:
                raise BadArgument(f"{name} must be {' or '.join(allowed)}, not {getattr(self, name)!r}.")
        if min(self.epochs, self.batch_size, self.starts) < 1 or self.learning_rate <= 0:
            raise BadArgument("epochs, batch_size and starts must be 1 or more, learning_rate above 0.")
        if not 0 <= self.average < 1:
            raise BadArgument(f"average must be at least 0 and below 1, not {self.average}.")


@dataclass(frozen=True)
class Experiment:
    """One run, but for its seed."""

    name: str = "experiment"
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainConfig = field(default_factory=TrainConfig)


def shipped() -> dict[str, Path]:
    """The experiments that come with epignn, by name."""
    return {path.stem: path for path in sorted(EXPERIMENTS.glob("*.toml"))}


def load_experiment(name: str, overrides: typing.Sequence[str] = ()) -> Experiment:
    """An experiment by name or from a TOML file, with overrides such as `model.facets=8`.

    `clutrr:089907f8` is the experiment `clutrr` on that version of its data.
    """
    family, colon, version = name.partition(":")
    path = Path(name) if name.endswith(".toml") else lookup("experiment", family, shipped())
    values = read_toml(path)
    if colon and path.stem == family:
        override(values, f'data.source="{family.split("-")[0]}-{version}"')
    for text in overrides:
        override(values, text)
    return from_dict(Experiment, values, f"{path} with --set" if overrides else str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The values of an experiment file; its name is the file's unless it says another."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"cannot read it: {error.strerror}.", str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"not a TOML file: {error}.", str(path)) from error
    values.setdefault("name", path.stem)
    return values


def override(values: dict[str, Any], text: str) -> None:
    """Set one value, given as `model.facets=8`."""
    key, equals, value = text.partition("=")
    if not equals:
        raise BadArgument(f"--set takes key=value, such as model.facets=8, not {text!r}.")
    try:
        parsed = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        parsed = value
    *sections, last = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[last] = parsed


def from_dict(kind: type[T], values: dict[str, Any], where: str, prefix: str = "") -> T:
    """Build a dataclass; unknown keys and wrong types are errors that name the key."""
    hints = typing.get_type_hints(kind)
    built: dict[str, Any] = {}
    for key, value in values.items():
        if key not in hints:
            raise BadFile(str(unknown("key", prefix + key, [prefix + name for name in hints])), where)
        built[key] = _coerced(hints[key], value, where, prefix + key)
    try:
        return kind(**built)
    except BadArgument as error:
        raise BadFile(str(error), where) from error


def _coerced(hint: Any, value: Any, where: str, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            raise BadFile(f"{key} must be a table.", where)
        return from_dict(hint, value, where, f"{key}.")  # type: ignore[arg-type]
    if typing.get_origin(hint) is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_coerced(typing.get_args(hint)[0], item, where, key) for item in items)
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if float in kinds and type(value) is int:
        value = float(value)
    if type(value) not in kinds:
        raise BadFile(f"{key} must be {' or '.join(k.__name__ for k in kinds)}, not {value!r}.", where)
    return value


def to_dict(experiment: Experiment) -> dict[str, Any]:
    """An experiment as plain values; `from_dict` reads it back."""
    return dataclasses.asdict(experiment)
