"""Libraries that only some functions need: loaded by them, and asked for kindly where they are missing."""

import importlib
from types import MappingProxyType
from typing import Any

from epignn.errors import BadArgument

EXTRA_OF = MappingProxyType(
    {
        "fastapi": "web",
        "geopandas": "geo",
        "matplotlib": "plot",
        "mlflow": "mlflow",
        "networkx": "graphs",
        "openpyxl": "frames",
        "optuna": "sweep",
        "pandas": "frames",
        "pyarrow": "frames",
        "ray": "ray",
        "rdflib": "rdf",
        "safetensors": "learn",
        "shapefile": "geo",
        "shapely": "geo",
        "tensorboard": "tensorboard",
        "torch": "learn",
        "torch_geometric": "pyg",
        "uvicorn": "web",
    }
)
"""The extra of this package that brings each library."""


def optional(library: str, purpose: str) -> Any:
    """A library that may not be installed.

    Args:
        library: what to import; a dotted name imports that part of it.
        purpose: what needs it, as the subject of a sentence.

    Raises:
        BadArgument: it is missing; tells how to install it.
    """
    name = library.partition(".")[0]
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise BadArgument(missing(purpose, name)) from error


def missing(purpose: str, library: str) -> str:
    """What to say where a library is not installed.

    >>> missing("this", "torch")
    "this needs torch, which is not installed: pip install 'epignn[learn]'."
    """
    return f"{purpose} needs {library}, which is not installed: pip install 'epignn[{EXTRA_OF[library]}]'."
