"""The shape of the package: what each layer may import, what is exported, and that the checks can fail."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import epignn

TORCH_FREE = [
    "epignn",
    "epignn.calculus",
    "epignn.formats.networks",
    "epignn.data",
    "epignn.reason",
    "epignn.reason.networks",
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


WITHOUT = {
    ("close", "ec(a, b)", "--query", "a", "b"): "",
    ("entails", "ec(a, b)", "ec(b, a)"): "",
    ("calculus", "show", "rcc8"): "",
    ("realise", "ec(a, b)"): "",
    ("explain", "--exact", "rcc8", "ec(a, b)", "a", "b"): "",
    ("info",): "",
    ("ask", "ec(a, b)", "a", "b"): "torch, which is not installed: pip install 'epignn[learn]'",
    ("train", "rcc8", "--out", "x"): "torch, which is not installed: pip install 'epignn[learn]'",
    ("serve",): "pip install 'epignn[web]'",
    ("relate", "examples/world/quarters.geojson"): "pip install 'epignn[geo]'",
}
"""Commands, and what they ask for where `pip install epignn` has brought nothing more."""
OPTIONAL = [
    "torch",
    "safetensors",
    "matplotlib",
    "fastapi",
    "uvicorn",
    "shapely",
    "geopandas",
    "pandas",
    "pyarrow",
    "rdflib",
    "networkx",
]


@pytest.mark.parametrize("command", WITHOUT, ids=lambda command: command[0])
def test_what_needs_an_extra_says_which(command, tmp_path):
    """In an interpreter that finds none of the libraries that extras bring."""
    code = (
        f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL}))\nsys.argv = ['epignn', *{list(command)}]\n"
        "from epignn.cli import main\nmain()"
    )
    root = Path(__file__).resolve().parent.parent
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert (run.returncode, WITHOUT[command] in run.stderr) == (2 if WITHOUT[command] else 0, True), run.stderr


ORDER = (
    ("errors", "version"), ("locks",), ("extras", "files", "entries", "kernels"), ("workers",), ("calculus",),
    ("data",), ("formats",), ("bridges",), ("tasks",), ("models",), ("learn",), ("distil",), ("explain",),
    ("reason",), ("report",), ("web",), ("cli",),
)  # fmt: skip
"""Parts of the package; each imports only from those before it, and within itself."""
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}
FACADES = ("epignn", "epignn.__main__")
"""The front door: it shows what is inside, and starts the command line."""


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, also inside functions and for types alone."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "epignn"}


def wrong(module: str, imported: str) -> bool:
    """Whether an import goes upwards."""
    parts = imported.split(".")
    if len(parts) == 1 or parts[1] not in RANK:
        return False  # a name of the front door, or of a compiled module
    return RANK[parts[1]] > RANK[module.split(".")[1]]


def modules() -> dict[str, Path]:
    root = Path(epignn.__file__).parent
    names = {path: ".".join(path.relative_to(root.parent).with_suffix("").parts) for path in root.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def test_imports_go_downwards_only():
    known = modules()
    assert {name.split(".")[1] for name in known if name not in FACADES} == set(RANK)
    upwards = [
        f"{module} imports {imported}"
        for module, path in known.items()
        if module not in FACADES
        for imported in imports(path)
        if wrong(module, imported)
    ]
    assert not upwards


def test_the_check_of_the_order_can_fail(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("def f():\n    from epignn.cli import main\n    import epignn.data.dataset\n")
    assert imports(path) == {"epignn.cli", "epignn.cli.main", "epignn.data.dataset"}
    assert wrong("epignn.data.dataset", "epignn.learn.fit")
    assert not wrong("epignn.learn.fit", "epignn.data.dataset")


@pytest.mark.parametrize("module", ["epignn.cli.app", "epignn.calculus"])
def test_the_command_line_is_not_loaded_by_what_it_speaks_for(module):
    assert loaded_by(f"import {module}", "typer") == (module == "epignn.cli.app")


def test_exports_are_exact():
    public = {name for name, value in vars(epignn).items() if name[0] != "_" and not isinstance(value, ModuleType)}
    assert public - {"TYPE_CHECKING"} | {"__version__", *epignn._LATER} == set(epignn.__all__)
    assert all(getattr(epignn, name) is not None for name in epignn.__all__)


def test_python_m_epignn():
    run = subprocess.run([sys.executable, "-m", "epignn", "info"], capture_output=True, text=True, check=True)
    assert epignn.__version__ in run.stdout
