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


@pytest.fixture
def links_run(epignn, tmp_path):
    """A model of links, hardly trained."""
    (tmp_path / "t.tsv").write_text("a\tr\tb\nb\tr\tc\na\ts\tc\nc\tr\td\nb\ts\td\n")
    small = ("--set", "training.epochs=1", "--set", "model.dim=8", "--set", "model.facets=2")
    assert epignn("train", tmp_path / "t.tsv", "--out", tmp_path / "links", *small).code == 0
    return tmp_path / "links"


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


def test_a_picture_is_svg_or_refused(epignn, tmp_path):
    ran = epignn("explain", "rcc8", "ec(a, b). ntpp(b, c)", "a", "c", "--exact", "--svg", tmp_path / "x.png")
    assert ran.code == 2
    assert f"write {tmp_path / 'x.svg'}" in ran.err
    assert not list(tmp_path.iterdir())


def test_the_proof_alone(epignn, tmp_path):
    facts = "touches(a, b). inside(b, c). apart(d, e)"
    for extra in ((), ("--proof-alone",)):
        ran = epignn("explain", "rcc8", facts, "a", "c", "--exact", "--svg", tmp_path / "x.svg", *extra)
        assert ran.code == 0
        drawn = (tmp_path / "x.svg").read_text()
        assert ("data-name='d'" in drawn or 'data-name="d"' in drawn) == (not extra)
        assert "touches: a touches b from outside" in drawn  # the key


def test_an_explanation_has_the_words_and_places_of_the_file(epignn, tmp_path):
    path = tmp_path / "facts.txt"
    path.write_text("touches(a, b).\ninside(b, c).\n")
    ran = epignn("explain", "rcc8", path, "a", "c", "--exact")
    assert f"  inside(b, c)  ({path}:2)" in ran.out
    assert "touches|overlaps|inside(a, c): composed of" in ran.out
    assert "EC" not in ran.out
    assert json.loads(epignn("explain", "rcc8", path, "a", "c", "--exact", "--json").out)["relations"] == [
        "EC", "PO", "TPP", "NTPP",
    ]  # fmt: skip


@pytest.mark.parametrize("command", [("explain", "{run}"), ("ask", "--model", "{run}")])
def test_a_model_of_links_says_what_to_type(epignn, links_run, command):
    words = [word.format(run=links_run) for word in command]
    ran = epignn(*words, "ec(a, b)", "a", "b")
    assert ran.code == 2
    assert f"epignn predict {links_run} TRIPLES.tsv --head A --relation R" in ran.err


def test_a_folder_instead_of_facts(epignn, tmp_path):
    (tmp_path / "facts.txt").write_text("ec(a, b)")
    for words in (("explain", "rcc8", tmp_path, "a", "b"), ("ask", tmp_path, "a", "b")):
        ran = epignn(*words)
        assert (ran.code, f"such as {tmp_path / 'facts.txt'}" in ran.err) == (2, True)
