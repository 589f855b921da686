"""Limits that a person sets: beyond them the answer is undecided, exit code 3, and nothing is written."""

import json
import signal
import subprocess
import sys
import time

import pytest

from epignn.cli.limits import AGAIN, PATIENT, limited

CHAIN = ". ".join(f"ntpp(n{i}, n{i + 1})" for i in range(1500))
QUESTIONS = {
    "close": (),
    "entails": ("ntpp(n0, n9)",),
}


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.txt"
    path.write_text(CHAIN)
    return path


def alone(*words: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own: one that has lived for long has memory to spare."""
    command = [sys.executable, "-m", "epignn", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(("limit", "said"), [(("--seconds", 0.001), "0.001 seconds"), (("--memory", 30), "30 MB")])
def test_a_limit_that_is_reached(chain, tmp_path, name, limit, said):
    out = ("--out", tmp_path / "out.csv") if name == "close" else ()
    ran = alone(name, chain, *QUESTIONS[name], *limit, *out)
    assert (ran.returncode, ran.stderr) == (3, "")
    assert ran.stdout == f"undecided: {said} were not enough; {limit[0]} allows more.\n"
    assert not (tmp_path / "out.csv").exists()
    ran = alone(name, chain, *QUESTIONS[name], *limit, "--json")
    assert (ran.returncode, json.loads(ran.stdout)["answer"]) == (3, "undecided")


def test_explanations_have_limits(epignn, chain):
    arguments = ("explain", "rcc8", chain, "n0", "n1500", "--exact", "--seconds")
    assert epignn(*arguments, 100).code == 0  # what it needs is loaded
    assert epignn(*arguments, 0.01).code == 3


def test_limits_that_are_enough_change_nothing(epignn):
    facts = "ec(a, b). ntpp(b, c)"
    assert epignn("close", facts, "--seconds", 60, "--memory", 100_000) == epignn("close", facts)


@pytest.mark.parametrize(
    "limit", [("--seconds", "nan"), ("--seconds", -1), ("--seconds", 0), ("--memory", 0), ("--memory", -5)]
)
def test_limits_that_are_none(epignn, limit):
    ran = epignn("close", "ec(a, b)", *limit)
    assert (ran.code, f"error: {limit[0]} takes a number" in ran.err) == (2, True)


def test_refinements_that_were_not_enough(epignn):
    """Not entailed is an answer, undecided is none."""
    hard = ". ".join(f"dc|ec|tpp|tppi(n{i}, n{j})" for i in range(9) for j in range(i))
    ran = epignn("entails", hard, "po|dc(n0, n1)", "--max-nodes", 0)
    assert (ran.code, "undecided" in ran.out) == (3, True)


SHORT = """
import random, signal, sys, time
from contextlib import suppress
import typer
from epignn.cli import main
from epignn.cli.limits import limited

def none_left():
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL

for seconds in ("1e-320", "1e-6", "1e-4", "0.002"):
    for _ in range(10):
        sys.argv = ["epignn", "close", "ec(a, b)", "--seconds", seconds]
        try:
            main()
        except SystemExit as ended:
            assert ended.code in (None, 0, 3), ended.code
        none_left()
rng, __name__, reached = random.Random(0), "epignn.cli", 0
for _ in range(3000):
    reached += 1
    with suppress(typer.Exit), limited(rng.uniform(1e-6, 1e-4), None, as_json=True):
        list(range(50))
        reached -= 1
    none_left()
assert 0 < reached < 3000
time.sleep(0.3)
print("end")
"""


def test_an_alarm_is_raised_inside_the_block_alone():
    """Whenever it comes: while the block is entered or left it would go past the one who waits for it.

    In a process of its own: such an exception may come in the middle of anything, also of what measures coverage.
    """
    command = [sys.executable, "-c", SHORT]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.endswith("end\n")) == (0, True), ran.stderr


OTHERS = """
import time
from epignn.cli.limits import limited
began = time.monotonic()
with limited(0.001, None, as_json=False):
    while time.monotonic() < began + 100:
        pass
"""


def test_the_code_of_others_is_interrupted_later():
    began = time.monotonic()
    ran = subprocess.run([sys.executable, "-c", OTHERS], capture_output=True, text=True, check=False)
    assert "undecided" in ran.stdout
    assert PATIENT * AGAIN < time.monotonic() - began < 60


def test_the_clock_of_somebody_else_goes_on():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    others = signal.setitimer(signal.ITIMER_REAL, 30)
    try:
        with limited(20.0, None, as_json=False):
            assert signal.getitimer(signal.ITIMER_REAL)[0] < 20.1
        assert 20 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *others)
    assert not rang
