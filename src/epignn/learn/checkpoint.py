"""Models on disk: weights as safetensors beside a JSON config, written whole or not at all, never unpickled."""

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from epignn.errors import BadArgument, BadFile, unknown
from epignn.learn.config import Experiment, from_dict, to_dict
from epignn.models.epignn import EpiGNN

WEIGHTS, CONFIG, STATE, HISTORY = "weights.safetensors", "config.json", "state.safetensors", "history.json"
CALIBRATION = "calibration.json"
SHIPPED = Path(__file__).parent.parent / "weights"
ALIASES = {"ia": "allen", "interval": "allen"}
"""What the shipped models are called besides, as their experiments are."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with all that is needed to use it; `calibrated` is its temperature, where one was chosen."""

    name: str
    model: EpiGNN
    experiment: Experiment
    relations: tuple[str, ...]
    seed: int
    record: dict[str, Any]
    calibrated: float | None = None

    @property
    def temperature(self) -> float:
        """What scores are divided by to become probabilities."""
        return self.calibrated or self.experiment.training.temperature


def make_folder(path: Path) -> None:
    """Make a folder, or take the one that is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot be a folder: {error.strerror}. Choose another name.", str(path)) from error


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file under another name and put it in place when it is complete."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        raise BadFile(f"cannot write it: {error.strerror or error}.", str(path)) from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""

    def write(part: Path) -> None:
        part.write_text(text, encoding="utf-8")

    write_whole(path, write)


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors whole or not at all."""
    write_whole(path, lambda part: save_file({k: v.contiguous() for k, v in tensors.items()}, part))


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


def save_config(
    folder: Path, experiment: Experiment, relations: tuple[str, ...], seed: int, record: dict[str, Any]
) -> None:
    """Write what the weights beside it belong to."""
    document = {"experiment": to_dict(experiment), "relations": relations, "seed": seed, "record": record}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_text(folder / CONFIG, text)


def load_config(folder: Path) -> tuple[Experiment, tuple[str, ...], int, dict[str, Any]]:
    """Read what `save_config` wrote."""
    path = folder / CONFIG
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"cannot read it: {error.strerror}. A model is a folder with {CONFIG} and {WEIGHTS}.", str(path)
        ) from error
    except ValueError as error:
        raise BadFile(f"not a JSON file: {error}.", str(path)) from error
    try:
        experiment = from_dict(Experiment, document["experiment"], str(path))
        return experiment, tuple(document["relations"]), int(document["seed"]), dict(document["record"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"not the config of a model: {error!r}.", str(path)) from error


def shipped_models() -> dict[str, Path]:
    """The trained models inside the package, by name."""
    return (
        {path.name: path for path in sorted(SHIPPED.iterdir()) if (path / WEIGHTS).exists()}
        if SHIPPED.exists()
        else {}
    )


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


def load_model(name: str) -> Trained:
    """A trained model: a run folder, a weights file in one, or the name of a shipped model."""
    path = folder_of(name)
    experiment, relations, seed, record = load_config(path)
    model = EpiGNN(len(relations), experiment.model)
    restore(model, load_tensors(path / WEIGHTS), path / WEIGHTS)
    model.eval()
    return Trained(name, model, experiment, relations, seed, record, _calibrated(path / CALIBRATION))


def _calibrated(path: Path) -> float | None:
    """The temperature that calibration chose, if there was one."""
    if not path.exists():
        return None
    try:
        value = float(json.loads(path.read_text(encoding="utf-8"))["temperature"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"not a calibration: {error!r}; delete it, or train again.", str(path)) from error
    if not 0 < value < math.inf:
        raise BadFile(f"its temperature must be a positive number, not {value}.", str(path))
    return value


def restore(model: EpiGNN, tensors: dict[str, Tensor], path: Path) -> None:
    """Put tensors into a model; names and shapes have to fit."""
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if expected != found:
        raise BadFile(f"these are weights of another model: expected {expected}, found {found}.", str(path))
    if not all(torch.isfinite(value).all() for value in tensors.values()):
        raise BadFile("the weights are not finite numbers; the run that made them diverged.", str(path))
    model.load_state_dict(tensors)
