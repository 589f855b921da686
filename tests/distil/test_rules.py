"""Rules are checked and sorted; rule files are written and read back, and bad ones refused."""

import pytest

from epignn.distil.rules import Rule, RuleSet, load_distilled, load_rules, read_distilled, write_rules
from epignn.errors import BadArgument, BadFile

RULES = RuleSet(
    ("mother", 'half "brother"', "uncle", "mother∘uncle"),
    3,
    (Rule(0, 1, 2, 0.98, 83, 1.0, 0.99), Rule(0, 2, 3, 1.0), Rule(3, 1, 2, 0.51, 2, 0.5, 0.25)),
    ties=(0, 4, 0),
    source="a test",
)


def test_rules_are_checked_and_sorted():
    names = ("p", "q", "r", "s")
    rules = RuleSet(names, 4, (Rule(0, 0, 1, 0.2), Rule(0, 1, 2, 0.9)))
    assert [rule.weight for rule in rules.rules] == [0.9, 0.2]
    with pytest.raises(BadArgument, match="weight"):
        RuleSet(names, 4, (Rule(0, 0, 1, 1.2),))
    with pytest.raises(BadArgument, match="not listed"):
        RuleSet(names, 4, (Rule(0, 0, 9, 0.5),))


def test_round_trip(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(write_rules(RULES), encoding="utf-8")
    assert load_rules(path) == RULES
    assert load_distilled(path) == read_distilled(write_rules(RULES), "the rules") == RULES
    plain = RuleSet(("a",), 1, ())
    path.write_text(write_rules(plain), encoding="utf-8")
    assert load_rules(path) == plain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = [", "not a TOML file"),
        ('rule = []\nrelations = ["a"]', "Did you mean 'rules'"),
        ('relations = "a"\nrules = []', "'relations' must be a list of names"),
        ('relations = ["a", "a"]\nrules = []', "each named once"),
        ('relations = ["a"]\nrules = [1]', "'rules' must be a list"),
        ('relations = ["a"]\nrules = [{left = "a", right = "a", head = "a"}]', "rule 1 lacks weight"),
        ('relations = ["ab"]\nrules = [{left = "ab", right = "ac", head = "ab", weight = 1}]', "Did you mean 'ab'"),
        ('relations = ["a"]\nrules = [{left = "a", right = "a", head = "a", weight = 2}]', "above 0 and up to 1"),
        ('relations = ["a"]\nrules = [{left = "a", right = "a", head = "a", weight = "x"}]', "must be a number"),
        (
            'relations = ["a"]\nrules = [{left = "a", right = "a", head = "a", weight = 1, support = inf}]',
            "must be a number",
        ),
        ('relations = ["a"]\nrules = [{left = "a", right = "a", head = "a", wight = 1, weight = 1}]', "'weight'"),
        ('relations = ["a"]\nrules = []\nties = 3', "must give a number"),
        ('relations = ["a"]\nrules = [{left = [], right = "a", head = "a", weight = 1}]', "relation in rule 1"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=message) as error:
        load_rules(path)
    assert str(path) in str(error.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(BadFile, match="cannot read it"):
        load_rules(tmp_path / "none.toml")
