"""Ctrl-C is heard while compiled kernels work."""

import signal
import subprocess
import sys
import time

import pytest

# Each would take a minute or more.
LONG = {
    "closure": "close(Network(point, names(9000), *arrays(range(8999), range(1, 9000), [1] * 8999)))",
    "partial": "partial(Network(point, names(3000), *arrays(*np.triu_indices(3000, 1), [3] * 4498500)))",
    "search": "solve(Network(rcc8, names(3000), *arrays(range(2999), range(1, 3000), [19] * 2999)))",
    "many": "close_many(Networks(point, *many(3_000_000)))",
}
SCRIPT = """
import signal
import numpy as np
from epignn.calculus import load
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.many import Networks, close_many
from epignn.calculus.network import Network, arrays
from epignn.calculus.solve.search import solve
from epignn.calculus.solve.sparse import partial

point, rcc8 = load("point"), load("rcc8")
names = lambda count: tuple(map(str, range(count)))

def many(count):
    sizes, zeros = np.full(count, 60, dtype=np.int32), np.zeros(count, dtype=np.int32)
    return sizes, np.arange(count + 1), zeros, zeros + 1, zeros.astype(np.uint64) + 1, zeros, zeros + 1

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have been started deaf to it
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("what", LONG)
def test_interrupts_are_heard(what):
    command = [sys.executable, "-c", SCRIPT.replace("{call}", LONG[what])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert (
            process.stdout.read() == "interrupted\n"
        )  # an answer instead would come a minute later, and print nothing
