"""`ask`: three answers to one question, and what is said when they differ or when one of them has none."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import epignn as package
from epignn.calculus import load
from epignn.calculus.toml import write_calculus
from epignn.distil.orbits import Orbits
from epignn.distil.rules import Rule, RuleSet, write_rules
from tests.cli.test_distil import CHAIN, walker  # noqa: F401
from tests.reason.test_ask import WORDS
from tests.reason.test_ask import run as words_of  # noqa: F401

SHIPPED = Path(package.__file__).parent / "weights" / "rcc8"
QUESTION = ("ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def run(tmp_path):
    """The shipped model beside a lawful learnt table that differs in one fact, `c ∈ a ∘ b`."""

    def turned(*fact):
        rcc8 = load("rcc8")
        orbits = Orbits.of(rcc8.relations, rcc8.identity, rcc8.converses)
        possible = orbits.possible(rcc8)
        orbit = orbits.number[tuple(rcc8.relations.index(name) for name in fact)]
        possible[orbit] = not possible[orbit]
        folder = tmp_path / "run"
        shutil.copytree(SHIPPED, folder)
        wrong = orbits.calculus(possible, name="wrong", associative=False)
        (folder / "calculus.toml").write_text(write_calculus(wrong), encoding="utf-8")
        return folder

    return turned


def answers(epignn, *arguments):
    ran = epignn("ask", *arguments)
    return ran.code, ran.out.splitlines()


def test_all_agree(epignn):
    code, lines = answers(epignn, *QUESTION)
    assert code == 0
    assert lines[0].startswith("neural  PO(a, c) with probability ")
    assert lines[1:] == ["learnt  PO(a, c)", "exact   PO(a, c)"]
    assert json.loads(epignn("ask", *QUESTION, "--json").out)["agree"]


def test_the_learnt_calculus_disagrees(epignn, run):
    wrong = run("EC", "NTPP", "PO")
    code, lines = answers(epignn, "ec(a,b). ntpp(b,c)", "a", "c", "--model", wrong)
    assert code == 0
    assert lines[1:3] == ["learnt  TPP|NTPP(a, c)", "exact   PO|TPP|NTPP(a, c)"]
    assert lines[-1].endswith("The learnt calculus disagrees with the exact one.")
    document = json.loads(epignn("ask", "ec(a,b). ntpp(b,c)", "a", "c", "--model", wrong, "--json").out)
    assert not document["agree"]


def test_only_one_of_them_finds_a_contradiction(epignn, run):
    wrong = run("EC", "NTPP", "PO")
    code, lines = answers(epignn, *QUESTION, "--model", wrong)
    assert code == 0  # by the exact calculus the facts hold
    assert lines[1].startswith("learnt  the facts contradict each other: ")
    assert lines[-1] == "The learnt calculus disagrees with the exact one."


def test_a_contradiction_that_the_learnt_calculus_misses(epignn, run):
    blind = run("NTPP", "NTPP", "DC")
    code, lines = answers(epignn, "ntpp(a,b). ntpp(b,c). dc(a,c)", "a", "c", "--model", blind)
    assert code == 1
    assert lines[1:3] == [
        "learnt  DC(a, c)",
        "exact   the facts contradict each other: ntpp(a, b), ntpp(b, c), dc(a, c)",
    ]
    assert lines[-1] == "The learnt calculus disagrees with the exact one."


def test_what_a_model_cannot_read_the_others_answer(epignn):
    code, lines = answers(epignn, "ec|dc(a,b). ntpp(b,c)", "a", "c")
    assert code == 0
    assert lines[0].startswith("neural  no answer: the model reads facts of one relation")
    assert lines[1].partition("  ")[2].strip() == lines[2].partition("  ")[2].strip() == "DC|EC|PO|TPP|NTPP(a, c)"
    code, lines = answers(epignn, "ec(a,b) ec(c,d)", "a", "d")
    assert code == 0
    assert lines[0].startswith("neural  no answer: no facts connect 'a' with 'd'")
    assert lines[1:] == [
        f"{who} nothing follows: any relation may hold of (a, d)" for who in ("learnt ", "exact  ")
    ]
    assert json.loads(epignn("ask", "ec(a,b) ec(c,d)", "a", "d", "--json").out)["neural"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ec(a,b)", "a", "a"), "about itself"),
        (("ec(a,b)", "a", "z"), "Unknown entity 'z'"),
        (("dr(a,b)", "a", "b", "--model", "rcc8"), "the facts of rcc5"),
        (("dr(a,b)", "a", "b"), "no model is shipped for rcc5"),
    ],
)
def test_bad_questions(epignn, arguments, message):
    ran = epignn("ask", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_words_of_two_calculi_are_asked_about(epignn):
    question = ("overlaps(reign, revolution). contains(revolution, terror)", "reign", "terror")
    ran = epignn("ask", *question)
    assert ran.code == 2
    assert "--model rcc8 or --model allen" in ran.err
    told = "exact   before|contains|overlaps|meets|finished-by(reign, terror)"
    assert told in epignn("ask", *question, "--model", "allen").out


def test_a_vocabulary_is_asked_beside_its_rules(epignn, walker):  # noqa: F811
    folder, _ = walker
    code, alone = answers(epignn, CHAIN, "a", "d", "--model", folder)
    assert (code, len(alone)) == (0, 1)
    said = json.loads(epignn("ask", CHAIN, "a", "d", "--model", folder, "--json").out)
    assert said["learnt"] is None
    names = tuple(f"by{r}" for r in range(5))
    answer = names.index(said["neural"]["relation"])
    for head, ending in ((answer, ""), ((answer + 1) % 5, "The model's answer is not one that its rules derive.")):
        rules = RuleSet(names, 5, (Rule(1, 1, 3, 0.9), Rule(3, 2, head, 0.9)))
        (folder / "rules.toml").write_text(write_rules(rules), encoding="utf-8")
        _, lines = answers(epignn, CHAIN, "a", "d", "--model", folder)
        assert lines[1] == f"learnt  by{head}(a, d)"
        assert "".join(lines[2:]) == ending
        agree = json.loads(epignn("ask", CHAIN, "a", "d", "--model", folder, "--json").out)["agree"]
        assert agree == (not ending)
    _, lines = answers(epignn, "by4(a, b). by4(b, c)", "a", "c", "--model", folder)
    assert lines[1] == "learnt  no rule leads to an answer"


def test_words_of_a_calculus_have_three_answers(epignn, words_of):  # noqa: F811
    model = words_of(WORDS, ("inside", "inside", "inside"))
    code, lines = answers(epignn, "inside(a, b). inside(b, c)", "a", "c", "--model", model)
    assert code == 0
    assert "(a, c) with probability " in lines[0]
    assert lines[1:3] == ["learnt  inside(a, c)", "exact   inside(a, c)"]
    code, lines = answers(epignn, "inside(a, b). ntpp(b, c)", "a", "c", "--model", model)
    assert (code, lines[1:]) == (0, ["exact   inside(a, c)"])
    assert "Unknown relation 'ntpp'" in lines[0]
    code, lines = answers(epignn, "inside(a, b). touches(a, b)", "a", "b", "--model", model)
    assert code == 1
    assert "exact   the facts contradict each other: inside(a, b), touches(a, b)" in lines


def test_kin_have_three_answers_by_the_shipped_model(epignn):
    code, lines = answers(epignn, "father(ann, bob). sister(bob, eve)", "ann", "eve")
    assert code == 0
    assert lines[0].startswith("neural  aunt(ann, eve) with probability ")
    assert lines[1:] == ["learnt  aunt(ann, eve)", "exact   aunt(ann, eve)"]
    code, lines = answers(epignn, "mother(ann, bea). brother(bea, tom). father(tom, max)", "ann", "max")
    assert lines[1:] == ["learnt  grandfather(ann, max)", "exact   grandfather(ann, max)"]
