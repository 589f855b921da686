"""`close` and `entails`: answers, exit codes, JSON, and errors without tracebacks."""

import io
import json
import sys

import pytest

EXAMPLE = "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)"
ALLEN_1983 = "f|fi(A,C) s|m(D,A) s|m(D,C) d|di(A,B) d|di(B,C) o(D,B)"
ALGORITHMS = ("closure", "directional", "dpc", "dpc+", "partial", "search", "minimal")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_answers_the_question_of_the_paper(epignn, facts, algorithm):
    ran = epignn("close", facts(EXAMPLE), "--query", "a", "c", "--algorithm", algorithm)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "PO(a, c)"
    document = json.loads(
        epignn("close", facts(EXAMPLE), "--query", "c", "a", "--algorithm", algorithm, "--head", "a", "--json").out
    )
    assert document["query"]["relations"] == (
        ["PO"] if algorithm != "directional" else document["query"]["relations"]
    )
    assert document["calculus"] == "rcc8"


def test_the_whole_table_is_shown_for_few_entities(epignn, facts):
    ran = epignn("close", facts(EXAMPLE))
    assert "DC EC" in ran.out
    assert ran.code == 0


def test_the_sharpest_inferences_are_shown_for_many(epignn, facts):
    chain = " ".join(f"<(p{i}, p{i + 1})" for i in range(40))
    ran = epignn("close", facts(chain), "--calculus", "point")
    assert "820 pairs are constrained, 780 of them by inference" in ran.out
    assert "<(p0, p2)" in ran.out
    assert "… and 750 more" in ran.out


def test_inconsistent_is_an_answer_with_exit_code_1(epignn, facts):
    path = facts(EXAMPLE + "\ndc(a, c)")
    ran = epignn("close", path)
    assert ran.code == 1
    assert "inconsistent" in ran.out
    assert ran.err == ""
    document = json.loads(epignn("close", path, "--json").out)
    assert document["answer"] == "inconsistent"
    assert ["a", "DC", "c"] in document["conflict"]


@pytest.mark.parametrize("text", ["dc(a,b). ec(a,b)", "dc(a,a)", "ec(a,b) ec(b,a) po(b,a)"])
def test_facts_that_contradict_each_other(epignn, facts, text):
    for algorithm in ALGORITHMS:
        ran = epignn("close", facts(text), "--algorithm", algorithm, "--head", "a", "--json")
        if algorithm == "directional" and ran.code == 0:
            continue  # it looks along the facts only
        assert ran.code == 1
        assert len(json.loads(ran.out)["conflict"]) <= 2


def test_closed_is_not_sold_as_consistent(epignn, facts):
    path = facts(ALLEN_1983)
    assert "only --algorithm search can exclude" in epignn("close", path).out
    ran = epignn("close", path, "--algorithm", "search")
    assert ran.code == 1
    assert ran.out.count("\n  ") == 6


def test_several_networks_of_a_file(epignn, facts):
    text = "2 #one\n0 1 ( DC )\n.\n1 #two\n0 1 ( DC EC )\n1 0 ( PO )\n.\n"
    path = facts(text, "two.csp")
    ran = epignn("close", path)
    assert ran.code == 1
    assert "one" in ran.out
    documents = json.loads(epignn("close", path, "--json").out)["networks"]
    assert [document["answer"] for document in documents] == ["consistent", "inconsistent"]
    assert epignn("close", path, "--network", 1).code == 0
    assert "--network takes 1 to 2" in epignn("close", path, "--network", 3).err


def test_standard_input(epignn, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXAMPLE.encode())))
    assert epignn("close", "-", "--query", "a", "c").out.endswith("PO(a, c)\n")


def test_out_writes_what_reads_back(epignn, facts, tmp_path):
    for form in ("facts", "csp", "json"):
        out = tmp_path / f"closed.{form}"
        assert epignn("close", facts(EXAMPLE), "--out", out, "--format", form).code == 0
        query = ("0", "2") if form == "csp" else ("a", "c")
        assert epignn("close", out, "--query", *query, "--algorithm", "dpc").out.endswith(
            "PO(" + ", ".join(query) + ")\n"
        )
    missing = epignn("close", facts(EXAMPLE), "--out", tmp_path / "no" / "folder")
    assert missing.code == 2
    assert "cannot write it" in missing.err
    assert list(tmp_path.glob("**/*.part")) == []


def test_entails(epignn, facts):
    path = facts(EXAMPLE)
    assert epignn("entails", path, "po(a, c)").code == 0
    ran = epignn("entails", path, "po(a,c). dc(b,d)")
    assert ran.code == 1
    assert "dc(b, d): not entailed\n  it may be otherwise: EC(b, d)" in ran.out
    document = json.loads(epignn("entails", path, "po(a,c). dc(b,d)", "--json").out)
    assert [fact["entailed"] for fact in document["facts"]] == [True, False]
    assert document["entailed"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("close", "FACTS", "--query", "a", "x"), "Unknown entity 'x'"),
        (("close", "FACTS", "--calculus", "rcc-8"), "Did you mean 'rcc8'"),
        (("close", "FACTS", "--calculus", "allen"), "Unknown allen relation 'ec'"),
        (("close", "FACTS", "--algorithm", "clsure"), "Did you mean 'closure'"),
        (("close", "FACTS", "--algorithm", "directional"), "needs a start"),
        (("close", "FACTS", "--backend", "gpu"), "backend must be auto, native or numpy"),
        (("close", "NONE"), "cannot read it"),
        (("entails", "FACTS", ""), "nothing to prove"),
        (("entails", "FACTS", "pp(a,c)"), "Unknown rcc8 relation 'pp'"),
        (("entails", "FACTS", "po(a,"), "the question:1"),
        (("entails", "FACTS", "po(a,q)"), "Unknown entity 'q'"),
        (("closee",), "Did you mean"),
        (("close", "FACTS", "--jsn"), "--json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(epignn, facts, arguments, message):
    path = facts(EXAMPLE)
    ran = epignn(*(str(path) if a == "FACTS" else str(path) + ".none" if a == "NONE" else a for a in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_json_is_one_document_and_nothing_else(epignn, facts):
    for arguments in (
        ("close", facts(EXAMPLE)),
        ("entails", facts(EXAMPLE), "po(a,c)"),
        ("info",),
        ("demo",),
    ):
        ran = epignn(*arguments, "--json")
        json.loads(ran.out)
        assert ran.err == ""
