"""`score`: what is predicted elsewhere is scored as `evaluate` scores a model; bad input gets exit code 2."""

import json

import pytest
import torch

from epignn.report.record import read_records
from tests.graphs import TRAINED


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def made(epignn, tmp_path):
    """Problems, and what a trained model says of them: not all of it is right."""
    out = tmp_path / "cells"
    epignn("generate", "rcc8", "--k", 4, 12, "--b", 5, "--per-label", 10, "--seed", 9, "--out", out)
    problems = [out / f"test_rcc8_k_{k}_b_5.csv.gz" for k in (4, 12)]
    told = [tmp_path / f"told_{k}.csv" for k in (4, 12)]
    for file, to in zip(problems, told, strict=True):
        assert epignn("predict", TRAINED, file, "--out", to).code == 0
    return problems, told


def test_the_same_figures_as_evaluate(epignn, made):
    problems, told = made
    found = json.loads(epignn("score", *problems, *told, "--json").out)
    evaluated = json.loads(epignn("evaluate", TRAINED, *problems, "--json").out)["results"]
    assert min(one["accuracy"] for one in evaluated) < 1
    for one, other, file in zip(found["results"], evaluated, told, strict=True):
        assert one == {**other, "predictions": str(file)}
    mean = sum(one["accuracy"] for one in evaluated) / 2
    assert found["average"]["accuracy"] == pytest.approx(mean)
    assert found["record"] is None


def test_a_table_for_people(epignn, made):
    problems, told = made
    lines = epignn("score", problems[0], told[0], problems[1], told[1]).out.splitlines()
    assert "95 % interval" in lines[1]
    assert "average" in lines[-2]
    assert "average" not in epignn("score", problems[0], told[0]).out


def test_a_row_for_a_table(epignn, made, tmp_path):
    problems, told = made
    ran = epignn("score", *problems, *told, "--record", tmp_path / "results" / "rcc8", "--name", "mine")
    assert (ran.code, "the table rcc8 also tests k=2 b=1" in ran.err) == (2, True)
    ran = epignn("score", *problems, *told, "--record", tmp_path / "results" / "rcc8")
    assert (ran.code, "needs both: --record results/rcc8 --name" in ran.err) == (2, True)
    assert not (tmp_path / "results").exists()


def test_all_of_a_small_table(epignn, tmp_path):
    """From problems to the record that `reproduce --report` reads."""
    made = tmp_path / "made"
    epignn("generate", "rcc8", "--k", 9, 12, 15, "--b", 3, 6, 8, "--per-label", 1, "--seed", 2025, "--out", made)
    files = [made / f"test_rcc8_k_{k}_b_{b}.csv.gz" for k, b in ((9, 3), (12, 6), (15, 8))]
    told = [tmp_path / f"{file.name.partition('.')[0]}.csv" for file in files]
    for file, to in zip(files, told, strict=True):
        epignn("predict", TRAINED, file, "--out", to)
    folder = tmp_path / "results" / "differences"
    about = ("--record", folder, "--name", "mine", "--seed", 2, "--parameters", 5, "--training-seconds", 1.5)
    ran = epignn("score", *files, *told, *about, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["record"] == str(folder / "records.jsonl")
    (found,) = read_records(folder)
    assert (found["variant"], found["parameters"], found["training_seconds"]) == ("mine", 5, 1.5)
    assert [(cell["k"], cell["b"], cell["n"]) for cell in found["cells"]] == [(9, 3, 8), (12, 6, 8), (15, 8, 8)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.rpartition("\n79,")[0] + "\n", "79 predictions for 80 problems"),
        (lambda text: text.replace(",EQ,", ",EQUAL,"), "Unknown relation 'EQUAL'. Did you mean 'EQ'"),
        (lambda text: text.replace("relation", "answer"), "files of problems and 0 of predictions"),
        (lambda text: text.replace("\n5,", "\n4,"), "a second prediction for problem 4"),
    ],
)
def test_bad_input(epignn, made, change, message):
    (problems, _), (told, _) = made
    told.write_text(change(told.read_text()))
    ran = epignn("score", problems, told)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_files_that_are_not_there(epignn, made, tmp_path):
    (problems, _), (told, _) = made
    assert "cannot read it" in epignn("score", problems, tmp_path / "none.csv").err
    assert "Unknown calculus 'rcc9'" in epignn("score", problems, told, "--calculus", "rcc9").err


@pytest.mark.parametrize("rows", ["prediction\n{}\n", "id,prediction\n{},DC\n"])
def test_a_number_of_thousands_of_digits(epignn, tmp_path, rows):
    problems, told = tmp_path / "a.csv", tmp_path / "b.csv"
    problems.write_text(',edges,edge_labels,query_edge,query_label\n0,"[(0, 1)]","[\'EC\']","(0, 1)",EC\n')
    told.write_text(rows.format("9" * 5000))
    ran = epignn("score", problems, told)
    assert (ran.code, ran.err.count("error: ")) == (2, 1)


@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_seconds_that_are_no_number(epignn, tmp_path, seconds):
    ran = epignn("score", "a.csv", "b.csv", "--record", tmp_path, "--name", "x", "--training-seconds", seconds)
    assert (ran.code, ran.err) == (2, f"error: --training-seconds takes a number, not {seconds}.\n")
