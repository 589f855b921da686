"""`explain`: by a model, a learnt calculus and a known one; answers of all kinds, and what bad input gets."""

import json
from xml.etree import ElementTree

import pytest
import torch

from epignn.calculus import load
from epignn.calculus.toml import write_calculus
from epignn.explain.checker import check
from tests.test_package import loaded_by

HARBOUR = "ec(harbour, old town) ntpp(old town, city) tppi(harbour, pier) po(pier, city) dc(lake, city)"
GIVEN = [
    ("harbour", ["EC"], "old town"),
    ("old town", ["NTPP"], "city"),
    ("harbour", ["TPPI"], "pier"),
    ("pier", ["PO"], "city"),
]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def learnt(tmp_path):
    path = tmp_path / "learnt.toml"
    path.write_text(write_calculus(load("rcc8")), encoding="utf-8")
    return path


def test_exact(epignn, facts, tmp_path):
    picture = tmp_path / "why.svg"
    ran = epignn("explain", "rcc8", facts(HARBOUR), "harbour", "city", "--exact", "--svg", picture)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("PO(harbour, city): the only relation left\n")
    for part in ("harbour –EC→ old town –NTPP→ city", "Proof (7 steps", "4 facts of 5", "round 1"):
        assert part in ran.out
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert "round 1" not in epignn("explain", "rcc8", HARBOUR, "harbour", "city", "--exact", "--rounds", 0).out


@pytest.mark.parametrize("by", ["exact", "learnt", "neural"])
def test_json_proofs_pass_the_checker(by, epignn, learnt):
    model = {"exact": ("rcc8", "--exact"), "learnt": (learnt,), "neural": ("rcc8",)}[by]
    ran = epignn("explain", model[0], HARBOUR, "harbour", "city", "--json", *model[1:])
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["kind"] == ("neural" if by == "neural" else "calculus")
    assert (document["status"], document["relations"]) == ("determined", ["PO"])
    table = document["table"] if by == "neural" else document
    assert check(table["proof"], load("rcc8"), GIVEN) == ("harbour", {"PO"}, "city")
    assert table["support"]["smallest"]
    for exclusion in table["excluded"]:
        assert check(exclusion["proof"], load("rcc8"), GIVEN)[1] == set(exclusion["left"])


def test_kinship(epignn, tmp_path):
    picture = tmp_path / "why.svg"
    arguments = ("explain", "--exact", "kinship", "father(ann, bob). daughter(bob, eve)", "ann", "eve")
    ran = epignn(*arguments, "--svg", picture)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("sister(ann, eve): the only relation left\n")
    for part in (
        "ann –father→ bob –daughter→ eve",
        "  father: by 1 fact, which leave 27 others\n",
        "    self|sister(ann, eve): composed of\n",
        "    ≠(ann, eve): two names mean two things\n",
        "2 facts of 2 that give this answer (no smaller set does)",
    ):
        assert part in ran.out
    assert "sister(ann, eve)" in picture.read_text()
    document = json.loads(epignn(*arguments, "--json").out)
    assert (document["status"], document["relations"]) == ("determined", ["sister"])
    given = [("ann", ["his-father", "her-father"], "bob"), ("bob", ["his-daughter", "her-daughter"], "eve")]
    assert check(document["proof"], load("kinship"), given) == ("ann", {"his-sister", "her-sister"}, "eve")


def test_a_model_tells_probabilities_states_and_influence(epignn, tmp_path):
    ran = epignn("explain", "rcc8", HARBOUR, "harbour", "city", "--svg", tmp_path / "model.svg")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("PO(harbour, city) with probability ")
    for part in ("Proved: ", "gains or loses without a fact", "round 2", "Excluded"):
        assert part in ran.out
    assert "by the model" in (tmp_path / "model.svg").read_text()


def test_not_determined_is_an_answer(epignn, learnt):
    for model in ("rcc8", learnt):
        ran = epignn("explain", model, "ec(a, b) ec(b, c)", "a", "c")
        assert ran.code == 0, ran.err
        assert "not determined" in ran.out.splitlines()[0]


@pytest.mark.parametrize("arguments", [("rcc8",), ("rcc8", "--exact")])
def test_contradictory_is_an_answer(epignn, arguments):
    ran = epignn("explain", arguments[0], "ntpp(a, b) dc(a, b) ec(b, c)", "a", "c", *arguments[1:])
    assert ran.code == 1
    assert ran.out.startswith("contradictory")
    assert "2 facts of 3 that cannot hold together" in ran.out


def test_other_calculi_need_no_model(epignn):
    assert epignn("explain", "point", "<(a, b) <(b, c)", "a", "c").out.startswith("<(a, c)")
    assert epignn("explain", "PA", "<(a, b) <(b, c)", "a", "c").code == 0


def test_symbolic_explanations_load_no_torch():
    run = "import sys; sys.argv = ['epignn', 'explain', 'rcc8', 'ec(a,b)', 'a', 'b', '--exact', '--json']"
    quiet = "import io; old, sys.stdout = sys.stdout, io.StringIO()"
    code = (
        f"{run}\nfrom epignn.cli import main\n{quiet}\ntry:\n    main()\nexcept SystemExit:\n    sys.stdout = old"
    )
    assert not loaded_by(code, "torch")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rcc9", "ec(a,b)", "a", "b"), "Did you mean 'rcc8'"),
        (("rcc8", "ec(a,b)", "a", "z"), "Unknown entity 'z'"),
        (("rcc8", "ec(a,b", "a", "b"), "the facts:1"),
        (("rcc8", "ec|dc(a,b)", "a", "b"), "has several"),
        (("rcc8", "ec(a,b)", "a", "b", "--threshold", "2"), "between 0 and 1"),
        (("none.toml", "ec(a,b)", "a", "b"), "cannot read it"),
        (("point", "<(a,b)", "a", "b", "--svg", "no/such/folder.svg"), "cannot write it"),
    ],
)
def test_bad_input(epignn, arguments, message):
    ran = epignn("explain", *arguments)
    assert ran.code == 2
    assert message in ran.err
