"""Data that nobody here wrote, fetched by name from where it is published."""

import shutil
import subprocess
import tarfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def us_atlas(tmp_path_factory) -> Path:
    """The borders of the states and counties of the United States (npm's us-atlas, from the Census Bureau)."""
    folder = tmp_path_factory.mktemp("us-atlas")
    if shutil.which("npm") is None:
        pytest.skip("npm is not there to fetch us-atlas")
    fetched = subprocess.run(
        ["npm", "pack", "us-atlas@3.0.1", "--silent"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if fetched.returncode:
        pytest.skip("us-atlas cannot be fetched from here")
    with tarfile.open(folder / "us-atlas-3.0.1.tgz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


@pytest.fixture(scope="session")
def time_scale() -> Path:
    """The International Chronostratigraphic Chart of December 2024 (PyPI's pyrolite)."""
    try:
        listed = files("pyrolite") or []
    except PackageNotFoundError:
        pytest.skip("pyrolite is not installed")
    [found] = [file for file in listed if file.name == "geotimescale_202412.csv"]
    return Path(str(found.locate()))
