"""`epignn refine` from the command line."""

import json


def test_a_shipped_model_is_refined_and_answers(epignn, tmp_path):
    ran = epignn("refine", "rcc8", "--out", tmp_path / "exact")
    assert ran.code == 0, ran.err
    assert f"a model of 8 relations, set to {tmp_path / 'exact' / 'calculus.toml'}" in ran.out
    asked = epignn("ask", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c", "--model", tmp_path / "exact")
    assert "neural  PO(a, c)" in asked.out


def test_a_shipped_model_is_taught_and_answers(epignn, tmp_path):
    taught = ("refine", "rcc8", "--out", tmp_path / "sharp", "--taught", "--epochs", "1")
    ran = epignn(*taught, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["epochs"] == 1
    asked = epignn("ask", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c", "--model", tmp_path / "sharp")
    assert "neural  PO(a, c)" in asked.out
    again = epignn(*taught)
    assert "had ended already" in again.out


def test_a_model_of_links_or_of_rules_says_why_not(epignn, tmp_path):
    ran = epignn("refine", "kinship", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "not trained on a calculus" in ran.err
    assert not (tmp_path / "out").exists()
