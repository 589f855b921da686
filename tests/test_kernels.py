"""Which kernels serve: EPIGNN_SIMD chooses, all choices agree, and what cannot serve is refused in a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from epignn import kernels
from epignn.errors import BadArgument
from tests.rounding import close, in_passing

ROOT = Path(__file__).parent.parent
HERE = kernels.instruction_sets()

CLOSURES = """
import numpy as np
from epignn.calculus import CALCULI, load
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.sparse import partial
from tests.conftest import random_network
from tests.calculus.solve.test_closure import model_network

rng, found = np.random.default_rng(0), {}
for name in CALCULI:
    for number in range(20):
        found[f"{name}{number}"] = close(random_network(load(name), rng, 12, 0.3, 4)).closed.matrix()
for entities in (100, 200, 600):
    network = model_network(load("rcc8"), rng, entities, facts=4 * entities)
    found[f"wide{entities}"] = close(network).closed.matrix()
    found[f"sparse{entities}"] = partial(network).closed.masks
"""
MESSAGES = """
import numpy as np
import torch
from epignn.models import compiled
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.flow import Passing, forward_flow
from epignn.models.prepare import prepare
from tests.conftest import random_graph
from tests.models import test_compiled, test_links
from tests.models.conftest import problems

torch.set_num_threads(1)
found, batch, graph = {}, prepare(problems()), random_graph(0)
flow, asked = forward_flow(batch), test_links.asked(graph, np.random.default_rng(0))


def keep(name, states, leaf):
    states.square().sum().backward()
    found[name], found[name + " gradient"] = states.detach().numpy(), leaf.grad.numpy()


for pooling in ("min", "mul"):
    for facets, size in ((2, 4), (2, 8), (1, 16), (1, 32), (3, 5)):
        leaf = test_compiled.matrices(facets, size).float().requires_grad_()
        keep(f"graph {pooling} {size}", test_compiled.propagate(flow, leaf, pooling, None, False, "compiled"), leaf)
        leaf = test_links.matrices(6, 16 // size or 1, size, torch.float32).requires_grad_()
        passing = Passing(pooling, 4, self_message=False, silent=True)
        keep(f"heads {pooling} {size}", compiled.head_states(graph.edges, leaf, asked, passing), leaf)
    model = build(EpiGNN, 8, EpiGNNConfig(dim=16, facets=2, rounds=6, pooling=pooling), 0)
    keep(f"model {pooling} 8", model(batch), model.composition_FIJK)
"""
KEEP = """
import sys
from epignn.kernels import kernels
np.savez(sys.argv[1], **found)
print(kernels().__name__)
"""


def child(code: str, simd: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, which loads its own kernels."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "EPIGNN_SIMD": simd, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )


def results(code: str, simd: str, folder: Path) -> dict[str, np.ndarray]:
    """The arrays that code leaves in `found`, computed by the kernels for one instruction set."""
    path = folder / f"{simd}.npz"
    ran = child(code + KEEP, simd, path)
    assert ran.stdout.strip() == f"epignn._native_{simd}", ran.stderr
    return dict(np.load(path))


def test_every_processor_has_the_baseline():
    assert HERE[0] == "baseline"
    assert kernels.INSTRUCTION_SETS[: len(HERE)] == HERE


@pytest.mark.parametrize("simd", HERE[1:])
def test_closures_are_the_same(simd, tmp_path):
    expected, found = (results(CLOSURES, name, tmp_path) for name in ("baseline", simd))
    assert expected.keys() == found.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], name)


@pytest.mark.parametrize("simd", HERE[1:])
def test_message_passing_is_the_same_but_for_rounding(simd, tmp_path):
    expected, found = (results(MESSAGES, name, tmp_path) for name in ("baseline", simd))
    assert expected.keys() == found.keys()
    assert any((found[name] != expected[name]).any() for name in expected)  # they are other instructions
    for name in expected:
        steps = in_passing(6, size=int(name.split()[2]), messages=3)
        # Back the same way; and what reaches a matrix is summed over some hundred edges.
        close(found[name], expected[name], roundings=2 * steps + 300 if "gradient" in name else steps)


@pytest.mark.parametrize(("simd", "serves"), [*zip(HERE, HERE, strict=True), ("auto", HERE[-1]), ("", HERE[-1])])
def test_the_choice_is_told(simd, serves):
    ran = child("import sys; from epignn.cli import main; sys.argv[1:] = ['info', '--json']; main()", simd)
    told = json.loads(ran.stdout)
    assert (told["kernels"], told["simd"], told["simd_choices"]) == ("compiled", serves, list(HERE))


@pytest.mark.parametrize("simd", ["avx2", *set(kernels.INSTRUCTION_SETS) - set(HERE)])
def test_what_cannot_serve_is_refused_at_first_use(simd):
    code = "import sys; from epignn.cli import main; sys.argv[1:] = {}; main()"
    for command in (["info"], ["close", "examples/harbour.txt"]):
        ran = child(code.format(command), simd)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("error: EPIGNN_SIMD")
        assert ran.stderr.count("\n") == 1
    assert child(code.format(["close", "examples/harbour.txt", "--backend", "plain"]), simd).returncode == 0


@pytest.fixture
def anew(monkeypatch):
    """Choose kernels as a new process would, once the fixture is called."""
    chosen = (kernels.instruction_sets, kernels.instruction_set, kernels.native, kernels._say_missing)

    def clear() -> None:
        for function in chosen:
            function.cache_clear()

    yield clear
    monkeypatch.undo()
    clear()


def test_an_unknown_name_is_refused_with_the_choices(anew, monkeypatch):
    anew()
    monkeypatch.setenv("EPIGNN_SIMD", "AVX")
    with pytest.raises(BadArgument, match=r"^EPIGNN_SIMD must be auto, baseline, v3 or v4, not 'AVX'\.$"):
        kernels.kernels()


def test_where_only_the_baseline_was_built(anew, monkeypatch):
    for name in ("v3", "v4"):
        monkeypatch.setitem(sys.modules, f"epignn._native_{name}", None)  # as if it were not there
    anew()
    monkeypatch.delenv("EPIGNN_SIMD", raising=False)
    assert kernels.instruction_set() == "baseline"
    anew()
    monkeypatch.setenv("EPIGNN_SIMD", "v3")
    refused = (
        r"^EPIGNN_SIMD=v3 cannot serve: this processor lacks it, or it was not built\. "
        r"Unset EPIGNN_SIMD, or choose among what there is: baseline\.$"
    )
    with pytest.raises(BadArgument, match=refused):
        kernels.kernels()


def test_where_nothing_was_built(anew, monkeypatch):
    monkeypatch.setitem(sys.modules, "epignn._cpu", None)
    anew()
    monkeypatch.delenv("EPIGNN_SIMD", raising=False)
    with pytest.warns(RuntimeWarning, match="runs without its compiled kernels"):
        assert kernels.kernels() is None
    assert kernels.kernels() is None  # said once
    with pytest.raises(BadArgument, match="Reinstall with a C"):
        kernels.kernels("compiled")
    anew()
    monkeypatch.setenv("EPIGNN_SIMD", "v3")
    with pytest.raises(BadArgument, match="what there is: nothing"):
        kernels.kernels()
