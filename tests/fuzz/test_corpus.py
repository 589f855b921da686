"""Every command on every file of the corpus, and none is left out of the fuzzing."""

from pathlib import Path

import pytest
import typer

from epignn.bridges.rdf import FORMATS
from epignn.bridges.regions import READERS as REGIONS
from epignn.cli.app import COMMANDS, app
from epignn.cli.relate import TABLES as EVENTS
from epignn.formats.frames import READERS as FRAMES
from epignn.formats.networks import PARSERS
from epignn.formats.readers import READERS as GRAPHS
from tests.cli.conftest import epignn  # noqa: F401
from tests.fuzz.commands import OPTIONS, READ_BY, RECORDS, WHOLE, commands, filled
from tests.fuzz.held import held
from tests.fuzz.make_corpus import BYTES, CONFIGS, CORPUS, TABLES, TEXTS, shapes

FILES = sorted(path for path in CORPUS.iterdir() if path.suffix not in (".shx", ".dbf"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_answer_or_an_error_of_ours(epignn, path, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    for command in commands(path):
        held(epignn, filled(command, path, tmp_path / "out", CORPUS), tmp_path / "out", path.name)


def names_of(found: typer.Typer) -> set[str]:
    """The commands of a command line, with those of its groups as `group command`."""
    names = {one.name or one.callback.__name__ for one in found.registered_commands}
    for group in found.registered_groups:
        names |= {f"{group.name} {name}" for name in names_of(group.typer_instance)}
    return names


def test_no_command_is_left_out():
    whole = {command[0] for command in WHOLE} | {" ".join(command[:2]) for command in WHOLE}
    assert names_of(app()) - whole == set()
    tried = {command for each in (*READ_BY.values(), OPTIONS, RECORDS) for command in each}
    starts = {command[0] for command in tried} | {" ".join(command[:2]) for command in tried}
    assert names_of(app()) - starts == set()
    assert set(COMMANDS) <= {name.split()[0] for name in starts}


def test_no_format_is_left_out():
    """Every suffix that some reader knows has commands, and a file in the corpus."""
    known = {
        *(f".{name}" for name in PARSERS if name != "facts"),
        ".txt",
        ".toml",
        *GRAPHS,
        *REGIONS,
        *EVENTS,
        *FORMATS,
        *FRAMES,
    }
    assert known - set(READ_BY) == set()
    assert known - {Path(path.name.removesuffix(".gz")).suffix for path in FILES} == set()


def test_the_corpus_is_what_the_script_writes():
    for name, text in TEXTS.items():
        assert (CORPUS / name).read_bytes() == text.encode()
    names = {*TEXTS, *BYTES, *TABLES, *shapes(), *(f"run-{name}" for name in CONFIGS)}
    assert {path.name for path in CORPUS.iterdir()} == names


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("name.x=1", "name is a value, not a section"),
        ("data.seed=-1", "data.seed must be 0 or more, not -1"),
        (f"training.epochs={'9' * 5000}", "the value cannot be read"),
        (f"training.epochs={'[' * 3000}", "the value cannot be read"),
        ("training.learning_rate=nan", "must be a finite number, not nan"),
        ("training.epochs=99999999999999999999", "must be a number of fewer digits"),
        ("objective.temperature=0", "temperature must be between"),
        ("objective.temperature=1e-320", "temperature must be between"),
    ],
)
def test_settings(epignn, tmp_path, setting, message):  # noqa: F811
    ran = epignn("train", "rcc8", "--set", setting, "--out", tmp_path / "run")
    assert ran.code == 2
    assert message in ran.err
    assert not Path(tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("entails ec(a,b) ec(a,b) --max-nodes -1", "--max-nodes"),
        ("explain rcc8 ec(a,b) a b --exact --svg .", "write picture.svg"),
        ("relate whole.geojson --svg /", "write picture.svg"),
        ("relate whole.geojson --precision 1e-320", "borders cannot be rounded to a grid of"),
        (f"train rcc8 --seed {'9' * 20} --out OUT", "--seed"),
        (f"train rcc8 --threads {'9' * 20} --out OUT", "--threads"),
        (f"generate world --pairs {'9' * 40} --out OUT", "a world's pairs must be from 2 to 500"),
        ("generate world --mean-nodes nan --out OUT", "a world's mean_nodes must be from 1 to 10,000"),
        (f"generate families --k {'9' * 40} --out OUT", "k must be at most 1,000"),
        (f"generate calculus rcc8 --k 2 --b 1 --per-label {'9' * 40} --out OUT", "per_label must be at most"),
        (f"generate calculus rcc8 --k 2 --b 1 --shards {'9' * 40} --out OUT", "shards must be at most"),
        (f"profile rcc8 --length {'9' * 20}", "--length"),
    ],
)
def test_options(epignn, tmp_path, words, message):  # noqa: F811
    ran = epignn(*filled(words.split(), tmp_path, tmp_path / "out", CORPUS))
    assert ran.code == 2, ran.err
    assert message in ran.err


def test_a_limit_beyond_all_counting(epignn):  # noqa: F811
    assert epignn("entails", "ec(a, b)", "ec(a, b)", "--max-nodes", "9" * 20).code == 0
