"""Experiments as frozen dataclasses: a default is written once; TOML files and `--set` override it.

    [data]        the task, and its settings (epignn.tasks)
    [model]       the kind of model, and its settings (epignn.models)
    [objective]   what is learnt, and its settings (epignn.learn.objectives)
    [training]    how (TrainConfig)

What the first three hold depends on the task, the model and the objective that they name.
"""

import copy
import dataclasses
import json
import math
import tomllib
import types
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from epignn.entries import Code, allowed, is_file
from epignn.errors import BadArgument, BadFile, lookup, unknown
from epignn.files import parse_toml, read_text
from epignn.learn.legacy import present_day
from epignn.learn.objectives import OBJECTIVES
from epignn.learn.objectives.api import ObjectiveConfig
from epignn.models import MODELS
from epignn.models.api import Model, ModelConfig
from epignn.tasks import SAME, TASKS, task_kind
from epignn.tasks.api import GraphTask, LinkTask, Task

T = TypeVar("T")
LARGEST = 2**53
"""Of whole numbers in settings; files of other programs hold no larger ones exactly."""
EXPERIMENTS = Path(__file__).parent.parent / "experiments"
ELSEWHERE = types.MappingProxyType(
    {
        "lr": "learning_rate",
        "weight_decay": "decay",
        "num_epochs": "epochs",
        "max_epochs": "epochs",
        "grad_clip": "clip",
        "scheduler": "schedule",
        "embedding_dim": "dim",
        "hidden_dim": "dim",
        "num_layers": "rounds",
        "num_negs_per_pos": "negatives",
        "num_negatives": "negatives",
    }
)
"""What other libraries call a setting, and what it is called here."""


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; defaults follow the paper's text.

    Attributes:
        epochs: passes over the training data, at most.
        batch_size: how many graphs, or for links how many heads, a step has.
        learning_rate: the learning rate of Adam; where a schedule changes it, its largest value.
        decay: decoupled weight decay (AdamW); 0 is Adam.
        schedule: how the learning rate changes. `constant`: it does not. `one_cycle`: it rises for three tenths of
            the steps, then falls to nothing. `plateau`: it is divided by four whenever validation has not risen for
            `patience` epochs, at most twice; then training ends.
        clip: the largest norm that a gradient may have; 0 sets no limit.
        starts: how many times to train, each time from new initial weights. Validation chooses the best epoch of
            all.
        average: above 0, a moving average of the weights is kept instead of the weights; the nearer to 1, the more
            slowly it follows them.
        patience: training ends after so many epochs without a better validation; 0 sets no limit.
    """

    epochs: int = 40
    batch_size: int = 128
    learning_rate: float = 0.01
    decay: float = 0.0
    schedule: str = "constant"
    clip: float = 0.0
    starts: int = 1
    average: float = 0.0
    patience: int = 0

    def __post_init__(self) -> None:
        if self.schedule not in ("constant", "one_cycle", "plateau"):
            raise BadArgument(f"schedule must be constant, one_cycle or plateau, not {self.schedule!r}.")
        if self.schedule == "plateau" and not self.patience:
            raise BadArgument("the schedule plateau needs a patience: how many epochs validation may not rise.")
        if min(self.epochs, self.batch_size, self.starts) < 1 or self.learning_rate <= 0:
            raise BadArgument("epochs, batch_size and starts must be 1 or more, learning_rate above 0.")
        if not 0 <= self.average < 1:
            raise BadArgument(f"average must be at least 0 and below 1, not {self.average}.")


@dataclass(frozen=True)
class Experiment:
    """One run, but for its seed."""

    name: str
    data: Task
    model: ModelConfig
    objective: ObjectiveConfig
    training: TrainConfig

    @property
    def calculus(self) -> str:
        """The calculus whose base relations are the labels; empty where there is none."""
        return self.data.calculus if isinstance(self.data, GraphTask) else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `from_dict` reads them back."""
        return dataclasses.asdict(self)


def shipped() -> dict[str, Path]:
    """The experiments that come with epignn, by name."""
    return {path.stem: path for path in sorted(EXPERIMENTS.glob("*.toml"))}


def load_experiment(name: str, overrides: Sequence[str] = (), code: Sequence[Path | str] = ()) -> Experiment:
    """An experiment by name or from a TOML file, with overrides such as `model.facets=8`.

    `clutrr:089907f8` is the experiment `clutrr` on that version of its data. With another kind of model than its
    own, an experiment is trained by the recipe of that model; a form of its own model keeps the settings that both
    have.

    Args:
        name: a shipped experiment, or a `.toml` file.
        overrides: as given to `--set`. A file that one of them names, `model.kind="mine.py:Mine"`, is executed.
        code: files whose classes the experiment may name, too.
    """
    family, colon, version = name.partition(":")
    path = Path(name) if name.endswith(".toml") else lookup("experiment", family, shipped())
    values = read_toml(path)
    if colon and path.stem == family:
        override(values, f'data.task="{family.split("-")[0]}:{version}"')
    wanted = copy.deepcopy(values)
    named = [value.rpartition(":")[0] for text in overrides if is_file(value := str(override(wanted, text)))]
    files = allowed([*code, *named])
    if _kind(wanted, "objective") != _kind(values, "objective"):
        values["objective"] = {}  # what the file sets is for another kind
    if (model := _kind(wanted, "model") or "epignn") != (_kind(values, "model") or "epignn"):
        task = str(_entry(wanted, "data", "task") or "rcc8")
        learns = _kind(wanted, "objective") or TASKS.get(task_kind(task), files).objective
        chosen = MODELS.get(model, files)
        recipe = _recipe(chosen, learns, task)
        kept = _shared(MODELS.get(_kind(values, "model") or "epignn", files), chosen, values.get("model"))
        values |= {"model": kept} if recipe is None else {"model": {}, "objective": {}, "training": {}}
        for text in recipe or ():
            override(values, text)
    for text in overrides:
        override(values, text)
    return from_dict(values, f"{path} with --set" if overrides else str(path), files)


def _shared(model: type[Model], other: type[Model], settings: Any) -> dict[str, Any]:
    """Those settings of a model that another has, too, where one of them is a form of the other."""
    if not (issubclass(model, other) or issubclass(other, model)) or not isinstance(settings, dict):
        return {}
    known = {field.name for field in dataclasses.fields(other.Config)} - {"kind"}
    return {key: value for key, value in settings.items() if key in known}


def _recipe(model: type[Model], learns: str, task: str) -> tuple[str, ...] | None:
    """How a model is trained: for what it learns, then what differs for the family of a task, then for the task."""
    family, colon, version = task.casefold().partition(":")
    family = SAME.get(family, family)
    found = [model.recipes.get(key) for key in (learns, f"{learns} {family}", f"{learns} {family}{colon}{version}")]
    told = [one for one in dict.fromkeys(found) if one is not None]
    return tuple(text for one in told for text in one) if told else None


def _entry(values: dict[str, Any], section: str, key: str) -> Any:
    """An entry of a section; None where there is none, or no such section."""
    found = values.get(section)
    return found.get(key) if isinstance(found, dict) else None


def _kind(values: dict[str, Any], section: str) -> str:
    """The kind that a section names; empty where it names none."""
    return str(_entry(values, section, "kind") or "")


def experiment_for(
    what: str,
    overrides: Sequence[str] = (),
    calculus: str = "rcc8",
    preset: str = "best",
    code: Sequence[Path | str] = (),
) -> Experiment:
    """The experiment that a user means by a word, a folder or a file.

    Args:
        what: a shipped experiment; a `.toml` file; `wn18rr:v1`; a folder of labelled graphs or of triples; a file
            of triples.
        overrides: as given to `--set`.
        calculus: whose relations a folder of labelled graphs speaks of; `none` where it has its own.
        preset: for links, `best`, `paper` or a `.toml` file.
        code: files whose classes the experiment may name.
    """
    what = {"interval": "ia", "allen": "ia"}.get(what, what)
    known, path = shipped(), Path(what)
    if what.endswith(".toml") and not _is_calculus(path):
        return load_experiment(what, overrides, code)
    if what.partition(":")[0] in known and not path.exists():
        return load_experiment(what, overrides, code)
    kind = TASKS.get(task_kind(what), allowed([*code, what.rpartition(":")[0]] if is_file(what) else code))
    task = f"data.task={json.dumps(what)}"
    if issubclass(kind, LinkTask):
        if not preset.endswith(".toml") and preset not in ("best", "paper"):
            raise BadArgument(f"--preset takes best or paper, or a .toml file, not {preset!r}.")
        family, _, version = what.partition(":")
        base = SAME.get(family.casefold(), family.casefold())
        end = "-paper" if preset == "paper" else ""
        own = f"{base}-{version}{end}"
        name = preset if preset.endswith(".toml") else own if own in known else f"links{end}"
        return load_experiment(name, (task, *overrides), code)
    base, words = "rcc8", []
    if kind is TASKS.get("files"):
        speaks = "" if calculus == "none" else calculus
        base = "ia" if speaks in ("ia", "allen", "interval") else "rcc8" if speaks else "clutrr"
        words = [f"data.speaks={json.dumps(speaks)}"]
    found = load_experiment(base, (task, *words, *overrides), code)
    return dataclasses.replace(found, name=path.name)


def _is_calculus(path: Path) -> bool:
    """Whether a TOML file holds a calculus, not an experiment; one that is not there is neither."""
    return path.is_file() and "composition" in read_toml(path)


def read_toml(path: Path) -> dict[str, Any]:
    """The values of an experiment file; its name is the file's unless it says another."""
    values = parse_toml(read_text(path), str(path))
    values.setdefault("name", path.stem)
    return values


def override(values: dict[str, Any], text: str) -> object:
    """Set one value, given as `model.facets=8`, and return it."""
    key, equals, value = text.partition("=")
    if not equals:
        raise BadArgument(f"--set takes key=value, such as model.facets=8, not {text!r}.")
    parsed: object = value
    with suppress(tomllib.TOMLDecodeError):  # a word, which needs no quotes here
        try:
            parsed = tomllib.loads(f"x = {value}")["x"]
        except (RecursionError, ValueError) as error:
            if isinstance(error, tomllib.TOMLDecodeError):
                raise
            raise BadArgument(f"--set {key}: the value cannot be read ({error}).") from error
    *sections, last = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise BadArgument(f"--set {key}: {section} is a value, not a section that has settings of its own.")
    values[last] = parsed
    return parsed


def from_dict(values: dict[str, Any], where: str, code: Code = frozenset()) -> Experiment:
    """An experiment from plain values.

    Args:
        values: sections by name.
        where: what messages call it.
        code: files whose classes it may name; others are refused.

    Raises:
        BadFile: a key is unknown or a value is not of its type; the message names the key.
    """
    values = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    sections = {field.name for field in dataclasses.fields(Experiment)}
    for key in values:
        if key not in sections:
            raise BadFile(str(unknown("section", key, sections)), where)
    for key in sections - {"name"}:
        if not isinstance(values.setdefault(key, {}), dict):
            raise BadFile(f"{key} must be a table.", where)
    task = values["data"].setdefault("task", "rcc8")
    if not values["data"].get("kind"):
        values["data"]["kind"] = task_kind(str(task))
    data = _section(values, "data", "star", lambda name: TASKS.get(name, code), where)
    model = _section(values, "model", "epignn", lambda name: MODELS.get(name, code).Config, where)
    learns = type(data).objective
    objective = _section(values, "objective", learns, lambda name: OBJECTIVES.get(name, code).Config, where)
    for key in values["training"]:
        if hasattr(objective, key) and key not in TrainConfig.__dataclass_fields__:
            raise BadFile(f"training.{key} is a setting of what is learnt: write objective.{key}.", where)
    training = built(TrainConfig, values["training"], where, "training.")
    return Experiment(str(values.get("name", "experiment")), data, model, objective, training)


def recorded(values: dict[str, Any], where: str, code: Code = frozenset()) -> Experiment:
    """An experiment as a run folder or a record has it, also of earlier versions; see `from_dict`."""
    return from_dict(present_day(values), where, code)


def model_class(config: ModelConfig, code: Code = frozenset()) -> type[Model]:
    """The class of a model by its settings."""
    kind: type[Model] = MODELS.get(config.kind, code)
    return kind


def _section(values: dict[str, Any], section: str, default: str, find: Callable[[str], Any], where: str) -> Any:
    """The settings of a section, whose class depends on its kind."""
    name = values[section].get("kind", default)
    if not isinstance(name, str):
        raise BadFile(f"{section}.kind must be a name, not {name!r}.", where)
    return built(find(name), {"kind": name, **values[section]}, where, f"{section}.")


def built(kind: type[T], values: dict[str, Any], where: str, prefix: str = "") -> T:
    """Build a dataclass; unknown keys and wrong types are errors that name the key."""
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if name in known}
    found: dict[str, Any] = {}
    for key, value in values.items():
        if (here := ELSEWHERE.get(key, "")) in hints and key not in hints:
            raise BadFile(f"{prefix}{key} is called {prefix}{here} here.", where)
        if key not in hints:
            raise BadFile(str(unknown("key", prefix + key, [prefix + name for name in hints])), where)
        found[key] = _coerced(hints[key], value, where, prefix + key)
    try:
        return kind(**found)
    except BadArgument as error:
        raise BadFile(str(error), where) from error


def _coerced(hint: Any, value: Any, where: str, key: str) -> Any:
    if typing.get_origin(hint) is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_coerced(typing.get_args(hint)[0], item, where, key) for item in items)
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if type(value) is int and not -LARGEST <= value <= LARGEST:
        raise BadFile(f"{key} must be a number of fewer digits.", where)
    if float in kinds and type(value) is int:
        value = float(value)
    if type(value) is float and not math.isfinite(value):
        raise BadFile(f"{key} must be a finite number, not {value}.", where)
    if key.endswith("seed") and type(value) is int and value < 0:
        raise BadFile(f"{key} must be 0 or more, not {value}.", where)
    if type(value) not in kinds:
        raise BadFile(f"{key} must be {' or '.join(k.__name__ for k in kinds)}, not {_told(value)}.", where)
    return value


def _told(value: object) -> str:
    """A value for a message, cut where it is long; one that is nested without end is only named."""
    try:
        return repr(value)[:80]
    except RecursionError:
        return f"a {type(value).__name__}"
