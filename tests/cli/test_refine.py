"""`epignn refine` from the command line."""

import json


def test_a_shipped_model_is_refined_and_answers(epignn, tmp_path):
    ran = epignn("refine", "rcc8", "--out", tmp_path / "sharp", "--epochs", "1", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["epochs"] == 1
    asked = epignn("ask", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c", "--model", tmp_path / "sharp")
    assert "neural  PO(a, c)" in asked.out
    again = epignn("refine", "rcc8", "--out", tmp_path / "sharp", "--epochs", "1")
    assert "had ended already" in again.out


def test_a_model_of_links_or_of_rules_says_why_not(epignn, tmp_path):
    ran = epignn("refine", "kinship", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "not trained on a calculus" in ran.err
    assert not (tmp_path / "out").exists()
