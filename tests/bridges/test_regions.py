"""Regions: relations against coordinates and against real borders, what is repaired, and what is refused."""

import json
import resource
from itertools import combinations

import numpy as np
import pytest

from epignn.bridges.regions import from_geometries, read_regions
from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument, BadFile

shapely = pytest.importorskip("shapely")
RCC8 = load("rcc8")


def by_coordinates(a, b):
    """The relation of two boxes `(x, y, X, Y)` by comparing numbers; written without the code under test."""
    if a == b:
        return "EQ"
    if a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]:
        return "DC"
    if a[2] == b[0] or b[2] == a[0] or a[3] == b[1] or b[3] == a[1]:
        return "EC"
    for one, other, part, deep in ((a, b, "TPP", "NTPP"), (b, a, "TPPI", "NTPPI")):
        if one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]:
            strict = one[0] > other[0] and one[1] > other[1] and one[2] < other[2] and one[3] < other[3]
            return deep if strict else part
    return "PO"


def test_boxes_by_their_coordinates():
    rng = np.random.default_rng(2)
    low = rng.integers(0, 8, size=(60, 2))
    boxes = [tuple(map(int, row)) for row in np.hstack([low, low + rng.integers(1, 6, size=(60, 2))])]
    world = from_geometries([shapely.box(*box) for box in boxes])
    matrix = world.complete().matrix()
    found = {(i, j): RCC8.format(int(matrix[i, j])) for i, j in combinations(range(60), 2)}
    assert found == {(i, j): by_coordinates(boxes[i], boxes[j]) for i, j in combinations(range(60), 2)}
    assert set(found.values()) == set(RCC8.relations) - ({"EQ"} if len(set(boxes)) == 60 else set())
    assert close(world.complete()).answer is Answer.CONSISTENT
    assert "DC" not in str(world.network)


def test_holes_and_parts():
    hollow = shapely.Polygon(shapely.box(0, 0, 9, 9).exterior, [shapely.box(3, 3, 6, 6).exterior])
    two = shapely.union_all([shapely.box(1, 1, 2, 2), shapely.box(20, 0, 21, 1)])
    names = ["hollow", "in the hole", "two parts"]
    world = from_geometries([hollow, shapely.box(3, 3, 6, 6), two], names)
    assert str(world.network) == "EC(hollow, in the hole)\nPO(hollow, two parts)"


def test_rcc5_joins_what_differs_at_the_border():
    boxes = [shapely.box(0, 0, 4, 4), shapely.box(0, 0, 2, 2), shapely.box(4, 0, 6, 4)]
    world = from_geometries(boxes, ["a", "b", "c"], "rcc5")
    assert str(world.network) == "PPI(a, b)\nDR(a, c)"
    with pytest.raises(BadArgument, match="rcc8 or rcc5, not 'allen'"):
        from_geometries(boxes, calculus="allen")


def test_crossing_rings_are_repaired_and_told():
    bow = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    world = from_geometries([bow, shapely.box(2, 0, 3, 2)], ["bow", "box"])
    assert world.notes == ("1 regions whose rings cross themselves were repaired: bow",)
    assert str(world.network) == "EC(bow, box)"


def test_slivers_are_told_and_rounded_away():
    boxes = [shapely.box(0, 0, 1, 1), shapely.box(1 - 1e-9, 0, 2, 1)]
    rough = from_geometries(boxes, ["a", "b"])
    assert str(rough.network) == "PO(a, b)"
    assert "such as PO(a, b)" in rough.notes[0]
    for more in ({"precision": 1e-6}, {"snap": 1e-6}):
        assert str(from_geometries(boxes, ["a", "b"], **more).network) == "EC(a, b)"
    gap = [shapely.box(0, 0, 1, 2), shapely.box(1 + 1e-9, 0.5, 2, 1)]  # corners of one near a side of the other
    assert not len(from_geometries(gap).network)
    snapped = from_geometries(gap, ["a", "b"], snap=1e-6)
    assert str(snapped.network) == "EC(a, b)"
    assert snapped.notes == ("borders were drawn to corners of neighbours within 1e-06",)
    with pytest.raises(BadArgument, match=r"snap is a distance in the units of the map, such as 0\.001, not -1"):
        from_geometries(boxes, snap=-1)


def test_lines_and_points_are_no_regions():
    shapes = [shapely.box(0, 0, 1, 1), shapely.LineString([(0, 0), (1, 1)]), shapely.Point(0, 0)]
    with pytest.raises(BadFile, match=r"x: region 2, 'road', is a LineString; only polygons are.*\(2 in all\)"):
        from_geometries(shapes, ["a", "road", "well"], file="x")
    world = from_geometries(shapes, ["a", "road", "well"], skip_bad=True)
    assert world.notes == ("2 lines, points or empty geometries passed over: road, well",)
    assert world.network.names == ("a",)


def feature(name, shape):
    return {"type": "Feature", "properties": {"name": name, "code": 7}, "geometry": shapely.geometry.mapping(shape)}


def test_geojson(tmp_path):
    path = tmp_path / "r.geojson"
    features = [feature("a", shapely.box(0, 0, 1, 1)), feature("b", shapely.box(1, 0, 2, 1))]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    regions = read_regions(path)
    assert regions.names == ("a", "b")
    assert str(from_geometries(regions.geometries, regions.names).network) == "EC(a, b)"
    with pytest.raises(BadFile, match=r"region 1: Unknown property 'nam'. Did you mean 'name'"):
        read_regions(path, name="nam")
    with pytest.raises(BadFile, match="regions 1 and 2 are both named '7'"):
        read_regions(path, name="code")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.geojson", "[1]", "expected a GeoJSON or TopoJSON object"),
        (
            "r.geojson",
            '{"features": [{"geometry": {"type": "Polygon", "coordinates": 3}}]}',
            "region 1 cannot be read",
        ),
        ("r.geojson", "{", "r.geojson:1:2: not JSON"),
        ("r.kml", "", "expected a file of regions, ending in .geojson"),
        (
            "r.json",
            '{"type": "Topology", "objects": {"land": {}}, "arcs": []}',
            "Unknown layer 'lnd'. Did you mean",
        ),
    ],
)
def test_files_that_are_no_maps(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadFile, match=message.replace("[", r"\[")):
        read_regions(path, layer="lnd" if "Topology" in text else "")


def test_shapefile_and_geopackage_are_read_as_geojson_is(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    shapes = [shapely.box(0, 0, 4, 4), shapely.box(1, 1, 2, 2), shapely.box(4, 4, 5, 5)]
    frame = geopandas.GeoDataFrame({"name": ["a", "b", "c"]}, geometry=shapes, crs=4326)
    expected = "NTPPI(a, b)\nEC(a, c)"
    assert str(from_geometries(frame, "name").network) == expected
    for suffix in ("shp", "gpkg", "geojson"):
        frame.to_file(tmp_path / f"r.{suffix}")
        regions = read_regions(tmp_path / f"r.{suffix}")
        assert str(from_geometries(regions.geometries, regions.names).network) == expected


@pytest.mark.parametrize(("suffix", "at"), [("shx", 24), ("shp", 104)])
def test_a_shapefile_may_lie_about_lengths(tmp_path, suffix, at):
    """It tells of 4 GB of shapes, for which it gets no memory."""
    geopandas = pytest.importorskip("geopandas")
    geopandas.GeoDataFrame({"name": ["a"]}, geometry=[shapely.box(0, 0, 4, 4)], crs=4326).to_file(
        tmp_path / "r.shp"
    )
    data = bytearray((tmp_path / f"r.{suffix}").read_bytes())
    data[at : at + 4] = b"\x7f\xff\xff\xff"
    (tmp_path / f"r.{suffix}").write_bytes(data)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, before[1]))
    try:
        assert read_regions(tmp_path / "r.shp").names == ("a",)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_the_united_states(us_atlas):
    """What every map says: four states meet in one point, and counties are parts of the state of their number."""
    regions = read_regions(us_atlas / "states-10m.json", layer="states")
    world = from_geometries(regions.geometries, regions.names)
    facts = set(str(world.network).splitlines())
    states = ("Arizona", "Colorado", "New Mexico", "Utah")
    assert all(facts & {f"EC({a}, {b})", f"EC({b}, {a})"} for a, b in combinations(states, 2))
    assert {int(mask) for mask in world.network.masks} == {RCC8.parse("EC")}
    assert close(world.complete()).answer is Answer.CONSISTENT


def test_counties_lie_in_their_state(us_atlas):
    regions = read_regions(us_atlas / "counties-10m.json", name="id")
    world = from_geometries(regions.geometries, regions.names, skip_bad=True)
    network: Network = world.network
    parts = {RCC8.parse("TPP"), RCC8.parse("NTPP")}
    inside = [
        (network.names[i], network.names[j])
        for i, j, mask in zip(network.heads, network.tails, network.masks.tolist(), strict=True)
        if mask in parts and network.names[j] != "nation"
    ]
    assert len(inside) > 3200
    assert all(county.startswith(state) for county, state in inside)
    assert any("rings" in note for note in regions.notes)
