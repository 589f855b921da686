"""Link prediction models on disk: as other models, with the relations they know and how sure they are."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.errors import BadFile
from epignn.kgc.config import KgcExperiment
from epignn.learn.checkpoint import CONFIG, WEIGHTS, load_tensors, restore, write_text
from epignn.learn.config import from_dict
from epignn.models.epignn import EpiGNN

KIND = "kgc"


@dataclass(frozen=True, eq=False)
class RunConfig:
    """What the weights beside it belong to.

    Attributes:
        experiment: model and training.
        relations: that the model knows.
        seed: of the run.
        record: how it was made, and the calibration.
        digest: of what it is trained on; empty where that is not known.
    """

    experiment: KgcExperiment
    relations: tuple[str, ...]
    seed: int
    record: dict[str, Any]
    digest: str = ""


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with all that is needed to use it."""

    name: str
    model: EpiGNN
    config: RunConfig

    @property
    def temperature(self) -> float:
        """At which the softmax of scores over entities is calibrated; 1 where that was not measured."""
        return float(self.config.record.get("calibration", {}).get("temperature", 1.0))


def save_config(folder: Path, config: RunConfig) -> None:
    """Write what the weights beside it belong to."""
    document = {
        "kind": KIND,
        "experiment": dataclasses.asdict(config.experiment),
        "relations": config.relations,
        "seed": config.seed,
        "digest": config.digest,
        "record": config.record,
    }
    write_text(folder / CONFIG, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def is_run(name: str) -> bool:
    """Whether this is a folder, or a weights file in one, of a link prediction model."""
    path = Path(name)
    config = (path if path.is_dir() else path.parent) / CONFIG
    if not path.exists() or not config.is_file():
        return False
    try:
        return bool(json.loads(config.read_text(encoding="utf-8")).get("kind") == KIND)
    except (OSError, ValueError, AttributeError):
        return False  # other readers say what is wrong with it


def load_config(folder: Path) -> RunConfig:
    """Read what `save_config` wrote."""
    path = folder / CONFIG
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"cannot read it: {error.strerror}.", str(path)) from error
    except ValueError as error:
        raise BadFile(f"not a JSON file: {error}.", str(path)) from error
    try:
        experiment = from_dict(KgcExperiment, document["experiment"], str(path))
        record = dict(document["record"])
        digest = str(document.get("digest", ""))
        return RunConfig(experiment, tuple(document["relations"]), int(document["seed"]), record, digest)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"not the config of a link prediction model: {error!r}.", str(path)) from error


def load_model(name: str) -> Trained:
    """A trained model: a run folder, or a weights file in one."""
    path = Path(name)
    folder = path.parent if path.is_file() else path
    config = load_config(folder)
    model = EpiGNN(2 * len(config.relations), config.experiment.model)
    restore(model, load_tensors(folder / WEIGHTS), folder / WEIGHTS)
    return Trained(name, model.eval(), config)
