"""The registry: complete, well-formed, true of the files at hand; files are found packed and plain."""

import csv
import gzip
import hashlib
import io
import shutil
from types import MappingProxyType

import pytest

from epignn.errors import BadFile, UnknownName
from epignn.tasks import registry
from epignn.tasks.registry import DataFile, Entry, content, datasets, find, locate, verify, whole
from tests.conftest import made_here


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    monkeypatch.delenv("EPIGNN_DATA", raising=False)
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_entries_are_complete():
    names = [entry.name for entry in datasets()]
    assert len(set(names)) == len(names) >= 21
    places = [f"{entry.folder}/{file}" for entry in datasets() for file in entry.files]
    assert len(set(places)) == len(places)
    for entry in datasets():
        assert all((entry.version, entry.task, entry.licence, entry.citation, entry.repository.count("/") == 1))
        for file in entry.files.values():
            known = (len(file.sha256) == 64 and file.size > 0) or len(file.md5) == 32
            assert known == file.checkable
            assert known or "No digests" in entry.note


def test_every_known_file_of_the_data_folder_is_whole(registered):
    """Whatever else lies beside them."""
    states = [state for entry in datasets() for state in verify(entry, registered).values()]
    assert states.count("ok") > 100
    assert set(states) <= ({"ok"} if made_here(registered) else {"ok", "missing"})


def test_files_that_are_not_known_make_no_difference(sample, tmp_path, monkeypatch):
    folder = shutil.copytree(sample, tmp_path / "mine")
    (folder / "clutrr" / "more.csv.gz").write_bytes(b"")
    (folder / "clutrr" / "data_db9b8f04" / "1.11_test.csv.gz").write_bytes(b"")
    (folder / "SHA256SUMS").write_text("of others\n")
    monkeypatch.setattr(registry, "REGISTRY", folder / "registry.toml")
    datasets.cache_clear()
    try:
        assert {state for entry in datasets() for state in verify(entry, folder).values()} == {"ok"}
    finally:
        datasets.cache_clear()


@pytest.mark.parametrize(
    ("file", "same", "other"),
    [
        (DataFile("a", 1, hashlib.sha256(b"x").hexdigest(), None), True, False),
        (DataFile("a", 0, "", None, hashlib.md5(b"x").hexdigest()), True, False),
        (DataFile("a", 0, "", None), True, True),
    ],
)
def test_a_file_is_checked_by_what_is_known_of_it(file, same, other):
    assert (whole(file, b"x"), whole(file, b"y"), whole(file, b"")) == (same, other, False)


def test_a_file_without_a_digest_is_unchecked(tmp_path):
    entry = find("nell_v1")
    path = tmp_path / entry.folder / "nell_v1" / "train.txt"
    path.parent.mkdir(parents=True)
    path.write_text("a r b\n")
    states = verify(entry, tmp_path)
    assert (states["nell_v1/train.txt"], states["nell_v1/test.txt"]) == ("unchecked", "missing")


def test_digests_are_of_the_content(registered):
    path = registered / "rcc8_ia" / "test_rcc8_k_2_b_1.csv.gz"
    digest = hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
    assert find("star-rcc8").files["test_rcc8_k_2_b_1.csv"].sha256 == digest


def test_a_file_is_found_packed_or_plain(nowhere, monkeypatch):
    folder = nowhere / "cache" / "qcn" / "pyrcc8"
    folder.mkdir(parents=True)
    (folder / "wiki.csp").write_text("x")
    assert locate("qcn-pyrcc8", "wiki.csp.gz") == folder / "wiki.csp"
    other = nowhere / "mine" / "qcn" / "pyrcc8"
    other.mkdir(parents=True)
    (other / "wiki.csp.gz").write_bytes(b"")
    monkeypatch.setenv("EPIGNN_DATA", str(nowhere / "mine"))
    assert locate("qcn-pyrcc8", "wiki.csp") == other / "wiki.csp.gz"


def test_what_is_not_there_is_explained(nowhere):
    with pytest.raises(BadFile, match="epignn data get star-rcc8"):
        locate("star-rcc8", "test_rcc8_k_2_b_1.csv")
    with pytest.raises(BadFile, match="epignn data info nora"):
        locate("nora", "labels.json")
    with pytest.raises(UnknownName, match="Did you mean 'star-rcc8'"):
        find("starrcc8")
    with pytest.raises(UnknownName, match=r"Did you mean '1\.4_test\.csv'"):
        locate("clutrr-db9b8f04", "1.4-test.csv")


def test_the_cache_is_where_the_platform_has_it(monkeypatch, tmp_path):
    monkeypatch.delenv("EPIGNN_CACHE", raising=False)
    monkeypatch.setattr(registry.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert registry.cache_folder() == tmp_path / "epignn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert registry.cache_folder().parts[-2:] == (".cache", "epignn")


def test_an_original_with_more_columns_is_the_same_data(registered, tmp_path):
    """CLUTRR's original has stories and a running number; what is left without them has the digest."""
    entry = find("clutrr-db9b8f04")
    rows = list(
        csv.reader(io.StringIO(content(registered / entry.folder / "1.2_test.csv.gz").decode(), newline=""))
    )
    original = tmp_path / entry.folder / "1.2_test.csv"
    original.parent.mkdir(parents=True)
    longer = [[str(n), *reversed(row), 'a "story",\nof two'] for n, row in enumerate(rows)]
    for kept, state in [(longer, "ok"), (longer[:-1], "differs"), (longer[1:], "differs")]:
        with original.open("w", newline="") as stream:
            csv.writer(stream).writerows(kept)
        assert verify(entry, tmp_path)["1.2_test.csv"] == state
    assert verify(entry, tmp_path)["1.3_test.csv"] == "missing"


def test_damaged_files_differ(tmp_path):
    text = b"some text"
    file = DataFile("a.txt", len(text), hashlib.sha256(text).hexdigest(), "a.txt")
    entry = Entry("a", "1", "t", "o/r", "main", "", "f", "MIT", "c", MappingProxyType({"a.txt": file}))
    path = tmp_path / "f" / "a.txt.gz"
    path.parent.mkdir()
    for damaged, state in [(gzip.compress(text), "ok"), (gzip.compress(text)[:-3], "differs"), (text, "differs")]:
        path.write_bytes(damaged)
        assert verify(entry, tmp_path) == {"a.txt": state}
