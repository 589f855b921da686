"""`epignn refine` from the command line."""

import json

import pytest


def test_a_shipped_model_is_refined_and_answers(epignn, tmp_path):
    ran = epignn("refine", "rcc8", "--out", tmp_path / "exact")
    assert ran.code == 0, ran.err
    assert f"a model of 8 relations, set to {tmp_path / 'exact' / 'calculus.toml'}" in ran.out
    asked = epignn("ask", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c", "--model", tmp_path / "exact")
    assert "neural  PO(a, c)" in asked.out


@pytest.mark.slow
def test_a_shipped_model_is_taught_and_answers(epignn, tmp_path):
    taught = ("refine", "rcc8", "--out", tmp_path / "sharp", "--taught", "--epochs", "1")
    ran = epignn(*taught, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["epochs"] == 1
    asked = epignn("ask", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c", "--model", tmp_path / "sharp")
    assert "neural  PO(a, c)" in asked.out
    again = epignn(*taught)
    assert "had ended already" in again.out


@pytest.mark.slow
def test_a_model_of_rules_is_taught_by_longer_walks(epignn, tmp_path):
    ran = epignn("refine", "kinship", "--out", tmp_path / "out", "--taught", "--epochs", "1")
    assert ran.code == 0, ran.err
    assert "a model of 20 relations, taught by longer walks" in ran.out
    asked = epignn("ask", "father(ann, bob). sister(bob, eve)", "ann", "eve", "--model", tmp_path / "out")
    assert "neural  aunt(ann, eve)" in asked.out


@pytest.mark.slow
def test_a_model_of_rules_stands_beside_them(epignn, tmp_path):
    ran = epignn("refine", "kinship", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert f"a model of 20 relations, beside {tmp_path / 'out' / 'rules.toml'}" in ran.out
    asked = epignn("ask", "father(ann, bob). sister(bob, eve)", "ann", "eve", "--model", tmp_path / "out")
    assert "neural  aunt(ann, eve)" in asked.out
    explained = epignn("explain", tmp_path / "out", "father(ann, bob). sister(bob, eve)", "ann", "eve")
    assert explained.code == 0, explained.err
    again = epignn("refine", tmp_path / "out", "--out", tmp_path / "twice")
    assert (again.code, "no EpiGNN" in again.err) == (2, True)


def test_it_is_not_trained(epignn, tmp_path):
    small = ("--set", "data.per_label=2", "--set", "model.kind=epignn-walks")
    ran = epignn("train", "rcc8", *small, "--out", tmp_path / "out")
    assert (ran.code, "epignn refine" in ran.err) == (2, True)
    assert not (tmp_path / "out").exists()
