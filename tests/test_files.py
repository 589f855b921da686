"""Files are written whole or not at all, on every way out, and read with errors that tell what to do."""

import gzip
import os
import stat
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from epignn import files
from epignn.errors import BadArgument, BadFile
from epignn.files import (
    decode,
    make_folder,
    new_folder,
    open_text,
    read_text,
    readable,
    sha256,
    write_text,
    writing,
)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_what_is_written_reads_back_and_has_the_same_bytes(tmp_path, name):
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        write_text(folder / name, "père\nmère\n")
    assert read_text(tmp_path / name) == "père\nmère\n"
    assert sha256(tmp_path / name) == sha256(tmp_path / "other" / name)
    assert {path.name for path in tmp_path.iterdir()} == {name, "other"}
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).decode() == "père\nmère\n"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("precious")
    with pytest.raises(error), writing(path) as part:
        part.write_text("half")
        assert path.read_text() == "precious"
        raise error
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.txt", "precious")]


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_text(path, "through")
    reader.join(10)
    assert read == ["through"]
    assert path.is_fifo()


@pytest.mark.parametrize("name", ["none/a.txt", "file/a.txt", "x" * 300, "folder"])
def test_places_that_cannot_be_written_are_told(tmp_path, name):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadFile, match="cannot write it: ") as raised:
        write_text(tmp_path / name, "text")
    assert raised.value.file == str(tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}


def test_folders(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match=r"cannot be a folder: .*\. Choose another name"):
        make_folder(tmp_path / "file" / "c")


def test_a_new_folder_stays_where_something_was_made_or_was_there(tmp_path):
    (tmp_path / "there").mkdir()
    for name, kept in [("a/b", False), ("there", True)]:
        with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / name):
            assert (tmp_path / name).is_dir()
            raise KeyboardInterrupt
        assert (tmp_path / name).exists() == kept
    assert not (tmp_path / "a").exists()
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "begun").touch()
        raise KeyboardInterrupt
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["begun"]
    with new_folder(tmp_path / "c"):
        pass
    assert (tmp_path / "c").is_dir()
    for name in ("a/begun/x", "x" * 5000):
        with pytest.raises(BadFile, match="cannot be a folder"), new_folder(tmp_path / name):
            pass


def test_text_of_other_systems():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n", "f") == "a\nb\nc\n"
    with pytest.raises(BadFile, match="f:2: not UTF-8 text"):
        decode(b"a\n\xff", "f")
    with pytest.raises(BadFile, match="f:2: a NUL byte"):
        decode(b"a\n\0", "f")


def test_the_error_of_a_file_that_is_too_large_keeps_nothing_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIGNN_MAX_MB", "8")
    (tmp_path / "zeros").write_bytes(bytes(9 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="holds more than 8 MB") as told:
            files.read_bytes(tmp_path / "zeros")
        assert tracemalloc.get_traced_memory()[0] < 4 << 20, told
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """200 kB that unpack to 200 MB."""
    path = tmp_path_factory.mktemp("bomb") / "facts.txt.gz"
    path.write_bytes(gzip.compress(b"ec(a,b).\n" * (200 << 20 >> 3), compresslevel=6))
    return path


def test_what_a_packed_file_unpacks_to_is_bounded(bomb, monkeypatch):
    tracemalloc.start()
    with pytest.raises(BadFile, match=r"facts.txt.gz: holds more than 64 MB.*set EPIGNN_MAX_MB to a larger"):
        read_text(bomb)
    with pytest.raises(BadFile, match="holds more than 64 MB"), readable(str(bomb)), open_text(bomb) as lines:
        for _ in lines:
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 220 << 20
    monkeypatch.setenv("EPIGNN_MAX_MB", "300")
    assert len(read_text(bomb)) == 9 * (200 << 20 >> 3)
    monkeypatch.setenv("EPIGNN_MAX_MB", "many")
    with pytest.raises(BadArgument, match="EPIGNN_MAX_MB must be a number of megabytes, such as 4096, not 'many'"):
        read_text(bomb)


def test_a_line_without_end_is_bounded(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x" * (100 << 20)))
    with pytest.raises(BadFile, match="holds more than 64 MB"), readable(str(path)), open_text(path) as lines:
        next(lines)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device that never ends")
def test_a_device_that_never_ends_is_bounded(monkeypatch):
    monkeypatch.setenv("EPIGNN_MAX_MB", "1")
    with pytest.raises(BadFile, match="holds more than 1 MB"):
        read_text("/dev/zero")


def test_a_file_or_a_link_that_somebody_laid_there_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("precious")
    for name in (".a.txt.part", "a.txt.part", f".a.txt.{os.getpid()}.part"):
        (tmp_path / name).symlink_to("mine")
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "mine").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 5


def test_permissions_are_those_of_the_file_that_is_replaced_or_of_a_new_one(tmp_path):
    (tmp_path / "plain").touch()
    write_text(tmp_path / "new.txt", "x")
    (tmp_path / "old.txt").touch(0o600)
    write_text(tmp_path / "old.txt", "x")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes["old.txt"] == 0o600
    assert modes["new.txt"] == modes["plain"]


def test_left_overs_of_killed_processes_are_removed_and_those_at_work_are_not(tmp_path):
    program = (
        "import os, signal, sys; from pathlib import Path; from epignn.files import writing\n"
        "with writing(Path(sys.argv[1])) as part:\n"
        "    part.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.txt")], check=False)
    [left] = tmp_path.iterdir()
    with writing(tmp_path / "b.txt") as part:
        assert not left.exists()
        files._swept.clear()
        write_text(tmp_path / "c.txt", "new")
        assert part.exists()
        part.write_text("whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b.txt": "whole", "c.txt": "new"}


def test_half_a_character_is_not_written(tmp_path):
    with pytest.raises(BadFile, match=r"half a character, as in …ec\(\\udcff, b\)…"):
        write_text(tmp_path / "a.txt", "ec(\udcff, b)")
    assert not list(tmp_path.iterdir())
