"""What belongs to a trained model: the calculus or the rules in a file beside its weights, or what these say."""

from pathlib import Path

from epignn.calculus.algebra import Calculus
from epignn.calculus.toml import load_calculus
from epignn.distil.calculus import distil_calculus
from epignn.distil.reading import read_weights
from epignn.distil.rules import RuleSet
from epignn.distil.rules_file import load_rules
from epignn.learn.checkpoint import Trained, folder_of, load_model

CALCULUS, RULES = "calculus.toml", "rules.toml"
"""Where `epignn distil RUN --out RUN/calculus.toml` puts the certified table of a run, or its rules."""


def calculus_of(name: str) -> Calculus:
    """The calculus of a model by name or run folder: certified by data if that was done, else by weights alone."""
    path = folder_of(name) / CALCULUS
    return load_calculus(path) if path.exists() else from_weights(load_model(name))


def rules_of(name: str) -> RuleSet | None:
    """The rules of a model by name or run folder, if they were distilled: weights alone say too little of them."""
    path = folder_of(name) / RULES
    return load_rules(path) if path.exists() else None


def from_weights(trained: Trained) -> Calculus:
    """What the weights of a model say, without a look at its training data."""
    reading = read_weights(trained.model, trained.relations)
    name = f"{Path(trained.name).stem}-learnt"
    return distil_calculus(reading, None, name, "read off the weights alone").calculus
