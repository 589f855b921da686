"""The calculus that belongs to a trained model: the file beside its weights, or else what the weights say."""

from pathlib import Path

from epignn.bench.store import Trained, folder_of, load_model
from epignn.calculus.algebra import Calculus
from epignn.calculus.toml import load_calculus
from epignn.distil.calculus import distil_calculus
from epignn.distil.reading import read_weights

CALCULUS = "calculus.toml"
"""Where `epignn distil RUN --out RUN/calculus.toml` puts the certified table of a run."""


def calculus_of(name: str) -> Calculus:
    """The calculus of a model by name or run folder: certified by data if that was done, else by weights alone."""
    path = folder_of(name) / CALCULUS
    return load_calculus(path) if path.exists() else from_weights(load_model(name))


def from_weights(trained: Trained) -> Calculus:
    """What the weights of a model say, without a look at its training data."""
    reading = read_weights(trained.model, trained.relations)
    name = f"{Path(trained.name).stem}-learnt"
    return distil_calculus(reading, None, name, "read off the weights alone").calculus
