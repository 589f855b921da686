"""The shape of the package: what each layer may import, what is exported, and that the checks can fail."""

import subprocess
import sys
from types import ModuleType

import pytest

import epignn

TORCH_FREE = [
    "epignn",
    "epignn.calculus",
    "epignn.formats.networks",
    "epignn.data",
    "epignn.reason.reasoners",
    "epignn.explain.picture",
    "epignn.explain.text",
    "epignn.cli",
    "epignn.cli.app",
]


def loaded_by(statement: str, module: str) -> bool:
    """Whether a fresh interpreter has `module` loaded after a statement."""
    code = f"import sys\n{statement}\nprint({module!r} in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip() == "True"


@pytest.mark.parametrize("module", TORCH_FREE)
def test_no_torch(module):
    assert not loaded_by(f"import {module}", "torch")


def test_the_check_can_fail():
    fake = "import types; sys.modules['torch'] = types.ModuleType('torch')"
    assert loaded_by(fake, "torch")


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [("epignn.calculus.solve.search", "epignn.data"), ("epignn.data", "epignn.cli"), ("epignn", "typer")],
)
def test_imports_point_one_way(module, forbidden):
    assert not loaded_by(f"import {module}", forbidden)


def test_exports_are_exact():
    public = {name for name, value in vars(epignn).items() if name[0] != "_" and not isinstance(value, ModuleType)}
    assert public - {"TYPE_CHECKING"} | {"__version__", *epignn._LATER} == set(epignn.__all__)
    assert all(getattr(epignn, name) is not None for name in epignn.__all__)


def test_python_m_epignn():
    run = subprocess.run([sys.executable, "-m", "epignn", "info"], capture_output=True, text=True, check=True)
    assert epignn.__version__ in run.stdout
