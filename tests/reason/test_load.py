"""Which reasoner a name means, and what is read for it."""

import shutil
from pathlib import Path

import pytest

from epignn import Exact, Learnt, Neural, load
from epignn.calculus.toml import write_calculus
from epignn.distil.rules import Rule, RuleSet, write_rules
from epignn.errors import BadArgument, UnknownName
from epignn.formats.told import Told
from epignn.learn import checkpoint
from epignn.reason import load as load_reasoner
from epignn.reason.folders import SHIPPED, distilled_beside, model_folder, shipped_models
from tests.graphs import TRAINED
from tests.test_package import loaded_by


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("rcc8", {}, Neural),
        ("RCC8", {}, Neural),
        ("ia", {}, Neural),
        ("rcc8", {"exact": True}, Exact),
        ("rcc5", {}, Exact),
        ("PA", {}, Exact),
    ],
)
def test_names(name, options, kind):
    assert isinstance(load_reasoner(name, **options), kind)


def test_files_and_folders(tmp_path):
    calculus, rules = tmp_path / "learnt.toml", tmp_path / "kin.toml"
    calculus.write_text(write_calculus(load("rcc8")), encoding="utf-8")
    rules.write_text(write_rules(RuleSet(("p", "q"), 2, (Rule(0, 0, 1, 0.9),))), encoding="utf-8")
    exact, learnt = load_reasoner(str(calculus)), load_reasoner(str(rules))
    assert isinstance(exact, Exact)
    assert exact.calculus_.composition == load("rcc8").composition
    assert isinstance(learnt, Learnt)
    told = Told.read("p(a, b). p(b, c)")
    assert learnt.predict([(learnt.read(told), "a", "c")]) == ["q"]
    folder = tmp_path / "run"
    shutil.copytree(SHIPPED / "rcc8", folder)
    for name in (folder, folder / "weights.safetensors"):
        neural = load_reasoner(str(name), threshold=0.3)
        assert isinstance(neural, Neural)
        assert (neural.threshold, neural.learnt_.calculus_.relations) == (0.3, load("rcc8").relations)
    assert (model_folder(str(folder)), model_folder(str(rules)), model_folder("rcc5")) == (folder, None, None)


def test_unknown_names():
    with pytest.raises(UnknownName, match="Did you mean 'rcc8'"):
        load_reasoner("rcc9")


def test_weights_are_read_once(monkeypatch, tmp_path):
    """Also where nothing is beside them, and the calculus has to be read off them."""
    read: list[Path] = []
    whole = checkpoint.load_tensors
    monkeypatch.setattr(checkpoint, "load_tensors", lambda path: (read.append(path), whole(path))[1])
    folder = tmp_path / "bare"
    shutil.copytree(SHIPPED / "rcc8", folder)
    (folder / "calculus.toml").unlink()
    neural = load_reasoner(str(folder))
    facts = neural.read(Told.read("ec(a, b). ntpp(b, c)"))
    assert neural.explain(facts, "a", "c").by.relations == ("PO", "TPP", "NTPP")
    assert neural.learnt_ is neural.learnt_
    assert len(read) == 1


def test_what_was_distilled_is_loaded_without_torch():
    assert set(shipped_models()) == set(checkpoint.shipped_models())
    for name in shipped_models():
        assert distilled_beside(SHIPPED / name) is not None
    used = "from epignn import Learnt, Exact\nfrom epignn.reason import load\n"
    asked = "Learnt.load('rcc8').predict([]); load('rcc8', exact=True).predict([])"
    assert not loaded_by(used + asked, "torch")


def test_a_model_without_rules_has_nothing_learnt(tmp_path):
    config = (TRAINED / "config.json").read_text().replace('"calculus": "rcc8"', '"calculus": ""')
    folder = tmp_path / "plain"
    shutil.copytree(TRAINED, folder)
    (folder / "calculus.toml").unlink()
    (folder / "config.json").write_text(config)
    assert Neural.load(str(folder)).learnt_ is None
    with pytest.raises(BadArgument, match="no rules are beside"):
        Learnt.load(str(folder))
