"""Run folders by the names that clients give, and what their files say. Nothing here loads torch.

A name is never a path: it is a plain word, and the folder that it means lies in the folder of runs, or is a shipped
model's. A link that leads elsewhere is none of them. Whether a run trains is told by a lock that its process holds,
so that any server knows it, also one that was started later.
"""

import dataclasses
import fcntl
import math
import os
import re
from pathlib import Path
from typing import Annotated, Any

from numpy.linalg import LinAlgError
from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter
from safetensors import SafetensorError, safe_open

from epignn.errors import BadFile, EpignnError
from epignn.files import load_json, read_text
from epignn.learn.legacy import present_day
from epignn.reason.folders import CALCULUS, CONFIG, RULES, SHIPPED, shipped_models
from epignn.tasks import TASKS, task_kind
from epignn.tasks.api import GraphTask, LinkTask
from epignn.web.errors import NotThere
from epignn.web.limits import Context
from epignn.web.vectors import placed

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
WEIGHTS, HISTORY = "weights.safetensors", "history.json"
REQUEST, LOCK, LOG, ERROR = "request.json", "training.lock", "training.log", "error.txt"
"""What a server adds to a run folder: how the run was begun, who trains it, what that said, and why it failed."""
TOLD = 2000
"""Bytes of an error that are shown."""
TRIPLES, DATA = "triples.tsv", "data"
"""What a client has brought to train on: one file of triples, or a folder."""
MALFORMED = (
    *(EpignnError, AttributeError, KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError),
    SafetensorError,
)
"""What comes of files whose parts are not what they should be."""


class About(BaseModel):
    """What the config of a run folder says, as far as it is shown."""

    experiment: str = ""
    kind: str = ""
    links: bool = False
    calculus: str = ""
    relations: list[str] | None = None
    epochs: Annotated[int, Field(ge=0, le=10**9)] = 0
    metric: str = ""
    constrained: bool = True
    validation: FiniteFloat | None = None
    ended: bool = False
    command: str = ""
    error: str | None = None


class Entry(BaseModel):
    """One epoch of a history, as far as it is shown."""

    epoch: Annotated[int, Field(ge=0, le=10**9)]
    loss: FiniteFloat
    validation: FiniteFloat | None
    seconds: FiniteFloat


HISTORY_OF = TypeAdapter(list[Entry])

# -- by name --


def run_folder(root: Path, name: str) -> Path:
    """Where a run of this name is, or would be.

    Raises:
        NotThere: this can be no name of a run.
    """
    folder = root / name
    if not NAME.fullmatch(name) or folder.is_symlink() or folder.resolve().parent != root.resolve():
        raise NotThere(f"{name[:80]!r} is no name of a run; letters, digits, '.', '_' and '-' make one.")
    return folder


def known_run(root: Path, name: str) -> Path:
    """Where a run is.

    Raises:
        NotThere: there is none of this name.
    """
    folder = run_folder(root, name)
    if not any((folder / file).is_file() for file in (CONFIG, REQUEST)):
        raise NotThere(f"there is no run {name!r}.")
    return folder


def brought(folder: Path) -> Path:
    """Where the files are that a client brought for a run."""
    return folder / DATA if (folder / DATA).is_dir() else folder / TRIPLES


def model_folder(context: Context, name: str) -> Path:
    """Where a trained model is: a shipped one, or a run.

    Raises:
        NotThere: there is none of this name.
    """
    if name in shipped_models():
        return SHIPPED / name
    folder = run_folder(context.root, name)
    if not all((folder / file).is_file() for file in (WEIGHTS, CONFIG)):
        raise NotThere(f"there is no model {name!r}; /api/models lists those that are there.")
    return folder


def run_names(root: Path) -> list[str]:
    """All runs of a folder."""
    there = {path.parent for file in (CONFIG, REQUEST) for path in root.glob(f"*/{file}")}
    return sorted(path.name for path in there if NAME.fullmatch(path.name) and not path.is_symlink())


def trains(folder: Path) -> bool:
    """Whether a process trains this run now."""
    path = folder / LOCK
    if not path.is_file():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


# -- what is told of them --


def models(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """All models: shipped ones, and runs that have weights; what cannot be read is none."""
    shipped = [(SHIPPED / name, True) for name in shipped_models()]
    runs = [(context.root / name, False) for name in run_names(context.root) if name not in shipped_models()]
    found = []
    for folder, comes_along in [*shipped, *runs]:
        told, parameters = about(folder), _parameters(folder / WEIGHTS)
        if parameters is not None and told.relations is not None:
            shown = told.model_dump(include={"links", "kind", "relations", "calculus", "validation"})
            more = {"parameters": parameters, "distilled": _distilled(folder)}
            found.append({"name": folder.name, "shipped": comes_along, **shown, **more})
    return {"models": found}


def runs(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """All runs in short."""
    return {"runs": [_line(context.root / name) for name in run_names(context.root)]}


def run(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """One run, epoch by epoch; relations stand as near as can be to where they stood before (`previous`)."""
    folder = known_run(context.root, request["name"])
    told, (history, _) = about(folder), _history(folder)
    has_vectors = told.kind.startswith("epignn") and bool(history)
    return {
        **_line(folder),
        "history": [entry.model_dump() for entry in history],
        "relations": told.relations or [],
        "vectors": _vectors(folder, told, request["previous"]) if has_vectors else None,
        "metric": told.metric,
        "command": told.command,
    }


def _line(folder: Path) -> dict[str, Any]:
    told, (history, broken) = about(folder), _history(folder)
    begun = _begun(folder)
    error = _error(folder) or told.error or broken
    state = "training" if trains(folder) else "ended" if told.ended else "failed" if error else "stopped"
    reached = [entry.validation for entry in history if entry.validation is not None]
    return {
        "name": folder.name,
        "experiment": begun or told.experiment,
        "state": state,
        "epoch": history[-1].epoch if history else 0,
        "epochs": told.epochs,
        "validation": max(reached, default=None),
        "links": told.links or (told.relations is None and begun == "links"),
        "error": error if state == "failed" else None,
    }


def about(folder: Path) -> About:
    """What the config of a run folder says; an `error`, and no relations, where it cannot be read."""
    try:
        path = folder / CONFIG
        return _about(load_json(read_text(path), CONFIG)) if path.is_file() else About()
    except MALFORMED as error:
        return About(error=f"its {CONFIG} cannot be read: {_reason(error)}.")


def relations_of(folder: Path) -> tuple[str, ...]:
    """The relations of a run folder.

    Raises:
        BadFile: its config cannot be read.
    """
    told = about(folder)
    if told.relations is None:
        raise BadFile(told.error or "it has no relations.", folder.name)
    return tuple(told.relations)


def _about(config: dict[str, Any]) -> About:
    experiment, record = present_day(config["experiment"]), config["record"]
    model, training = experiment["model"], experiment["training"]
    task = _task(experiment["data"])
    return About(
        experiment=experiment["name"],
        kind=model.get("kind", "epignn"),
        links=isinstance(task, LinkTask),
        calculus=task.calculus if isinstance(task, GraphTask) else "",
        relations=config["relations"],
        epochs=training["epochs"] * training.get("starts", 1),
        metric=experiment.get("objective", {}).get("metric", "accuracy"),
        constrained=model.get("constrained", True),
        validation=record.get("validation"),
        ended="validation" in record,
        command=record.get("command", ""),
    )


def _reason(error: Exception) -> str:
    """What is wrong, in a line."""
    return " ".join((str(error) or type(error).__name__).split())[:200].rstrip(".")


def _task(data: dict[str, Any]) -> Any:
    """The task of an experiment; None where its class is not one of the package's."""
    kind = data.get("kind") or task_kind(data["task"])
    if kind not in TASKS.own:
        return None
    cls = TASKS.get(kind)
    known = {field.name for field in dataclasses.fields(cls)}
    settings = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return cls(**{"kind": kind, **{key: value for key, value in settings.items() if key in known}})


def _history(folder: Path) -> tuple[list[Entry], str | None]:
    """The epochs of a run; and what is wrong, where they cannot be read."""
    path = folder / HISTORY
    try:
        return HISTORY_OF.validate_python(load_json(read_text(path), HISTORY)) if path.is_file() else [], None
    except MALFORMED as error:
        return [], f"its {HISTORY} cannot be read: {_reason(error)}."


def _begun(folder: Path) -> str:
    """The experiment that a run was begun with from the page; empty where it was not, or that cannot be read."""
    path = folder / REQUEST
    try:
        found = load_json(read_text(path), REQUEST)["experiment"] if path.is_file() else ""
    except MALFORMED:
        return ""
    return found if isinstance(found, str) else ""


def _error(folder: Path) -> str | None:
    """Why a run failed, as its server wrote it down."""
    path = folder / ERROR
    if not path.is_file():
        return None
    with path.open("rb") as file:  # which may be of any size
        return file.read(TOLD).decode(errors="replace")


def _vectors(folder: Path, told: About, previous: list[list[float]] | None) -> list[list[float]] | None:
    """Where relations stand; None where the files have no vectors that can be read."""
    try:
        return placed(folder, len(told.relations or ()), told.constrained, previous)
    except (*MALFORMED, LinAlgError):
        return None


def _parameters(path: Path) -> int | None:
    """How many numbers a file of weights has; None where there is none that can be read."""
    try:
        with safe_open(path, "np") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    except MALFORMED:
        return None
    return sum(map(math.prod, shapes))


def _distilled(folder: Path) -> bool:
    """Whether a calculus or rules are beside the weights."""
    return any((folder / name).is_file() for name in (CALCULUS, RULES))


def lock(folder: Path) -> int | None:
    """Take the lock of a run, to be given to the process that trains it; None where another holds it."""
    held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        return None
    return held
