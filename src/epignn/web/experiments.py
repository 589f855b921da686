"""What can be trained from the page, by which command, and which settings a client may change.

A client names no file and no code: it chooses among experiments, and sets what this table has, within its bounds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.errors import BadArgument, BadFile, EpignnError, lookup
from epignn.models import MODELS, REFINED
from epignn.web.folders import brought


@dataclass(frozen=True)
class Offer:
    """An experiment that the page offers.

    Attributes:
        title, about: for people.
        what: what `epignn train` is told; empty where a client brings files.
        settings: that differ from the experiment's.
        seconds: about how long it takes on one core, if that is short.
    """

    title: str
    about: str
    what: str
    settings: tuple[str, ...] = ()
    seconds: float | None = None


OFFERS = MappingProxyType(
    {
        "demo": Offer(
            "RCC-8 in some seconds",
            "Few small graphs of regions; the whole composition table can be read off the weights.",
            "rcc8",
            (
                "data.per_label=60",
                "training.epochs=20",
                "training.batch_size=32",
                "training.learning_rate=0.03",
                "model.dim=32",
                "model.facets=8",
            ),
            10,
        ),
        "rcc8": Offer("RCC-8", "The best recipe: regions, 8 relations, paths of up to 4 facts.", "rcc8"),
        "ia": Offer("Interval algebra", "The best recipe: intervals, 13 relations, paths of up to 4 facts.", "ia"),
        "kinship": Offer("Kinship", "Walks through simulated families; 20 terms such as aunt and son.", "kinship"),
        "links": Offer(
            "Links of your own",
            "A knowledge graph as triples: who is the tail of a head and a relation?",
            "",
            (),
            30,
        ),
        "graphs": Offer(
            "Graphs of your own",
            "Small graphs, each with the relation that follows: a folder of .csv or .jsonl files.",
            "",
        ),
    }
)
NUMBERS = MappingProxyType(
    {
        "training.epochs": (1, 500),
        "training.batch_size": (1, 1024),
        "training.learning_rate": (1e-6, 1),
        "training.decay": (0, 1),
        "training.clip": (0, 100),
        "training.starts": (1, 5),
        "training.average": (0, 0.9999),
        "training.patience": (0, 500),
        "model.dim": (2, 256),
        "model.facets": (1, 32),
        "model.rounds": (1, 32),
        "model.width": (2, 256),
        "model.layers": (1, 16),
        "objective.temperature": (0.01, 100),
        "objective.margin": (0, 100),
        "data.per_label": (1, 4000),
        "data.noise": (0, 20),
        "data.wrong": (0, 0.9),
    }
)
"""Settings that are numbers, from the least to the most."""
WORDS = MappingProxyType(
    {
        "model.kind": tuple(name for name in MODELS.own if name not in REFINED),
        "model.pooling": ("min", "mul"),
        "model.rounds": ("auto",),
        "model.inverse": ("true", "false"),
        "training.schedule": ("constant", "one_cycle"),
    }
)
"""Settings that are words, and which."""
WORD = re.compile("[A-Za-z0-9-]{1,64}")
"""The name of a calculus: never that of a file."""
NUMBER = re.compile(r"\d{1,9}(\.\d{1,12})?(e-?\d{1,2})?", re.ASCII)


def checked(setting: str) -> str:
    """A setting such as `model.facets=8`, if a client may set it so.

    >>> checked("training.epochs = 5")
    'training.epochs=5'

    Raises:
        UnknownName: it may not be set.
        BadArgument: it may, but not so.
    """
    key, equals, value = (part.strip() for part in setting.partition("="))
    lookup("setting", key, dict.fromkeys([*NUMBERS, *WORDS]))
    word = value.strip("\"'")
    if not equals or not (_is_number(key, value) or word in WORDS.get(key, ())):
        bounds = [f"{least:g} to {most:g}" for least, most in (NUMBERS[key],)] if key in NUMBERS else []
        raise BadArgument(f"{key} takes {', '.join([*bounds, *WORDS.get(key, ())])}, not {value[:40]!r}.")
    return f"{key}={value if _is_number(key, value) else word}"


def _is_number(key: str, value: str) -> bool:
    least, most = NUMBERS.get(key, (1, 0))
    return bool(NUMBER.fullmatch(value)) and least <= float(value) <= most


def read_request(found: Any, file: str) -> dict[str, Any]:
    """What a run folder says of how its run was begun; a folder is not trusted to say more than the page may.

    Raises:
        BadFile: it does, or says something else.
    """
    try:
        lookup("experiment", found["experiment"], OFFERS)
        settings, seed, calculus = [checked(one) for one in found["settings"]], found["seed"], found["calculus"]
        right = type(seed) is int and 0 <= seed <= 2**31 and (calculus is None or bool(WORD.fullmatch(calculus)))
    except (EpignnError, AttributeError, KeyError, TypeError) as error:
        raise BadFile("not how a run is begun here; choose another name.", file) from error
    if not right or settings != found["settings"]:
        raise BadFile("not how a run is begun here; choose another name.", file)
    return dict(found)


def command(request: dict[str, Any], folder: Path) -> list[str]:
    """The words after `epignn` that train a run, or resume it."""
    offer = lookup("experiment", request["experiment"], OFFERS)
    settings: Sequence[str] = (*offer.settings, *request["settings"])
    what = offer.what or str(brought(folder))
    options = [("--calculus", request["calculus"])] if request.get("calculus") else []
    options += [("--set", setting) for setting in settings]
    words = ["train", what, "--out", str(folder), "--seed", str(request["seed"])]
    return words + [word for option in options for word in option]
