"""`close` and `entails`: answers, exit codes, JSON, and errors without tracebacks."""

import io
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    assert document["query"]["relations"] == ["PO"]
    assert document["calculus"] == "rcc8"


def test_facts_may_be_the_argument(epignn, tmp_path, monkeypatch):
    assert epignn("close", EXAMPLE, "--query", "a", "c").out.endswith("PO(a, c)\n")
    assert epignn("entails", EXAMPLE, "po(a, c)").code == 0
    assert epignn("close", EXAMPLE + ". " + ". ".join(["ec(a, b)"] * 50)).code == 0  # longer than a file's name
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy (1).txt").write_text("dc(x, y)", encoding="utf-8")
    assert epignn("close", "copy (1).txt").out.startswith("rcc8, 2 entities")
    assert epignn("close", "ec(a").err.startswith("error: the facts:1:5: expected ','")


def test_kinship_in_its_own_words(epignn):
    facts = "father(ann, bob). sister(bob, eve)"
    ran = epignn("close", facts, "--query", "ann", "eve")
    assert ran.code == 0, ran.err
    assert ran.out == (
        "kinship, 3 entities, 2 facts: closed\n"
        "No contradiction found; whether closure finds every one is not known of this calculus.\n"
        "aunt(ann, eve)\n"
    )
    document = json.loads(epignn("close", facts, "--query", "ann", "eve", "--json").out)
    assert document["query"]["relations"] == ["aunt"]
    assert epignn("entails", facts, "aunt(ann, eve)").out == "aunt(ann, eve): entailed\n"
    assert "his-son his-daughter" in epignn("close", facts).out
    clash = epignn("close", "father(ann, bob). mother(eve, bob)")
    assert clash.out.splitlines()[-2:] == ["  father(ann, bob)", "  mother(eve, bob)"]


def test_the_whole_table_is_shown_for_few_entities(epignn, facts):
    ran = epignn("close", facts(EXAMPLE))
    assert "DC EC" in ran.out
    assert ran.code == 0


def test_the_sharpest_inferences_are_shown_for_many(epignn, facts):
    chain = " ".join(f"<(p{i}, p{i + 1})" for i in range(40))
    ran = epignn("close", facts(chain), "--calculus", "point")
    assert "Something is known of 820 pairs, of 780 of them by inference" in ran.out
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
    assert document["consistent"] is True


def test_what_follows_from_a_contradiction_is_no_answer(epignn, facts):
    path = facts("<(a, b) <(b, c) <(c, a) <(c, d)")
    ran = epignn("entails", path, "<(a, d)", "--calculus", "point")
    assert ran.code == 1
    assert ran.out == (
        "The facts are inconsistent, so that everything follows from them:\n"
        f"  <(a, b)  ({path}:1)\n  <(b, c)  ({path}:1)\n  <(c, a)  ({path}:1)\n"
    )
    document = json.loads(epignn("entails", path, "<(a, d)", "--calculus", "point", "--json").out)
    assert document["consistent"] is False
    assert len(document["conflict"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("close", "FACTS", "--query", "a", "x"), "Unknown entity 'x'"),
        (("close", "FACTS", "--calculus", "rcc-8"), "Did you mean 'rcc8'"),
        (("close", "FACTS", "--calculus", "allen"), "Unknown allen relation 'ec'"),
        (("close", "FACTS", "--algorithm", "clsure"), "Did you mean 'closure'"),
        (("close", "FACTS", "--algorithm", "directional"), "needs a start"),
        (("close", "FACTS", "--backend", "gpu"), "backend must be auto, compiled or plain"),
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
    ):
        ran = epignn(*arguments, "--json")
        json.loads(ran.out)
        assert ran.err == ""


def test_ten_megabytes_of_garbage(epignn, tmp_path):
    garbage = tmp_path / "garbage.csv"
    for content in (
        b'"' * 10_000_000,
        random.Random(1).randbytes(10_000_000),
        b"edges,edge_labels,query_edge\n(((" * 300_000,
    ):
        garbage.write_bytes(content)
        for command in ("close", "check"):
            start = time.process_time()
            ran = epignn(command, garbage)
            assert time.process_time() - start < 5
            assert (ran.code, ran.out) == (2, "")
            assert ran.err.startswith(f"error: {garbage}")
            assert ran.err.count("\n") == 1
            assert len(ran.err) < 1000


def test_paths_that_are_no_files(epignn, tmp_path):
    for command in ("close", "check"):
        ran = epignn(command, tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "a folder without files" in ran.err or "holds no benchmark files" in ran.err


def test_a_folder_is_closed_file_by_file_whoever_does_it(epignn, tmp_path):
    (tmp_path / "a.txt").write_text("ntpp(a, b). ntpp(b, c).")
    (tmp_path / "b.txt").write_text("ec(a, b). ntpp(a, b).")
    (tmp_path / "c.txt").write_text("dc(x, y).")
    runs = [epignn("close", tmp_path, "--workers", workers) for workers in ("1", "2")]
    assert runs[0] == runs[1]
    assert runs[0].code == 1
    assert "b.txt" in runs[0].out
    documents = []
    for workers in ("1", "2"):
        found = json.loads(epignn("close", tmp_path, "--workers", workers, "--json").out)["networks"]
        documents.append([{k: v for k, v in one.items() if k != "statistics"} for one in found])
    assert documents[0] == documents[1]
    assert [one["consistent"] for one in documents[0]] == [True, False, True]
    assert len(documents[0][1]["conflict"]) == 2


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(epignn, facts):
    path = facts(EXAMPLE)
    path.chmod(0)
    ran = epignn("close", path)
    assert ran.code == 2
    assert "Permission denied" in ran.err


def test_the_networks_of_a_long_file_are_counted(epignn, facts):
    rows = ['"[(0, 1), (0, 1)]","[\'EC\', \'%s\']","(0, 1)"' % ("DC" if i % 3 == 0 else "EC") for i in range(90)]
    ran = epignn("close", facts("edges,edge_labels,query_edge\n" + "\n".join(rows), "many.csv"))
    assert ran.code == 1
    assert "… and 40 more: --json gives all." in ran.out
    assert "30 inconsistent, 60 consistent" in ran.out


def test_too_many_entities_are_an_error_that_says_what_to_do(epignn, facts):
    path = facts("99999 #x\n0 1 ( EC )\n.\n", "large.csp")
    assert "Use partial closure" in epignn("close", path).err
    assert epignn("close", path, "--algorithm", "partial", "--query", "1", "0").out.endswith("EC(1, 0)\n")


def run(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "epignn", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_a_closed_pipe_leaves_no_traceback(facts):
    path = facts(" ".join(f"<(p{i}, p{i + 1})" for i in range(300)))
    process = run("close", path, "--calculus", "point", "--json")
    assert process.stdout is not None
    assert process.stdout.readline() == "{\n"
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() in (0, 141)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_a_terminal_shows_that_work_goes_on(facts):
    import pty

    path = facts("\n".join(f"ec(a{i}, b{i})" for i in range(20_000)))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "epignn", "close", str(path), "--algorithm", "partial", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b""
        while b"partial: " not in shown:
            shown += os.read(ours, 10_000)
        assert process.stdout is not None
        json.loads(process.stdout.read())
    os.close(ours)


def test_a_guess_is_said_and_equals_are_asked_for(epignn):
    events = "overlaps(Reign of Louis, Revolution). contains(Revolution, Terror)"
    ran = epignn("close", events)
    assert ran.code == 2
    assert "regions (rcc8) and of events" in ran.err
    assert "--calculus rcc8 or --calculus allen" in ran.err
    for calculus in ("rcc8", "allen"):
        ran = epignn("close", events, "--calculus", calculus)
        assert (ran.code, ran.err) == (0, "")
    ran = epignn("close", "before(a, b). before(b, c)", "--query", "a", "c")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "before(a, c)")
    assert "read as events (allen); the words fit points on a line, too" in ran.err
    for clear in (
        "ec(a, b)",
        "o(a, b). overlaps(b, c)",
        "touches(a, b). overlaps(b, c)",
        "father(a, b)",
        "*(a, b)",
    ):
        assert epignn("close", clear).err == "", clear


def test_nothing_follows_is_said_in_words(epignn):
    ran = epignn("close", "ec(a, b). dc(c, d)", "--query", "a", "c")
    assert ran.out.splitlines()[-1] == "Nothing follows: any relation may hold from a to c."


EVENTS = """# a reign and what came after
overlaps|meets(Reign, Revolution).
during(Terror, Revolution). meets(Terror, Thermidor).
before(Thermidor, Terror).

finished-by(A, B). starts(A, B).
"""


def test_all_disjoint_conflicts_in_the_words_of_the_file_with_their_lines(epignn, facts):
    path = facts(EVENTS)
    ran = epignn("close", path)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "allen, 6 entities, 6 facts: inconsistent",
        "Conflict 1 of 2: these facts cannot hold together, and without any one of them they could:",
        f"  meets(Terror, Thermidor)  ({path}:3)",
        f"  before(Thermidor, Terror)  ({path}:4)",
        "Conflict 2 of 2: these facts cannot hold together, and without any one of them they could:",
        f"  finished-by(A, B)  ({path}:6)",
        f"  starts(A, B)  ({path}:6)",
        "No fact is in two of them. Without them, the other facts can hold together.",
    ]
    document = json.loads(epignn("close", path, "--json").out)
    assert document["conflict"] == [["Terror", "m", "Thermidor"], ["Thermidor", "<", "Terror"]]
    first, second = document["conflicts"]
    assert [fact["fact"] for fact in first] == document["conflict"]
    assert second[1] == {"fact": ["A", "s", "B"], "written": "starts(A, B)", "place": f"{path}:6"}


def test_answers_in_the_words_that_were_written(epignn):
    stated = "overlaps|meets(a, b). during(b, c)"
    said = epignn("close", stated, "--calculus", "allen", "--query", "a", "c").out.splitlines()[-1]
    assert said == "during|overlaps|starts(a, c)"
    assert epignn("close", "o|m(a, b). d(b, c)", "--query", "a", "c").out.splitlines()[-1] == "d|o|s(a, c)"
    inside = "inside(a, b). touches(b, c). inside(c, d)"
    assert epignn("close", inside, "--query", "c", "a").out.splitlines()[-1] == "disconnected|touches(c, a)"
    assert "│ b │ contains " in epignn("close", inside).out


def test_nothing_follows_is_said(epignn):
    ran = epignn("close", "ec(a, b). dc(c, d)")
    assert "(–: nothing follows)" in ran.out
    assert "*" not in ran.out
    assert epignn("close", "ec(a, b). dc(c, d)", "--query", "a", "d").out.splitlines()[-1] == (
        "Nothing follows: any relation may hold from a to d."
    )


def test_what_is_written_is_told_and_no_table_printed(epignn, tmp_path):
    ran = epignn("close", "ec(a, b). ntpp(b, c)", "--out", tmp_path / "all.csv")
    assert ran.out == f"Written: {tmp_path / 'all.csv'}\n"
    ran = epignn("close", "ec(a, b). ntpp(b, c)", "--out", tmp_path / "all.csv", "--query", "a", "c")
    assert ran.out.splitlines()[1:] == ["PO|TPP|NTPP(a, c)", f"Written: {tmp_path / 'all.csv'}"]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("ec(Pier, city). dc(pier, town)", "'Pier' and 'pier' differ only in case"),
        ("ec(caf\u00e9, city). dc(cafe\u0301, town)", "look the same, but their letters are composed differently"),
    ],
)
def test_names_that_look_alike_are_told(epignn, stated, told):
    for words in (("close", stated), ("explain", "rcc8", stated, "city", "town", "--exact")):
        ran = epignn(*words)
        assert ran.code == 0
        assert told in ran.err
        assert "read as different things" in ran.err


def test_the_folder_of_a_model_is_no_folder_of_facts(epignn, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    ran = epignn("close", tmp_path)
    assert (ran.code, "is the folder of a model" in ran.err) == (2, True)


def test_files_for_people_have_the_words_of_the_facts(epignn, tmp_path):
    facts = "overlaps(reign, revolution). meets(revolution, consulate)"
    for name, told in (("a.csv", "reign,before,consulate\n"), ("a.txt", "before(reign, consulate)")):
        assert epignn("close", facts, "--calculus", "allen", "--out", tmp_path / name).code == 0
        assert told in (tmp_path / name).read_text(encoding="utf-8")
        assert "before(reign, consulate)" in epignn("close", tmp_path / name, "--query", "reign", "consulate").out
    assert epignn("close", facts, "--calculus", "allen", "--out", tmp_path / "a.json").code == 0
    assert '"<"' in (tmp_path / "a.json").read_text(encoding="utf-8")
    picture = tmp_path / "a.svg"
    assert epignn("realise", facts, "--calculus", "allen", "--svg", picture).code == 0
    assert "overlaps(reign, revolution)" in picture.read_text(encoding="utf-8")


def test_empty_facts_are_no_folder(epignn):
    ran = epignn("close", " ")
    assert ran.code == 2
    assert "there are none; a fact looks like" in ran.err


def test_answers_are_never_cut(epignn, monkeypatch):
    for columns in ("60", "80", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = epignn("close", Path(__file__).parents[2] / "examples" / "revolution.txt").out
        assert "overlapped-by" in shown
        assert "finished-by" in shown
        assert max(map(len, shown.splitlines())) <= int(columns) or "Reign of Louis XVI to Terror: before" in shown
