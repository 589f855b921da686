"""Lists of models, tasks and objectives: names, entry points of other packages, files; and when code runs."""

import re
import sys
from importlib.metadata import EntryPoint

import pytest

from epignn import entries
from epignn.entries import Entries, allowed
from epignn.errors import BadArgument, UnknownName
from epignn.learn.objectives import OBJECTIVES
from epignn.models import MODELS
from epignn.tasks import TASKS

LIST = Entries("thing", "epignn.things", {"fraction": "fractions:Fraction"})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\nclass Mine:\n    pass\n")
    return path


@pytest.mark.parametrize("known", [MODELS, TASKS, OBJECTIVES], ids=lambda known: known.what)
def test_every_entry_of_the_package_is_there(known):
    for name in known.own:
        assert isinstance(known.get(name), type)


def test_names():
    from fractions import Fraction

    assert LIST.get("fraction") is Fraction
    with pytest.raises(UnknownName, match=r"Unknown thing 'fractin'\. Did you mean 'fraction'"):
        LIST.get("fractin")


def test_entry_points_of_other_packages_are_found(monkeypatch):
    point = EntryPoint("theirs", "decimal:Decimal", "epignn.things")

    def points(group, name=None):
        return [point] if group == "epignn.things" and name in (None, "theirs") else []

    monkeypatch.setattr(entries, "entry_points", points)
    assert LIST.names() == ("fraction", "theirs")
    assert LIST.get("theirs").__name__ == "Decimal"


def test_a_file_runs_only_if_it_is_named(file, tmp_path):
    name = f"{file}:Mine"
    with pytest.raises(BadArgument, match=rf"a file outside epignn\..* --code {re.escape(str(file))}"):
        LIST.get(name)
    assert not (tmp_path / "own.ran").exists()
    found = LIST.get(name, allowed([file]))
    assert found.__name__ == "Mine"
    assert (tmp_path / "own.ran").exists()
    assert LIST.get(name, allowed([file])) is found
    # A run that was trained elsewhere names another place; a file of the same name is what the user means.
    assert LIST.get("/elsewhere/own.py:Mine", allowed([file])) is found
    with pytest.raises(UnknownName, match=r"Unknown class in own\.py 'Mie'. Did you mean 'Mine'"):
        LIST.get(f"{file}:Mie", allowed([file]))


def test_files_that_are_not_there_or_broken(tmp_path):
    with pytest.raises(BadArgument, match="is not a file"):
        LIST.get(f"{tmp_path}/none.py:Mine", allowed([tmp_path / "none.py"]))
    (tmp_path / "broken.py").write_text("x = 1 +\n")
    with pytest.raises(BadArgument, match=r"broken\.py cannot be loaded: SyntaxError"):
        LIST.get(f"{tmp_path}/broken.py:Mine", allowed([tmp_path / "broken.py"]))
    assert "epignn_code_broken" not in sys.modules
