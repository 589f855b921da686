"""Profiles: how far models are tested, up to which k they hold, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.data.kin_rules import ambiguous_by_rules
from epignn.data.stream import digests
from epignn.entries import allowed
from epignn.errors import BadArgument, UnknownName
from epignn.learn.checkpoint import load_model
from epignn.report import pictures
from epignn.report.profile import (
    EXACT,
    SIZES,
    Holds,
    Plan,
    Profile,
    by_calculus,
    by_model,
    document,
    draw,
    in_words_of,
    profiles,
    record,
    short_names,
    subject,
    task_for,
)
from epignn.report.reproduce import measure_cells
from epignn.tasks.star import generated

TASK = Path(__file__).parents[2] / "examples" / "task.py"


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def all_right(data):
    return np.ones(len(data), dtype=bool)


def falling(data):
    """Right up to k = 3, three of four up to 5, then one of eight."""
    share = 8 if data.k <= 3 else 6 if data.k <= 5 else 1
    return np.arange(len(data)) % 8 < share


def small(data):
    """A model that takes no more than five steps."""
    if data.k > 5:
        raise BadArgument("up to 5 steps")
    return all_right(data)


def ks(profile):
    return [cell["k"] for cell in profile.by_k]


def cells(*accuracies, half=0.02):
    return [
        {"k": k, "accuracy": a, "low": a - half, "high": min(1, a + half)}
        for k, a in enumerate(accuracies, start=2)
    ]


@pytest.mark.parametrize(
    ("found", "holds", "shown"),
    [
        (cells(1, 0.99, 0.96, 0.94, 0.9), (4, 3, 5), "4 (3–5)"),
        (cells(1, 1, 1), (4, 4, 4), "≥ 4"),
        (cells(1, 1, 0.96), (4, 3, 4), "≥ 4 (3–≥ 4)"),
        (cells(0.5, 1, 1), (None, None, None), "none"),
        (cells(0.96, 0.8), (2, None, 2), "2 (none–2)"),
        (cells(1, 0.8, 1), (2, 2, 2), "2"),
        (cells(0.95, 0.5, half=0), (2, 2, 2), "2"),
    ],
)
def test_the_largest_k_that_holds_with_all_smaller_ones(found, holds, shown):
    reached = Profile("x", by_k=found).holds(0.95)
    assert reached == Holds(*holds, last=found[-1]["k"])
    assert str(reached) == shown


def test_models_are_tested_until_they_fall_or_refuse_or_the_sizes_end():
    plan = Plan("rcc8", longest=9, widest=4, problems=16)
    said = []
    found = profiles(
        {"all": all_right, "falling": falling, "small": small},
        plan,
        task_for("rcc8"),
        lambda done, total, text: said.append((done, total, text)),
    )
    everything, falls, refuses = found
    assert ks(everything) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert ks(falls) == [2, 3, 4, 5, 6]
    assert [cell["accuracy"] for cell in falls.by_k] == [1, 1, 0.75, 0.75, 0.125]
    assert ks(refuses) == [2, 3, 4, 5]
    assert refuses.notes == ["not tested at k=6 b=3 and beyond: up to 5 steps"]
    assert [(cell["k"], cell["b"]) for cell in everything.by_b] == [(4, 1), (4, 2), (4, 3), (4, 4)]
    assert falls.holds(0.95).k == 3
    assert everything.notes == falls.notes == []
    assert [one[:2] for one in said] == [(done, 12) for done in range(1, 13)]
    assert said[2][2] == "k=4 b=3: all 1.0000, falling 0.7500, small 1.0000"
    json.dumps(document(plan, found))


def test_all_models_answer_the_same_problems_and_no_size_is_made_twice():
    seen = {"a": [], "b": []}

    def watching(name):
        def right(data):
            seen[name].append((data.k, data.b, digests(data).tolist()))
            return all_right(data)

        return right

    profiles(
        {name: watching(name) for name in seen}, Plan("point", longest=4, widest=3, problems=9), task_for("point")
    )
    assert seen["a"] == seen["b"]
    assert [one[:2] for one in seen["a"]] == [(2, 3), (3, 3), (4, 3), (4, 1), (4, 2)]


def test_figures_are_those_of_the_tables():
    """The shipped model, on the problems that `reproduce` tests it on."""
    trained = load_model("rcc8")
    plan = Plan("rcc8", b=5, longest=3, widest=2, problems=16)
    (found,) = profiles({"rcc8": by_model(trained)}, plan, task_for("rcc8"))
    same = measure_cells(trained, [(2, 5), (3, 5)], 2, lambda text: None)
    names = ("k", "b", "n", "distinct", "accuracy", "low", "high")
    assert found.by_k == [{name: one[name] for name in names} for one in same]


def test_the_calculus_itself_is_always_right():
    plan = Plan("rcc8", longest=5, widest=2, problems=8)
    task = task_for("rcc8")
    (found,) = profiles({EXACT: by_calculus(task)}, plan, task)
    assert {cell["accuracy"] for cell in (*found.by_k, *found.by_b)} == {1.0}
    with pytest.raises(BadArgument, match="no calculus decides the problems of families"):
        by_calculus(task_for("kinship"))


def test_kinship_grows_by_hops_and_has_one_answer():
    trained = load_model("kinship")
    asked = []

    def right(data):
        asked.append(data)
        return by_model(trained)(data)

    (found,) = profiles({"kinship": right}, Plan("families", longest=4, problems=40), task_for("kinship"))
    assert [(cell["k"], cell["b"]) for cell in found.by_k] == [(2, 0), (3, 0), (4, 0)]
    assert found.by_b == []
    assert all(cell["accuracy"] > 0.9 for cell in found.by_k)
    assert not any(ambiguous_by_rules(data).any() for data in asked)
    assert all(20 < len(data) <= 40 for data in asked)


def test_a_task_of_ones_own_grows_by_hops():
    task = task_for(f"{TASK}:Clock", allowed([TASK]))
    (found,) = profiles({"all": all_right}, Plan("clock", longest=3, problems=9), task)
    assert [(cell["k"], cell["b"], cell["n"]) for cell in found.by_k] == [(2, 0, 10), (3, 0, 10)]


def test_words_are_those_of_the_model():
    data = generated(load("rcc8"), 3, 2, 2, 1)
    turned = in_words_of("m", data, data.relations[::-1])
    assert [example.edges for example in turned] == [example.edges for example in data]
    assert [example.label for example in turned] == [example.label for example in data]
    assert in_words_of("m", data, data.relations) is data
    with pytest.raises(BadArgument, match="m is a model of < = >, and knows no DC, EC, PO, TPP; name what"):
        in_words_of("m", data, ("<", "=", ">"))
    some = Dataset(("a", "b"), [2], [0, 1], [0], [1], [0], [0], [1], [0])
    assert in_words_of("m", some, ("a",)).relations == ("a",)


def test_a_model_that_takes_too_long_is_stopped():
    slow = by_model(load_model("rcc8"), seconds=0.0)
    data = generated(load("rcc8"), 3, 1, 9, 1)
    with pytest.raises(BadArgument, match="rcc8 gave 64 of 72 answers in 0 s"):
        slow(data)
    (found,) = profiles(
        {"slow": lambda data: slow(data) if data.k > 2 else all_right(data)},
        Plan("rcc8", problems=72),
        task_for("rcc8"),
    )
    assert ks(found) == [2]
    assert found.notes[0] == "not tested at k=3 b=3 and beyond: rcc8 gave 64 of 72 answers in 0 s."


def test_a_model_of_something_else_is_refused_at_once():
    with pytest.raises(BadArgument, match="allen is a model of"):
        profiles({"allen": by_model(load_model("allen"))}, Plan("rcc8", problems=8), task_for("rcc8"))


def test_what_a_model_is_about():
    assert subject(load_model("rcc8")) == "rcc8"
    assert subject(load_model("kinship")) == "families"
    assert set(load_model("kinship").relations) == set(TERMS)


def test_tasks_that_cannot_grow_are_refused():
    for name in ("clutrr:db9b8f04", "world:6", "wn18rr:v1"):
        with pytest.raises(BadArgument, match="no problems of growing size"):
            task_for(name)
    with pytest.raises(UnknownName, match="Did you mean 'rcc8'"):
        task_for("rcc9")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 1}, "k must be 2 or more"),
        ({"problems": 0}, "problems must be 1"),
        ({"floor": 2.0}, "floor is an acc"),
    ],
)
def test_plans_out_of_range_are_refused(settings, message):
    with pytest.raises(BadArgument, match=message):
        Plan("rcc8", **settings)
    with pytest.raises(BadArgument, match="name a model"):
        profiles({}, Plan("rcc8"), task_for("rcc8"))


def test_sizes_rise_and_include_the_training_sizes():
    assert list(SIZES) == sorted(set(SIZES))
    by_k, by_b = Plan("rcc8").sizes(branches=True)
    assert {(2, 3), (4, 3), (30, 3)} <= set(by_k)
    assert {(4, 1), (4, 12)} <= set(by_b)


def test_names_are_short_where_that_tells_them_apart():
    assert short_names(["runs/a", "rcc8"]) == ["a", "rcc8"]
    assert short_names(["one/a", "two/a"]) == ["one/a", "two/a"]


def test_the_record_tells_what_each_model_is():
    trained = load_model("rcc8")
    plan = Plan("rcc8", longest=2, widest=1, problems=8)
    found = profiles({"rcc8": by_model(trained), EXACT: all_right}, plan, task_for("rcc8"))
    told = json.loads(json.dumps(record(plan, found, {"rcc8": trained})))
    model, exact = told["models"]
    assert model["experiment"]["data"]["task"] == "rcc8"
    assert model["parameters"] == sum(p.numel() for p in trained.model.parameters())
    assert "experiment" not in exact
    assert {"commit", "cpu", "test_seed", "plan"} <= set(told)


def test_one_picture_has_both_ways_to_grow(tmp_path):
    plan = Plan("rcc8", longest=4, widest=2, problems=16)
    figure = draw(plan, profiles({"mine": falling, EXACT: all_right}, plan, task_for("rcc8")))
    left, right = figure.axes
    assert (left.get_title(), left.get_xlabel()) == ("b = 3", "path length k")
    assert (right.get_title(), right.get_xlabel()) == ("k = 4", "branches b")
    level, mine, exact = left.lines
    assert level.get_ydata()[0] == 0.95
    assert mine.get_xdata().tolist() == [2, 3, 4]
    assert mine.get_ydata().tolist() == [1, 1, 0.75]
    assert exact.get_linestyle() == "--"
    assert len(left.collections) == 1  # a band for the model alone
    assert mine.get_color() == right.lines[1].get_color() != exact.get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mine", EXACT]
    assert left.get_ylim() == right.get_ylim()
    assert pictures.save(figure, tmp_path / "p.svg").exists()


def test_without_branches_one_panel_is_drawn():
    plan = Plan("families", longest=2, problems=20)
    (axes,) = draw(plan, profiles({"mine": all_right}, plan, task_for("families"))).axes
    assert axes.get_xlabel() == "hops"
