"""Files are written whole or not at all, on every way out, and read with errors that tell what to do."""

import gzip
import os
import threading

import pytest

from epignn.errors import BadFile
from epignn.files import decode, make_folder, read_text, sha256, write_text, writing


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


def test_text_of_other_systems():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n", "f") == "a\nb\nc\n"
    with pytest.raises(BadFile, match="f:2: not UTF-8 text"):
        decode(b"a\n\xff", "f")
    with pytest.raises(BadFile, match="f:2: a NUL byte"):
        decode(b"a\n\0", "f")
