"""Run folders: weights as safetensors beside a JSON config, written whole or not at all, never unpickled.

weights.safetensors    of the best epoch
config.json            experiment, relations, seed, what it was trained on, and a record of how
calibration.json       the temperature of its probabilities, and what it is worth
history.json           loss, validation and seconds of every epoch
state.safetensors      all that a resumed run needs
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from epignn.entries import Code, allowed
from epignn.errors import BadArgument, BadFile, unknown
from epignn.files import load_json, make_folder, read_text, sha256, write_text, writing
from epignn.learn.answers import AnswerCalibration
from epignn.learn.calibrate import LEAST, MOST, Calibration
from epignn.learn.config import Experiment, built, model_class, recorded
from epignn.models.api import Model, build, device_of
from epignn.tasks.api import LinkTask

WEIGHTS, CONFIG, STATE, HISTORY = "weights.safetensors", "config.json", "state.safetensors", "history.json"
CALIBRATION = "calibration.json"
SHIPPED = Path(__file__).parent.parent / "weights"
ALIASES = {"ia": "allen", "interval": "allen"}
"""What the shipped models are called besides, as their experiments are."""


@dataclass(frozen=True, eq=False)
class RunConfig:
    """What the weights beside it belong to.

    Attributes:
        experiment: data, model, objective and training.
        relations: the names of relations.
        seed: of the run.
        digest: of what it was trained on; empty where that is not known.
        record: how it was made.
    """

    experiment: Experiment
    relations: tuple[str, ...]
    seed: int
    digest: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        """How many relations the model scores: for links, inverses too."""
        return len(self.relations) * (2 if self.ranks else 1)

    @property
    def ranks(self) -> bool:
        """Whether it is a model for links."""
        return isinstance(self.experiment.data, LinkTask)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with all that is needed to use it.

    Attributes:
        name, model, config: what it is.
        calibrated: its temperature, where one was chosen.
        answers: what makes probabilities of the scores of links; None for other models, and those of old.
    """

    name: str
    model: Any
    config: RunConfig
    calibrated: float | None = None
    answers: AnswerCalibration | None = None

    @property
    def experiment(self) -> Experiment:
        """What it was trained with."""
        return self.config.experiment

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of relations."""
        return self.config.relations

    @property
    def seed(self) -> int:
        """Of its run."""
        return self.config.seed

    @property
    def temperature(self) -> float:
        """What scores are divided by to become probabilities."""
        return self.calibrated or self.experiment.objective.temperature


class RunFolder:
    """A folder in which a run is kept. With another number of epochs, or another patience, it is the same run.

    Raises:
        BadFile: it cannot be made.
        BadArgument: it holds another run.
    """

    def __init__(self, path: Path, config: RunConfig, code: Code = frozenset()) -> None:
        self.path, self.config = path, config
        self._best: dict[str, Tensor] | None = None
        make_folder(path)
        if (path / STATE).exists() or (path / WEIGHTS).exists():  # a model that was copied has no state
            _refuse_other(path, load_config(path, code), config)
        if not (path / STATE).exists():
            save_config(path, config)

    def load_state(self) -> dict[str, Any] | None:
        """What an interrupted run had reached, if one was."""
        return load_nested(self.path / STATE) if (self.path / STATE).exists() else None

    def save_epoch(self, best: dict[str, Tensor], entry: dict[str, Any], state: dict[str, Any]) -> None:
        """Write what an epoch gave; the state last, so that a run killed in between repeats the epoch.

        The best weights are written when they are others than before: a model that counts may be large.
        """
        if best is not self._best:
            save_tensors(self.path / WEIGHTS, best)
            self._best = best
        history = [known for known in read_history(self.path) if known["epoch"] < entry["epoch"]]
        write_text(self.path / HISTORY, json.dumps([*history, entry]) + "\n")
        save_nested(self.path / STATE, state)


def _refuse_other(path: Path, there: RunConfig, this: RunConfig) -> None:
    """Refuse to go on in the folder of another run, and say what differs."""
    starts = max(config.experiment.training.starts for config in (there, this))
    free = {"training.epochs", "training.patience"} if starts == 1 else set()
    differ = [
        f"{key}: {_brief(old)} there, {_brief(new)} now"
        for key, (old, new) in _settings(there, this).items()
        if old != new and key not in free and not (key == "digest of the data" and not old)
    ]
    if differ:
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise BadArgument(
            f"{path} holds another run ({'; '.join(differ[:3])}{more}); choose another folder with --out."
        )


def _brief(value: object) -> str:
    """A setting in a message, cut where it is long."""
    told = repr(value)
    return told if len(told) <= 80 else f"{told[:77]}..."


def _settings(*configs: RunConfig) -> dict[str, tuple[Any, ...]]:
    """The settings of runs side by side, by the names that `--set` takes."""
    flat = []
    for config in configs:
        sections = config.experiment.to_dict()
        values = {f"{s}.{k}": v for s, part in sections.items() if isinstance(part, dict) for k, v in part.items()}
        about = {"seed": config.seed, "relations": config.relations, "digest of the data": config.digest}
        flat.append(values | {"name": config.experiment.name} | about)
    keys = dict.fromkeys(key for one in flat for key in one)
    return {key: tuple(one.get(key) for one in flat) for key in keys}


# -- tensors --


def save_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, str] | None = None) -> None:
    """Write tensors whole or not at all."""
    with writing(path) as part:
        try:
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, part, about)
        except SafetensorError as error:  # what the system says, such as that the disk is full, is in the text
            raise BadFile(f"cannot write it: {error}.", str(path)) from error


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read tensors; a corrupt or foreign file is a clear error."""
    try:
        return load_file(path)
    except OSError as error:
        raise BadFile(f"cannot read it: {error.strerror or error}.", str(path)) from error
    except SafetensorError as error:
        raise BadFile(
            f"not a whole safetensors file ({error}); train again or fetch it anew.", str(path)
        ) from error


def save_nested(path: Path, values: dict[str, Any]) -> None:
    """Write nested dictionaries of tensors and numbers: numbers as JSON in the header of the tensors' file."""
    flat = dict(_flat(values))
    tensors = {key: value for key, value in flat.items() if isinstance(value, Tensor)}
    others = {key: value for key, value in flat.items() if not isinstance(value, Tensor)}
    save_tensors(path, tensors, {"numbers": json.dumps(others)})


def load_nested(path: Path) -> dict[str, Any]:
    """Read what `save_nested` wrote."""
    flat: dict[str, Any] = dict(load_tensors(path))
    with safe_open(path, "pt") as file:
        about = file.metadata() or {}
    if "numbers" not in about:
        raise BadFile("begun by an earlier version, and cannot be resumed; choose another folder.", str(path))
    nested: dict[str, Any] = {}
    numbers = load_json(about["numbers"], str(path))
    for key, value in (flat | (numbers if isinstance(numbers, dict) else {})).items():
        *outer, last = key.split("/")
        place = nested
        for name in outer:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise BadFile(f"not the state of a run: {key[:80]!r} is below a value.", str(path))
        place[last] = value
    return nested


def _flat(values: dict[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves by their path; an empty dictionary is a leaf."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value


def restore(model: Model, tensors: dict[str, Tensor], path: Path) -> None:
    """Put tensors into a model; names and shapes have to fit."""
    expected, found = (
        {name: "any" if name in model.grown else tuple(value.shape) for name, value in held.items()}
        for held in (model.state_dict(), tensors)
    )
    if expected != found:
        raise BadFile(f"these are weights of another model: expected {expected}, found {found}.", str(path))
    held = model.state_dict()
    mixed = [name for name, value in tensors.items() if value.is_floating_point() != held[name].is_floating_point()]
    if mixed:
        kind = str(tensors[mixed[0]].dtype).removeprefix("torch.")
        raise BadFile(f"{mixed[0]} holds {kind}, which is no type of weights; fetch it anew.", str(path))
    if not all(torch.isfinite(value).all() for value in tensors.values()):
        raise BadFile("the weights are not finite numbers; the run that made them diverged.", str(path))
    model.load_state_dict(tensors)


# -- config, history, calibration --


def save_config(folder: Path, config: RunConfig) -> None:
    """Write what the weights beside it belong to."""
    document = {
        "experiment": config.experiment.to_dict(),
        **{k: v for k, v in vars(config).items() if k != "experiment"},
    }
    write_text(folder / CONFIG, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def load_config(folder: Path, code: Code = frozenset()) -> RunConfig:
    """Read what `save_config` wrote, also of earlier versions; `code` are files whose classes it may name."""
    path = folder / CONFIG
    document = _json(path, f"A model is a folder with {CONFIG} and {WEIGHTS}.")
    try:
        experiment = recorded(dict(document["experiment"]), str(path), code)
        relations, seed = tuple(document["relations"]), int(document["seed"])
        if not relations or not all(isinstance(name, str) for name in relations) or not 0 <= seed < 2**63:
            raise ValueError("relations must be names, and the seed 0 or more")
        return RunConfig(experiment, relations, seed, str(document.get("digest", "")), dict(document["record"]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadFile(f"not the config of a model: {error!r}.", str(path)) from error


def _json(path: Path, hint: str = "") -> Any:
    if not path.is_file():
        raise BadFile(f"cannot read it: there is no such file. {hint}".strip(), str(path))
    return load_json(read_text(path), str(path))


def read_history(folder: Path) -> list[dict[str, Any]]:
    """Loss, validation, learning rate and seconds of every epoch of a run, over all its resumptions."""
    path = folder / HISTORY
    history = _json(path) if path.exists() else []
    if not isinstance(history, list) or not all(map(_is_epoch, history)):
        raise BadFile("not the history of a run; choose another folder.", str(path))
    return history


def _is_epoch(entry: object) -> bool:
    """Whether an entry of a history has what a run needs of it."""
    if not isinstance(entry, dict) or type(entry.get("epoch")) is not int:
        return False
    reached = entry.get("validation", "")
    return reached is None or (isinstance(reached, int | float) and math.isfinite(reached))


def save_calibration(folder: Path, found: Calibration) -> None:
    """Put it where `load_model` finds it."""
    write_text(folder / CALIBRATION, json.dumps(found.to_dict(), indent=2) + "\n")


def _calibrated(folder: Path, config: RunConfig) -> tuple[float | None, AnswerCalibration | None]:
    """What calibration chose, if there was one; earlier link models kept their temperature in their record."""
    path = folder / CALIBRATION
    document = _json(path) if path.exists() else config.record.get("calibration")
    if document is None:
        return None, None
    try:
        value = float(document["temperature"])
        told = document.get("answers")
        answers = None if told is None else built(AnswerCalibration, told, str(path), "answers.")
        if answers is not None and len(answers.weights) != 3:
            raise ValueError("answers have three weights")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(f"not a calibration: {error!r}; delete it, or train again.", str(path)) from error
    if not LEAST <= value <= MOST:
        raise BadFile(f"its temperature must be between {LEAST:g} and {MOST:g}, not {value}.", str(path))
    return value, answers


# -- models by name --


def shipped_models() -> dict[str, Path]:
    """The trained models inside the package, by name."""
    folders = sorted(SHIPPED.iterdir()) if SHIPPED.exists() else []
    return {path.name: path for path in folders if (path / WEIGHTS).exists()}


def folder_of(name: str) -> Path:
    """Where a model is: a run folder, that of a weights file, or that of a shipped model."""
    path = Path(name)
    if path.is_file():
        return path.parent
    if path.is_dir():
        return path
    models = shipped_models()
    name = ALIASES.get(name, name)
    if name not in models:
        raise BadArgument(f"{unknown('model', name, models)} Or name a run folder; {name} is none.")
    return models[name]


def is_model(name: str) -> bool:
    """Whether a name is that of a model, or of several with commas between."""
    path = Path(name)
    if path.exists():
        return path.suffix == ".safetensors" or (path / CONFIG).is_file()
    models = shipped_models()
    return all(ALIASES.get(one, one) in models or (Path(one) / CONFIG).is_file() for one in name.split(","))


def load_model(name: str, device: str = "cpu", code: Iterable[Path | str] = ()) -> Trained:
    """A trained model: a run folder, a weights file in one, or the name of a shipped model.

    Args:
        name: which.
        device: where it goes: `cpu`, `cuda`, `mps` or `auto`.
        code: files of the user's own; a run whose model is a class of a file is loaded only if it is among them.
    """
    path, files = folder_of(name), allowed(code)
    config = load_config(path, files)
    settings = config.experiment.model
    model = build(model_class(settings, files), config.outputs, settings, config.seed)
    restore(model, load_tensors(path / WEIGHTS), path / WEIGHTS)
    return Trained(name, model.to(device_of(device)).eval(), config, *_calibrated(path, config))


class Kept(NamedTuple):
    """A model of a run folder, as workers are told of it: its name, a digest of its weights, a device, its code.

    The digest tells a model that was trained anew under the same name from the one that was meant.
    """

    name: str
    digest: str
    device: str
    code: tuple[Path, ...]

    @classmethod
    def of(cls, trained: Trained, code: Iterable[Path] = ()) -> "Kept":
        """A model that was loaded."""
        return cls(trained.name, sha256(folder_of(trained.name) / WEIGHTS), str(trained.model.device), tuple(code))

    def load(self) -> Trained:
        """The model, read once by each process."""
        return _loaded(self)


@lru_cache(maxsize=4)
def _loaded(model: Kept) -> Trained:
    return load_model(model.name, model.device, model.code)
