"""Data sets that PyKEEN carries: found where it is installed, and in its wheel."""

import gzip
import sys
import zipfile

import pytest

from epignn.errors import BadFile
from epignn.tasks import registry, task_of


@pytest.fixture
def empty(sample, tmp_path, monkeypatch):
    """No data folder has files of nations; the registry is that of the sample."""
    monkeypatch.setattr(registry, "REGISTRY", sample / "registry.toml")
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.delitem(sys.modules, "pykeen", raising=False)
    registry.datasets.cache_clear()
    (tmp_path / "data").mkdir()
    yield tmp_path
    registry.datasets.cache_clear()


def carried(sample) -> dict[str, bytes]:
    """The files of nations, as PyKEEN has them."""
    paths = (sample / "pykeen" / "nations").glob("*.gz")
    return {path.name.removesuffix(".gz"): gzip.decompress(path.read_bytes()) for path in paths}


def test_nowhere(empty):
    with pytest.raises(BadFile, match=r"epignn data get nations.*pip download --no-deps pykeen"):
        task_of("nations").links(0)


def test_installed(empty, sample):
    folder = empty / "site" / "pykeen" / "datasets" / "nations"
    folder.mkdir(parents=True)
    (empty / "site" / "pykeen" / "__init__.py").write_text("raise ImportError('PyKEEN is not to be loaded')")
    for name, data in carried(sample).items():
        (folder / name).write_bytes(data)
    found = task_of("nations").links(0)
    assert len(found.train.graph.facts) == carried(sample)["train.txt"].count(b"\n")
    assert found.train is found.test


def test_a_wheel(empty, sample):
    with zipfile.ZipFile(empty / "data" / "pykeen-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in carried(sample).items():
            wheel.writestr(f"pykeen/datasets/nations/{name}", data)
    found = task_of("nations").links(0)
    assert len(found.test.test) == carried(sample)["test.txt"].count(b"\n")
    assert (empty / "cache" / "pykeen" / "nations" / "valid.txt").is_file()
    with pytest.raises(BadFile, match="not a wheel with the data sets"):
        task_of("umls").links(0)


def test_a_wheel_of_other_content(empty, sample):
    with zipfile.ZipFile(empty / "data" / "pykeen-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in carried(sample).items():
            wheel.writestr(f"pykeen/datasets/nations/{name}", data + b"x y z\n")
    with pytest.raises(BadFile, match="another than that of PyKEEN"):
        task_of("nations").links(0)
