"""Tables and graphs: facts in, answers out, the same after a round trip."""

import csv
import gzip
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from epignn import Network, close, load, read_networks
from epignn.bridges.events import from_intervals
from epignn.bridges.graphs import from_networkx
from epignn.bridges.tables import write_out
from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.formats.frames import read_arrays, read_frame

pandas = pytest.importorskip("pandas")
RCC8 = load("rcc8")
FACTS = [("Vieux-Lyon, 5e", "tpp|ntpp", "Lyon"), ('the "Rhône"', "ec", "Lyon"), ("Lyon", "ntpp", "France")]


@pytest.fixture
def network():
    return Network.of(RCC8, FACTS)


def facts(network):
    return [network.fact(f).to_list() for f in range(len(network))]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "csp", "json", "npz", "parquet", "xlsx"])
def test_files_of_facts_there_and_back(network, tmp_path, suffix):
    if suffix == "csp":
        network = Network.of(RCC8, [("0", "tpp|ntpp", "1"), ("1", "ec", "2")])
    path = tmp_path / f"out.{suffix}"
    write_out([network], path)
    [again] = read_networks(path, RCC8)
    assert facts(again) == facts(network)


ODD = [
    "=1+1",
    "#N/A",
    "-5",
    "None",
    "nan",
    " a b",
    "[/]",
    "'",
    "1.0",
    "true",
    "2024-01-01",
    "e\u0301",
    "\U0001f600",
]


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet", "xlsx"])
def test_odd_names_there_and_back(tmp_path, suffix):
    """A name stays one that a spreadsheet would take for a formula, an error, a number or nothing."""
    network = Network.of(RCC8, [(name.strip(), "ec", "x") for name in ODD])
    write_out([network], tmp_path / f"out.{suffix}")
    [again] = read_networks(tmp_path / f"out.{suffix}", RCC8)
    assert facts(again) == facts(network)


@pytest.mark.parametrize("name", ["a\x1bb", "a\0b", "a\ufffeb", "x" * 40_000])
def test_what_excel_cannot_hold_is_refused(tmp_path, name):
    with pytest.raises(BadArgument, match="Excel"):
        write_out([Network.of(RCC8, [(name, "ec", "b")])], tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())


def test_two_columns_of_one_name(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [arrow.array(["a"]), arrow.array(["b"]), arrow.array([1]), arrow.array([2])]
    parquet.write_table(arrow.table(columns, names=["name", "name", "start", "end"]), tmp_path / "a.parquet")
    with pytest.raises(BadArgument, match="2 columns are called 'name'"):
        from_intervals(read_frame(tmp_path / "a.parquet"))


def test_bytes_that_are_no_text(tmp_path):
    pandas.DataFrame({"head": [b"\xff"], "relations": ["ec"], "tail": ["b"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(BadFile, match="cannot be read as a table of texts"):
        read_networks(tmp_path / "a.parquet", RCC8)


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_parquet_file_of_texts_that_repeat(tmp_path, dictionary):
    """Unpacked, 200 MB: held once if it says so, refused if not."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, rows = tmp_path / "bomb.parquet", 10_000
    table = arrow.table({"head": ["x" * 20_000] * rows, "relations": ["ec"] * rows, "tail": ["b"] * rows})
    parquet.write_table(table, path, use_dictionary=dictionary, compression="zstd", data_page_size=1 << 30)
    assert path.stat().st_size < 1 << 20
    if dictionary:
        assert read_frame(path).shape == (rows, 3)
    else:
        with pytest.raises(BadFile, match="EPIGNN_MAX_MB"):
            read_frame(path)


@pytest.mark.parametrize("far", ["XFD1048576", "CZZ9999"])
def test_one_cell_at_the_far_end_of_a_sheet(tmp_path, far):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"], book.active[far] = "head", "x"
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(BadFile, match="EPIGNN_MAX_MB"):
        read_frame(tmp_path / "far.xlsx")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "xlsx"])
def test_frames_there_and_back(network, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    write_out([network], path)
    assert facts(Network.of(RCC8, read_frame(path))) == facts(network)


def test_cells_are_those_of_a_spreadsheet(network, tmp_path):
    path = tmp_path / "out.csv"
    write_out([network], path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["head", "relations", "tail"], *([h, r.upper(), t] for h, r, t in FACTS)]


def test_arrays(network, tmp_path):
    path = tmp_path / "out.npz"
    write_out([network], path)
    with np.load(path, allow_pickle=False) as found:
        again = Network(
            load(str(found["calculus"])),
            tuple(found["names"].tolist()),
            *(found[k] for k in ("heads", "tails", "masks")),
        )
    assert facts(again) == facts(network)


def test_one_network_where_the_format_holds_one(network, tmp_path):
    with pytest.raises(BadArgument, match=r"\.csv holds one network, not 2; choose one with --network N"):
        write_out([network, network], tmp_path / "out.csv")
    plain = Network.of(RCC8, [("a", "ec", "b")])
    write_out([plain, plain], tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "EC(a, b)\n" * 2
    with pytest.raises(UnknownName, match="Unknown format 'jsn'"):
        write_out([network], tmp_path / "out.csv", "jsn")


def test_a_missing_library_is_asked_for(network, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadArgument, match=r"writing Parquet needs pyarrow.*pip install 'epignn\[frames\]'"):
        write_out([network], tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())  # nothing half-written


@pytest.mark.parametrize(
    "text",
    [
        "A,relation,B\nLyon,ntpp,France\n",
        "head,relations,tail\nLyon,NTPP,France",
        "Lyon,ntpp,France\n",
        "id,tail,relation,head\n7,France,ntpp,Lyon\n",
        "\ufeffsubject,predicate,object\r\nLyon,ntpp,France\r\n",
    ],
)
def test_columns_by_name_or_position(tmp_path, text):
    path = tmp_path / "f.csv"
    path.write_text(text, encoding="utf-8", newline="")
    [network] = read_networks(path)
    assert str(network) == "NTPP(Lyon, France)"
    path = tmp_path / "f.tsv"
    path.write_text(text.replace(",", "\t"), encoding="utf-8", newline="")
    assert str(read_networks(path)[0]) == "NTPP(Lyon, France)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("head,relation,tail\na,ec,b\na,ec\n", r"f.csv:3: a fact has a head, relations and a tail; this row has 2"),
        ("head,relation,tail\na,ec,b\na,nttp,b\n", r"f.csv:3: .*'nttp' \(did you mean 'NTPP'"),
        ('head,relation,tail\n"a,ec,b\n', "not a table"),
    ],
)
def test_broken_tables(tmp_path, text, message):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(BadFile, match=message):
        read_networks(path)


def test_frames_of_other_columns():
    frame = pandas.DataFrame([["a", "ec", "b"]], columns=["x", "y", "z"])
    assert str(Network.of(RCC8, frame)) == "EC(a, b)"
    with pytest.raises(BadArgument, match="a table of facts has the columns head, relations, tail"):
        Network.of(RCC8, frame.assign(more=1))


def test_results_as_frames_graphs_and_matrices(network):
    networkx = pytest.importorskip("networkx")
    result = close(network)
    frame = result.to_pandas()
    assert list(frame.columns) == ["head", "relations", "tail"]
    assert len(frame) == len(result.closed) == len(result.to_pandas(inferred=True)) + 3
    assert ["Vieux-Lyon, 5e", "NTPP", "France"] in frame.to_numpy().tolist()
    graph = result.to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    again = from_networkx(RCC8, graph)
    assert (close(again).matrix() == result.matrix()).all()
    assert repr(result) == "Result(rcc8: consistent by closure; 4 entities, 3 facts, 6 pairs)"


def test_graphs_that_are_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(BadArgument, match="the graph has no directions"):
        from_networkx(RCC8, networkx.Graph())
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", weight=1)
    with pytest.raises(BadArgument, match="from a to b has no attribute 'relations'; it has: weight"):
        from_networkx(RCC8, graph)
    graph.edges["a", "b"]["relations"] = "nttp"
    with pytest.raises(BadArgument, match=r"from a to b: Unknown rcc8 relation 'nttp'. Did you mean 'NTPP'"):
        from_networkx(RCC8, graph)


def test_what_a_table_unpacks_to_is_bounded(tmp_path, monkeypatch):
    """A sheet, a Parquet file and a packed CSV file of some kilobytes that hold a hundred megabytes."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    same = pyarrow.array(np.zeros(20_000_000, dtype=np.int8))
    parquet.write_table(pyarrow.table({"name": same, "start": same, "end": same}), tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"name,start,end\n" + b"a,1,2\n" * 20_000_000))
    with ZipFile(tmp_path / "a.xlsx", "w", ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b"<a>" * 40_000_000)
    for name in ("a.parquet", "a.csv.gz", "a.xlsx"):
        assert (tmp_path / name).stat().st_size < 1 << 20
        with pytest.raises(BadFile, match=f"{name}: holds .* set EPIGNN_MAX_MB"):
            read_frame(tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_tables_that_are_none(tmp_path, suffix):
    for data in (b"", b"\xff\xfe"):
        (tmp_path / f"a{suffix}").write_bytes(data)
        with pytest.raises(BadFile, match=rf"a{suffix}"):
            read_frame(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("order", ["<", ">"])
def test_names_of_characters_that_there_are_not(network, tmp_path, order):
    path = tmp_path / "facts.npz"
    write_out([network], path)
    with np.load(path) as found:
        arrays = dict(found)
    arrays["names"] = arrays["names"].astype(f"{order}U99")
    np.savez(path, **arrays)
    assert read_arrays(path)[0].names == network.names
    broken = np.full(arrays["names"].shape, 0x110000, dtype=f"{order}u4").view(f"{order}U1")
    np.savez(path, **{**arrays, "names": broken})
    with pytest.raises(BadFile, match="a name in it is no text"):
        read_arrays(path)
