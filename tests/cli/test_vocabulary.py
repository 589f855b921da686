"""Models whose relations belong to no calculus: trained on a folder of one's own, then asked."""

import json
import subprocess
import sys

import pytest

from epignn.data.dataset import Dataset
from epignn.formats.star_csv import write_csv
from epignn.tasks.families import walks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("kin")
    write_csv(path / "walks.csv.gz", [Dataset.concat([walks(2, 300, 0), walks(3, 300, 0)])])
    return path


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "kin"
    small = [
        "model.dim=32",
        "model.facets=4",
        "training.epochs=20",
        "data.augment=0",
        "training.learning_rate=0.03",
        "training.batch_size=32",
    ]
    settings = [word for setting in small for word in ("--set", setting)]
    command = [
        sys.executable,
        "-m",
        "epignn",
        "train",
        str(folder),
        "--calculus",
        "none",
        "--out",
        str(out),
        *settings,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return str(out)


def test_it_is_evaluated_and_asked(model, folder, epignn):
    done = epignn("evaluate", model, str(folder / "walks.csv.gz"), "--json")
    (result,) = json.loads(done.out)["results"]
    assert result["n"] == 600
    assert result["accuracy"] > 0.8
    done = epignn("ask", "mother(ann, bea). husband(bea, carl)", "ann", "carl", "--model", model)
    assert done.code == 0
    assert done.out.startswith("neural  ")
    assert "(ann, carl) with probability" in done.out
    assert "exact   father(ann, carl)" in done.out


def test_predictions_for_facts_of_its_own_words(model, epignn, tmp_path):
    facts = tmp_path / "facts.txt"
    facts.write_text("mother(ann, bea). brother(bea, carl).")
    done = epignn("predict", model, str(facts), "--query", "ann", "carl", "--json")
    (found,) = json.loads(done.out)["predictions"]
    assert (found["head"], found["tail"], found["relation"]) == ("ann", "carl", "uncle")


@pytest.mark.parametrize(
    ("facts", "pair", "message"),
    [
        ("mther(ann, bea)", ("ann", "bea"), "Did you mean 'mother'"),
        ("mother(ann, bea)", ("ann", "bob"), "Unknown entity 'bob'"),
    ],
)
def test_bad_questions(facts, pair, message, model, epignn):
    done = epignn("ask", facts, *pair, "--model", model)
    assert done.code == 2
    assert message in done.err
