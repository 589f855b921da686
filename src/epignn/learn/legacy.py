"""Experiments as earlier versions wrote them, in run folders and records: read as the present ones."""

from typing import Any

CLASSIFY = ("loss", "margin", "temperature", "random_path")
RANK = ("loss", "margin", "temperature", "negatives", "share", "thin", "metric", "validation_triples")
"""Settings of the training section that belong to the objective now."""


def present_day(values: dict[str, Any]) -> dict[str, Any]:
    """The same experiment in the present sections; one that has these already is given back as a copy."""
    values = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    training, data = values.get("training"), values.get("data")
    if "objective" not in values and isinstance(training, dict):
        links = any(key in training for key in ("negatives", "share", "validation_triples"))
        moved = {key: training.pop(key) for key in (RANK if links else CLASSIFY) if key in training}
        if moved:
            values["objective"] = {"kind": "rank" if links else "classify", **moved}
        if links and data is None:
            values["data"] = {"task": "triples"}  # such runs did not say what they were trained on
    if isinstance(data, dict) and "task" not in data and ("source" in data or "calculus" in data):
        values["data"] = _data(data)
    return values


def _data(data: dict[str, Any]) -> dict[str, Any]:
    """The data section by task, with the settings that such a task has."""
    data = dict(data)
    source, calculus, files = data.pop("source", ""), data.pop("calculus", "rcc8"), data.pop("files", ())
    generated = ("k", "b", "per_label", "seed")
    own: tuple[str, ...] = ()
    if source == "families":
        task, own = "families", ("k", "per_label", "seed")
    elif source.startswith("world-"):
        task, own = source.replace("-", ":", 1), ("seed",)
    elif source:
        task = source.replace("-", ":", 1)
    elif files or not calculus:
        task = "files"
        data |= {"files": files, "speaks": calculus}
    else:
        task, own = calculus, generated
    return {"task": task} | {key: value for key, value in data.items() if key not in generated or key in own}
