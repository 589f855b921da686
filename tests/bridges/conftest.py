"""Data that nobody here wrote, fetched by name from where it is published."""

import re
import shutil
import subprocess
import tarfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest


def npm_package(name: str, version: str, folder: Path) -> Path:
    """The files of a package of npm, unpacked into a folder."""
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not there to fetch {name}")
    call = ["npm", "pack", f"{name}@{version}", "--silent"]
    fetched = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=200)
    if fetched.returncode:
        pytest.skip(f"{name} cannot be fetched from here")
    [packed] = folder.glob("*.tgz")
    with tarfile.open(packed) as file:
        file.extractall(folder, filter="data")
    return folder / "package"


@pytest.fixture(scope="session")
def us_atlas(tmp_path_factory) -> Path:
    """The borders of the states and counties of the United States (npm's us-atlas, from the Census Bureau)."""
    return npm_package("us-atlas", "3.0.1", tmp_path_factory.mktemp("us-atlas"))


@pytest.fixture(scope="session")
def provenance_ontology(tmp_path_factory) -> Path:
    """PROV-O of the W3C as N-Triples (npm's @vocabulary/prov, which has it as N-Quads of one graph)."""
    folder = npm_package("@vocabulary/prov", "1.0.6", tmp_path_factory.mktemp("prov"))
    quads = (folder / "prov.nq").read_text(encoding="utf-8").splitlines()
    path = folder / "prov.nt"
    path.write_text("".join(re.sub(r" <[^>]*> \.$", " .", quad) + "\n" for quad in quads), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def time_scale() -> Path:
    """The International Chronostratigraphic Chart of December 2024 (PyPI's pyrolite)."""
    try:
        listed = files("pyrolite") or []
    except PackageNotFoundError:
        pytest.skip("pyrolite is not installed")
    [found] = [file for file in listed if file.name == "geotimescale_202412.csv"]
    return Path(str(found.locate()))
