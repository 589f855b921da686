"""What a trained model was distilled into, tested on the problems that the model was tested on."""

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.distil.calculus import distil_calculus
from epignn.distil.evaluate import exact_figures, rule_figures
from epignn.distil.horn import distil_rules
from epignn.distil.reading import read_weights
from epignn.distil.rules import RuleSet
from epignn.learn.config import Experiment
from epignn.models.epignn import EpiGNN


def distil(model: EpiGNN, relations: tuple[str, ...], experiment: Experiment, data: Dataset) -> Calculus | RuleSet:
    """The calculus that a model has learnt, or the rules where its relations belong to none."""
    if experiment.data.calculus:
        return distil_calculus(read_weights(model, relations), data).calculus
    training = experiment.training
    temperature = training.temperature if training.loss == "cross_entropy" else 1.0
    return distil_rules(model, relations, data, temperature).rules


def accuracy(learnt: Calculus | RuleSet, data: Dataset) -> float:
    """The share of problems that exact reasoning with what was learnt answers rightly."""
    figures = exact_figures if isinstance(learnt, Calculus) else rule_figures
    return float(figures(learnt, data)["accuracy"])  # type: ignore[arg-type]
