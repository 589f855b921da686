"""`relate`, `check --against`, `export --prompt`, and `close` with other files: what is printed and written."""

import json

import pytest

from epignn.calculus import load
from epignn.formats.networks import read_networks
from tests.samples import PER_LABEL

pytest.importorskip("shapely")
pytest.importorskip("pandas")

BOXES = {"land": (0, 0, 9, 9), "city": (1, 1, 3, 3), "sea": (9, 0, 20, 9), "isle": (12, 2, 13, 3)}


@pytest.fixture
def regions(tmp_path):
    import shapely

    features = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": json.loads(shapely.to_geojson(shapely.box(*box))),
        }
        for name, box in BOXES.items()
    ]
    path = tmp_path / "regions.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_regions_to_facts(regions, tmp_path, epignn):
    out = tmp_path / "facts.csv"
    found = epignn("relate", regions, "--out", out, "--json")
    assert found.code == 0
    assert json.loads(found.out)["facts"] == {"NTPPI": 2, "EC": 1}
    [network] = read_networks(out, load("rcc8"))
    assert set(str(network).splitlines()) == {"NTPPI(land, city)", "EC(land, sea)", "NTPPI(sea, isle)"}
    epignn("relate", regions, "--out", out, "--every-pair")
    assert len(read_networks(out)[0]) == 6


def test_claims_against_a_map(regions, tmp_path, epignn):
    claims = tmp_path / "claims.txt"
    claims.write_text("ntpp(city, land)\nec(isle, land)\ntpp|ntpp(isle, sea)\n")
    found = epignn("check", claims, "--against", regions)
    assert found.code == 1
    assert f"{claims}:2: ec(isle, land) is not so: DC(isle, land)\n1 claim is refuted." in found.out
    claims.write_text("ntpp(city, land)")
    assert epignn("check", claims, "--against", regions).code == 0
    claims.write_text("ntpp(city, land)\nec(ile, land)")
    found = epignn("check", claims, "--against", regions)
    assert found.code == 2
    assert "claims.txt:2: Unknown entity 'ile'. Did you mean 'isle'" in found.err


def test_events_to_facts(tmp_path, epignn):
    events = tmp_path / "events.csv"
    events.write_text("name,start,end\ndig,2024-03-01,2024-03-08\npour,2024-03-08,\n")
    found = epignn("relate", events, "--json")
    assert json.loads(found.out)["facts"] == {"m": 1}
    events.write_text("name,start,end\ndig,2024-03-01,2024-02-08\n")
    found = epignn("relate", events)
    assert (found.code, "events.csv: row 1: 'dig' ends before it starts" in found.err) == (2, True)
    found = epignn("relate", events, "--start", "begin")
    assert "Unknown column 'begin'" in found.err


def test_what_follows_as_a_table_or_rdf(tmp_path, epignn):
    facts, out = tmp_path / "f.csv", tmp_path / "out.csv"
    facts.write_text("a,relation,b\nx,ntpp,y\ny,ntpp,z\n")
    assert epignn("close", facts, "--out", out, "--inferred").code == 0
    assert out.read_text() == "head,relations,tail\nx,NTPP,z\n"
    found = epignn("close", facts, "--out", tmp_path / "out.ttl")
    assert (found.code, "has no IRIs" in found.err) == (2, True)
    pytest.importorskip("rdflib")
    geo = "http://www.opengis.net/ont/geosparql#"
    (tmp_path / "d.nt").write_text(f"<x:a> <{geo}rcc8ntpp> <x:b> .\n<x:b> <{geo}rcc8ntpp> <x:c> .\n")
    assert epignn("close", tmp_path / "d.nt", "--out", tmp_path / "out.nt").code == 0
    assert f"<x:a> <{geo}rcc8ntpp> <x:c> ." in (tmp_path / "out.nt").read_text()


def test_prompts(files, tmp_path, epignn):
    out = tmp_path / "prompts.jsonl"
    found = epignn(
        "export", files / "rcc8_ia" / "test_rcc8_k_2_b_1.csv.gz", "--prompt", "--out", out, "--limit", 10
    )
    assert found.code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == min(10, 8 * PER_LABEL)
    assert lines[0]["answer"] in lines[0]["choices"] == list(load("rcc8").relations)
    assert lines[0]["prompt"].endswith("Answer with one word.")
    assert "x0" in lines[0]["prompt"]
    facts = tmp_path / "f.txt"
    facts.write_text("ntpp(isle, sea)\nec|dc(sea, land)\n")
    assert epignn("export", facts, "--prompt", "--query", "isle", "land", "--out", out).code == 0
    [one] = [json.loads(line) for line in out.read_text().splitlines()]
    assert one["answer"] == "DC"
    assert one["prompt"].startswith("isle lies well inside sea.\nsea is apart from land, or sea touches land")


def test_prompts_over_words_of_no_calculus(files, tmp_path, epignn):
    file = min((files / "clutrr" / "data_db9b8f04").glob("*test.csv*"))
    out = tmp_path / "prompts.jsonl"
    assert epignn("export", file, "--prompt", "--out", out, "--limit", 3).code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 3
    assert f"{lines[0]['answer']}: y is the {lines[0]['answer']} of x" in lines[0]["prompt"]


def test_pictures(regions, tmp_path, epignn):
    claims, svg, events = tmp_path / "claims.txt", tmp_path / "map.svg", tmp_path / "e.csv"
    assert "The picture is in" in epignn("relate", regions, "--svg", svg, "--only", "land", "--only", "sea").out
    assert set(names_in(svg)) == {"land", "sea"}
    assert "Unknown region 'se'. Did you mean 'sea'" in epignn("relate", regions, "--only", "se").err
    claims.write_text("ec(isle, land)")
    assert epignn("check", claims, "--against", regions, "--svg", svg).code == 1
    assert "1 claim is refuted" in svg.read_text()
    for table in ("a,2024-03-01,2024-03-08\nb,2024-03-08,", "a,1200,1204.5\nb,,1203", "a,1900-01-01,2020-05-05"):
        events.write_text(f"name,start,end\n{table}\n")
        assert epignn("relate", events, "--svg", svg).code == 0
        assert list(names_in(svg)) == [line[0] for line in table.splitlines()]
    pytest.importorskip("rdflib")
    (tmp_path / "d.nt").write_text("<x:a> <http://www.opengis.net/ont/geosparql#rcc8ntpp> <x:b> .\n")
    found = epignn("relate", tmp_path / "d.nt", "--svg", svg)
    assert (found.code, "RDF has no places to draw" in found.err) == (2, True)


def names_in(svg):
    from xml.etree import ElementTree

    return [group.get("data-name") for group in ElementTree.parse(svg).iter() if group.get("class") == "entity"]
