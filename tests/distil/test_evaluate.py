"""Figures of exact reasoning: by a calculus and by rules."""

from dataclasses import replace

import numpy as np

from epignn.calculus import load
from epignn.calculus.toml import write_calculus
from epignn.data.dataset import Dataset
from epignn.distil.calculus import distil_calculus
from epignn.distil.evaluate import compared, exact_figures, exact_results, rule_figures
from epignn.distil.evidence import corrupt
from epignn.distil.reading import read_weights
from epignn.distil.rules import Rule, RuleSet
from epignn.distil.weights import exact_model
from epignn.formats.star_csv import read_csv, write_csv
from epignn.models.epignn import EpiGNNConfig
from epignn.tasks.star import generated
from tests.distil.conftest import renamed


def test_a_distilled_table_answers_problems_of_any_size():
    true = load("rcc8")
    found = distil_calculus(read_weights(exact_model(true, EpiGNNConfig()), true.relations), None).calculus
    for k, b, per_label in ((9, 3, 3), (15, 8, 1), (40, 1, 1)):
        figures = exact_figures(found, generated(true, k, b, per_label, 7))
        assert (figures["accuracy"], figures["entailed"]) == (1.0, 8 * per_label)
        assert (figures["k"], figures["b"], figures["n"]) == (k, b, 8 * per_label)


def test_wrong_and_open_labels_are_counted_apart(rng):
    true = load("rcc8")
    data = generated(true, 3, 1, 50, 7)
    bad = corrupt(data, 0.1, rng)
    figures = exact_figures(true, bad)
    assert figures["contradicted"] == (bad.label != data.label).sum() > 0
    universal = tuple((true.universal,) * 8 for _ in range(8))
    assert exact_figures(replace(true, composition=universal), data)["open"] == len(data)


def test_files(tmp_path):
    true = load("point")
    data = generated(true, 4, 2, 5, 7)
    write_csv(tmp_path / "test_point_k_4_b_2.csv.gz", [data])
    (tmp_path / "mine.toml").write_text(write_calculus(true), encoding="utf-8")
    (result,) = exact_results(tmp_path / "mine.toml", [tmp_path / "test_point_k_4_b_2.csv.gz"])
    assert (result["k"], result["b"], result["n"], result["accuracy"]) == (4, 2, 15, 1.0)
    assert set(result) >= {"file", "distinct", "low", "high", "entailed", "open", "contradicted"}


def test_ambiguous_answers_by_rules_are_told_apart():
    rules = RuleSet(
        ("a", "b", "c"), 3, (Rule(0, 0, 1, 1.0), Rule(0, 0, 2, 1.0), Rule(1, 1, 0, 1.0)), ties=(0, 1, 5)
    )
    edges = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2]])
    data = Dataset(
        ("a", "b", "c"), [3] * 5, range(0, 11, 2), [0, 1] * 5, [1, 2] * 5, edges.ravel(), [0] * 5, [2] * 5,
        [1, 2, 0, 1, 0],
    )  # fmt: skip
    figures = rule_figures(rules, data)
    assert (figures["ambiguous"], figures["among"]) == (2, 2)
    assert (figures["entailed"], figures["contradicted"], figures["open"]) == (1, 1, 3)
    assert figures["accuracy"] == 2 / 5  # the second, by its tie, and the third
    assert figures["unambiguous"] == 1 / 3


def test_problems_of_a_file(files):
    true = load("rcc8")
    found = distil_calculus(read_weights(exact_model(true, EpiGNNConfig()), true.relations), None).calculus
    problems = read_csv(files / "rcc8_ia" / "test_rcc8_k_9_b_1.csv.gz", found)
    assert exact_figures(found, problems)["accuracy"] == 1.0


def test_tables_are_compared_by_names(rng):
    true = load("rcc8")
    other = renamed(true, rng)
    back = dict(zip(other.relations, np.random.default_rng(0).permutation(8), strict=True))  # as the fixture's rng
    named = replace(other, relations=tuple(true.relations[back[name]] for name in other.relations))
    assert compared(named, true) == {"cells": 64, "equal": 64, "excluding": 0}
    rows = [list(row) for row in true.composition]
    rows[0][1] = true.universal
    rows[1][1] = 0b1
    assert compared(replace(true, composition=tuple(map(tuple, rows))), true) == {
        "cells": 64, "equal": 62, "excluding": 1,
    }  # fmt: skip
