"""Write the corpus: small files of every format, whole ones and those that once made a reader fall.

Run `python tests/fuzz/make_corpus.py` after a change here; the files are committed.
"""

import gzip
import json
import struct
from pathlib import Path

from epignn.bridges.tables import write_out
from epignn.formats.told import Told

CORPUS = Path(__file__).with_name("corpus")
STAR = ",edges,edge_labels,query_edge,query_label\n"
RULES = 'relations = ["a", "b"]\ninvented = []\n'
CALCULUS = (
    'name = "order"\nrelations = "< = >"\nidentity = "="\n{more}\n[converse]\n"<" = ">"\n"=" = "="\n'
    '[composition."<"]\n"<" = "<"\n">" = "*"\n[composition.">"]\n"<" = "*"\n">" = ">"\n'
)
EXPERIMENT = '[data]\ntask = "rcc8"\nk = [2]\nb = [1]\nper_label = 2\n[training]\nepochs = 1\n'
DIGITS, DEEP = "9" * 5000, 3000
GEO = "http://www.opengis.net/ont/geosparql#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
EVENTS = "name,start,end\na,1,4\nb,2024-03-01,\n"


def region(name: str, left: object, right: object) -> str:
    """A rectangle as GeoJSON."""
    ring = f"[[{left}, 0], [{right}, 0], [{right}, 4], [{left}, 4], [{left}, 0]]"
    geometry = f'{{"type": "Polygon", "coordinates": [{ring}]}}'
    return f'{{"type": "Feature", "properties": {{"name": "{name}"}}, "geometry": {geometry}}}'


TEXTS = {
    "whole.txt": 'ec(a, b). ntpp|tpp(b, "New York")  # said twice\ndc(a, c)\n',
    "clash.txt": "ec(a,b). ntpp(a,b)",
    "markup.txt": 'ec("[/]", "[red]x"). dc("[link=x]", "\x1b[31m")',
    "unclosed.txt": 'ec("a, b)',
    "whole.csp": "2 # two\n0 1 ( EC DC )\n1 2 ( TPP )\n.\n",
    "huge.csp": f"{DIGITS} # x\n0 1 ( EC )\n.\n",
    "whole.json": '{"calculus": "rcc8", "entities": ["a", "b"], "facts": [["a", "NTPP|TPP", "b"]]}',
    "qualreas.json": '{"nodes": [["a", ["x"]], ["b", ["x"]]], "edges": [["a", "b", "EC"]]}',
    "digits.json": '{"facts": [["a", "EC", ' + DIGITS + "]]}",
    "deep.json": "[" * DEEP,
    "whole.csv": STAR + '0,"[(0, 1), (1, 2)]","[\'EC\', \'NTPPI\']","(0, 2)",DC\n',
    "space.csv": STAR + '0,"[(0,\u00a01)]","[\'EC\']","(0, 1)",EC\n',
    "formula.csv": STAR + '0,"[(0, 1)]","[\'EC\']","(0, 1)",=cmd|calc\n',
    "clutrr.csv": "id,story_edges,edge_types,query_edge,target,text_target\n"
    "1,\"[(0, 1)]\",\"['son']\",\"(0, 1)\",1,['son']\n",
    "whole.jsonl": '{"edges": [[0, 1, "R_7_+"], [2, 0, "R_4_+"]], "query": [2, 1, "R_6_+"]}\n',
    "digits.jsonl": '{"edges": [[0, ' + DIGITS + ', "R"]], "query": [0, 1, "R"]}\n',
    "deep.jsonl": '{"edges": ' + "[" * DEEP + "\n",
    "whole.tsv": "a\tr\tb\nb\ts\tc\n",
    "whole.geojson": f'{{"features": [{region("a", 0, 4)}, {region("b", 4, 8)}]}}',
    "lone.geojson": '{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 1], [1, 0], [0, 0]]]}',
    "nothing.geojson": '{"type": "Feature", "properties": null, "geometry": null}',
    "infinite.geojson": f'{{"features": [{region("a", 0, "1e999")}]}}',
    "listed.geojson": '{"features": {"a": 1}, "properties": []}',
    "whole.topojson": '{"type": "Topology", "transform": {"scale": [0.5, 0.5], "translate": [1, 2]}, "arcs": '
    '[[[0, 0], [4, 0], [0, 4], [-4, 0], [0, -4]]], "objects": {"land": {"type": "GeometryCollection", '
    '"geometries": [{"type": "Polygon", "arcs": [[0]], "properties": {"name": "a"}}]}}}',
    "broken.topojson": '{"type": "Topology", "arcs": [[1]], "objects": {"a": {"type": "Polygon", "arcs": [[9]]}}}',
    "events.csv": EVENTS,
    "same.csv": EVENTS.replace("b,", "a,"),
    "endless.csv": EVENTS.replace("4\n", "1e999\n"),
    "whole.ttl": f'@prefix g: <{GEO}> .\n<http://x/a> g:sfWithin <http://x/b> . <http://x/b> g:sfTouches "c" .\n',
    "whole.nt": f"<http://x/a> <{GEO}ehMeet> <http://x/b> .\n",
    "whole.jsonld": f'{{"@id": "http://x/a", "{GEO}sfWithin": {{"@id": "http://x/b"}}}}',
    "context.jsonld": '{"@context": "http://127.0.0.1:9/none", "@id": "a"}',
    "whole.rdf": f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:g="{GEO}"><rdf:Description rdf:about="http://x/a">'
    '<g:sfWithin rdf:resource="http://x/b"/></rdf:Description></rdf:RDF>',
    "entities.rdf": f'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "{"&a;" * 10}">]>'
    f'<rdf:RDF xmlns:rdf="{RDF}">&b;</rdf:RDF>',
    "imports.ttl": '<x:a> <http://www.w3.org/2002/07/owl#imports> <file:///imports.ttl> .\n',
    "extends.toml": 'extends = "extends.toml"\n[relations]\n',
    "vocabulary.toml": f'calculus = "rcc8"\nprefix = "{GEO}"\n[relations]\nsfWithin = "tpp|ntpp"\n',
    "odd-vocabulary.toml": 'calculus = 5\nrelations = [1]\n',
    "rules.toml": RULES + 'rules = [{left = "a", right = "b", head = "a", weight = 0.5}]\n[ties]\na = 2\n',
    "listed.toml": RULES + 'rules = [{left = ["a"], right = "b", head = "a", weight = 0.5}]\n',
    "infinite.toml": RULES + 'rules = [{left = "a", right = "b", head = "a", weight = 0.5, support = inf}]\n',
    "digits.toml": RULES + 'rules = [{left = "a", right = "b", head = "a", weight = %s}]\n' % ("9" * 400),
    "ties.toml": RULES + 'rules = []\n[ties]\nc = 2\n',
    "calculus.toml": CALCULUS.replace("{more}", ""),
    "tractable.toml": CALCULUS.replace("{more}", "tractable = 5"),
    "long.toml": CALCULUS.replace("{more}", f"decides = {DIGITS}"),
    "nested.toml": "x = " + "[" * DEEP,
    "experiment.toml": EXPERIMENT,
    "seed.toml": EXPERIMENT.replace("per_label", "seed = -1\nper_label"),
    "digits-experiment.toml": EXPERIMENT + f"patience = {DIGITS}\n",
    "named-experiment.toml": "[name]\nx = 1\n" + EXPERIMENT,
}  # fmt: skip
BYTES = {
    "packed.txt.gz": gzip.compress(TEXTS["whole.txt"].encode(), mtime=0),
    "cut.txt.gz": gzip.compress(TEXTS["whole.txt"].encode(), mtime=0)[:-9],
    "none.tsv.gz": b"a\tr\tb\n",
    "like-gzip.tsv": b"\x1f\x8b\x08a\tr\tb\n",
    "nul.txt": b"ec(a,b)\0",
    "latin.txt": "ec(Zürich, b)".encode("latin-1"),
    "none.parquet": b"PAR1" + bytes(40) + b"PAR1",
    "none.xlsx": b"PK\3\4" + bytes(40),
    "none.npz": b"PK\3\4" + bytes(40),
    "none.gpkg": b"SQLite format 3\0" + bytes(100),
}


def shapes() -> dict[str, bytes]:
    """A shapefile of one square, whose format has been the same since 1998."""
    points = struct.pack("<10d", 0, 0, 0, 4, 4, 4, 4, 0, 0, 0)
    polygon = struct.pack("<i4d2ii", 5, 0, 0, 4, 4, 1, 5, 0) + points
    box = struct.pack("<8d", 0, 0, 4, 4, 0, 0, 0, 0)

    def header(words: int) -> bytes:
        return struct.pack(">7i", 9994, 0, 0, 0, 0, 0, words) + struct.pack("<2i", 1000, 5) + box

    record = struct.pack(">2i", 1, len(polygon) // 2)
    field = struct.pack("<11sc4xBB14x", b"name", b"C", 8, 0)
    table = struct.pack("<B3BIHH20x", 3, 95, 7, 26, 1, 65, 9) + field + b"\r" + b" a       " + b"\x1a"
    whole = header(50 + 4 + len(polygon) // 2) + record + polygon
    index = header(54) + struct.pack(">2i", 50, len(polygon) // 2)
    return {"whole.shp": whole, "whole.shx": index, "whole.dbf": table}


CONFIGS = {
    "nulls": {"experiment": None, "relations": None, "seed": None, "record": None},
    "empty": {},
    "list": [],
    "infinite": {"experiment": {"training": {"clip": float("inf")}}, "relations": ["a"], "seed": 0, "record": {}},
    "forty": {"experiment": {"model": {"facets": 10**9}}, "relations": ["a"], "seed": 0, "record": {}},
    "seed": {"experiment": {}, "relations": ["a"], "seed": 1e400, "record": {}},
    "names": {"experiment": {"name": {"x": 1}}, "relations": [[1]], "seed": 0, "record": {}},
}  # fmt: skip


TABLES = ("whole.npz", "whole.parquet", "whole.xlsx")
"""Written by what is fuzzed; their bytes differ from version to version of the libraries that write them."""


def main() -> None:
    """Write all files."""
    CORPUS.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (CORPUS / name).write_text(text, encoding="utf-8", newline="")
    for name, data in (BYTES | shapes()).items():
        (CORPUS / name).write_bytes(data)
    network = Told.parse(TEXTS["whole.txt"]).network()
    for name in TABLES:
        write_out([network], CORPUS / name)
    for name, config in CONFIGS.items():
        (CORPUS / f"run-{name}").mkdir(exist_ok=True)
        (CORPUS / f"run-{name}" / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (CORPUS / f"run-{name}" / "weights.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")


if __name__ == "__main__":
    main()
