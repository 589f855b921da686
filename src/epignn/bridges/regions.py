"""Geography: regions from files of maps, and the RCC-8 or RCC-5 relation between every two that meet.

Polygons are compared by the dimensions of what their interiors and boundaries share (DE-9IM); an index finds the
pairs that meet. Lines and points are no regions. Regions that do not meet are disconnected, which the network
leaves unsaid unless every pair is wanted.
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.bridges.world import Regions, World
from epignn.calculus import load
from epignn.calculus.algebra import Masks
from epignn.calculus.network import Network, arrays
from epignn.errors import BadArgument, BadFile, unknown
from epignn.extras import optional
from epignn.files import foreign, load_json, most_bytes, read_text, readable, refuse_above

MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""What a document raises whose parts are not what they should be."""
BEYOND_NUMBERS = np.errstate(all="ignore")
"""Of a corner that is no number, or far beyond all maps, what comes is told as broken."""
SLIVER = 1e-6
"""Of two regions that overlap in a smaller share of the smaller one, it is said that their borders may be rough."""


# -- files --


def read_regions(path: Path, name: str = "", layer: str = "") -> Regions:
    """The regions of a file: `.geojson` or `.json` (also TopoJSON), `.shp`, or `.gpkg`.

    Args:
        path: the file.
        name: the property that names a region; by default `name` or the like, or else its id or number.
        layer: which object of a TopoJSON file, or layer of a GeoPackage; by default all objects, the first layer.

    Raises:
        BadFile: it cannot be read, a property is not there, or two regions have one name; tells which.
    """
    suffix = path.suffix.casefold()
    if suffix not in READERS:
        raise BadFile(f"expected a file of regions, ending in {', '.join(READERS)}.", str(path))
    labels, geometries = [], []
    repairs: Counter[str] = Counter()
    for number, (label, properties, geometry) in enumerate(READERS[suffix](path, layer, repairs)):
        labels.append(_name(label, properties, name, number, path))
        geometries.append(geometry)
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        where = [number + 1 for number, label in enumerate(labels) if label == repeated[0]]
        raise BadFile(
            f"regions {where[0]} and {where[1]} are both named {repeated[0]!r} ({len(repeated):,} names are used "
            "twice); choose another property with --name, or one layer with --layer.",
            str(path),
        )
    column = np.empty(len(geometries), dtype=object)
    column[:] = geometries
    notes = tuple(f"{count:,} {what}" for what, count in repairs.items() if count)
    return Regions(tuple(labels), column, str(path), notes)


Feature = tuple[str, dict[str, Any], Any]
NAMES = ("name", "Name", "NAME", "title", "id")


def _name(label: str, properties: dict[str, Any], name: str, number: int, path: Path) -> str:
    if name and name not in properties and not (name == "id" and label):
        error = unknown("property", name, [*properties, "id"])
        raise BadFile(f"region {number + 1}: {error}", str(path))
    if name == "id" and label:
        return label
    for key in (name,) if name else NAMES:
        if properties.get(key) not in (None, ""):
            return str(properties[key])
    return label or str(number)


def _json(path: Path, layer: str, repairs: Counter[str]) -> list[Feature]:
    shapely = optional("shapely", f"reading {path.name}")
    document = load_json(read_text(path), str(path))
    if not isinstance(document, dict):
        raise BadFile("expected a GeoJSON or TopoJSON object.", str(path))
    if document.get("type") == "Topology":
        try:
            features = _topology(document, layer, path, repairs)
        except MALFORMED as error:
            raise BadFile(f"not TopoJSON as it should be ({type(error).__name__}: {error}).", str(path)) from error
    else:
        features = document.get("features", [document])
    if not isinstance(features, list):
        raise BadFile("its features are no list.", str(path))
    found = []
    for number, feature in enumerate(features, start=1):
        try:
            geometry = shapely.from_geojson(json.dumps(feature.get("geometry", feature), allow_nan=False))
            label = "" if feature.get("id") is None else str(feature["id"])
            found.append((label, dict(feature.get("properties") or {}), geometry))
        except (shapely.errors.GEOSException, *MALFORMED) as error:
            raise BadFile(f"region {number} cannot be read ({error}).", str(path)) from error
    return found


@BEYOND_NUMBERS
def _topology(document: dict[str, Any], layer: str, path: Path, repairs: Counter[str]) -> list[dict[str, Any]]:
    """The features of a TopoJSON document: borders are arcs that neighbours share, so that they fit exactly."""
    objects = document.get("objects", {})
    if layer and layer not in objects:
        raise BadFile(str(unknown("layer", layer, objects)), str(path))
    transform = document.get("transform")
    arcs = []
    for arc in document.get("arcs", []):
        points = np.array([point[:2] for point in arc], dtype=np.float64)
        if transform:  # points are integers, each relative to the one before
            points = np.cumsum(points, axis=0) * transform["scale"] + transform["translate"]
        arcs.append(points.tolist())

    def line(numbers: list[int]) -> list[list[float]]:
        points: list[list[float]] = []
        for number in numbers:
            piece = arcs[number] if number >= 0 else arcs[~number][::-1]
            points += piece[1:] if points else piece
        return points

    def polygon(rings: list[list[int]]) -> list[list[list[float]]]:
        found = [line(numbers) for numbers in rings]
        for points in found:
            if points[0] != points[-1]:
                points.append(points[0])
                repairs["rings that did not close were closed"] += 1
        whole = [points for points in found if len(points) >= 4]
        repairs["rings so small that they have no area were left out"] += len(found) - len(whole)
        return whole if len(found[0]) >= 4 else []

    depth: dict[str, Callable[[Any], Any]] = {
        "Polygon": polygon,
        "MultiPolygon": lambda parts: [rings for part in parts if (rings := polygon(part))],
        "LineString": line,
        "MultiLineString": lambda lines: [line(one) for one in lines],
    }
    features = []
    for key in [layer] if layer else objects:
        members = objects[key].get("geometries", [objects[key]])
        for member in members:
            kind = member.get("type")
            if kind not in depth:
                continue  # a point, or nothing at all: no region
            geometry = {"type": kind, "coordinates": depth[kind](member["arcs"])}
            label = member.get("id", key if len(members) == 1 else None)
            features.append({"id": label, "properties": member.get("properties"), "geometry": geometry})
    return features


def _shapefile(path: Path, layer: str, repairs: Counter[str]) -> list[Feature]:
    shapefile = optional("shapefile", f"reading {path.name}")
    shapely = optional("shapely.geometry", f"reading {path.name}")
    table = path.with_suffix(".dbf")
    _refuse_large(path, table)
    # From memory: a wrong length then ends where the file does, instead of taking gigabytes. The index (.shx) is
    # not needed, since shapes stand in a row.
    with foreign(str(path), "a shapefile"):
        reader = shapefile.Reader(shp=io.BytesIO(path.read_bytes()), dbf=io.BytesIO(table.read_bytes()))
        return [
            ("", one.record.as_dict(), shapely.shape(one.shape.__geo_interface__))
            for one in reader.iterShapeRecords()
        ]


def _geopackage(path: Path, layer: str, repairs: Counter[str]) -> list[Feature]:
    geopandas = optional("geopandas", f"reading {path.name}")
    _refuse_large(path)
    with foreign(str(path), "a GeoPackage"):
        frame = geopandas.read_file(path, **({"layer": layer} if layer else {}))
        records = frame.drop(columns=frame.geometry.name).to_dict("records")
    return [("", record, geometry) for record, geometry in zip(records, frame.geometry, strict=True)]


def _refuse_large(*paths: Path) -> None:
    """Refuse files that are missing, or larger than may be read; the first has to be there."""
    for path in paths:
        with readable(str(path)):
            size = path.stat().st_size if path is paths[0] or path.exists() else 0
        refuse_above(size, most_bytes(), str(path))


READERS: MappingProxyType[str, Callable[[Path, str, Counter[str]], list[Feature]]] = MappingProxyType(
    {".geojson": _json, ".json": _json, ".topojson": _json, ".shp": _shapefile, ".gpkg": _geopackage}
)


# -- relations --


@BEYOND_NUMBERS
def from_geometries(
    geometries: Any,
    names: Sequence[str] | str = "",
    calculus: str = "rcc8",
    precision: float = 0.0,
    file: str = "the regions",
    skip_bad: bool = False,
    snap: float = 0.0,
) -> World:
    """What holds between every two regions that meet.

    Args:
        geometries: of shapely, in any sequence, or a GeoDataFrame.
        names: of each; or the column of the frame that has them.
        calculus: `rcc8` or `rcc5`.
        precision: round borders to this grid first, so that those of neighbours fit; 0 leaves them.
        file: what to call it in messages.
        skip_bad: pass over lines, points and empty geometries, and count them.
        snap: draw borders that are nearer than this to a neighbour's corners to them first; 0 leaves them.

    Raises:
        BadArgument: the precision, or what is near, is negative or no number.
        BadFile: a geometry is no region. Rings that cross themselves are repaired, and counted in the notes.

    >>> from shapely import box
    >>> print(from_geometries([box(0, 0, 4, 4), box(0, 0, 2, 2), box(4, 0, 6, 4)], ["land", "city", "sea"]).network)
    TPPI(land, city)
    EC(land, sea)
    """
    shapely = optional("shapely", "comparing regions")
    if calculus not in ("rcc8", "rcc5"):
        raise BadArgument(f"regions are compared in rcc8 or rcc5, not {calculus!r}.")
    column = geometries.geometry if hasattr(geometries, "geometry") else geometries
    labels = [str(value) for value in (geometries[names] if isinstance(names, str) and names else names or [])]
    shapes = np.array(list(column), dtype=object)
    labels = labels or [str(number) for number in range(len(shapes))]
    if len(labels) != len(shapes):
        raise BadArgument(f"{len(shapes)} regions but {len(labels)} names; each needs one.")
    for what, value in (("precision", precision), ("snap", snap)):
        if not 0 <= value < np.inf:
            raise BadArgument(f"{what} is a distance in the units of the map, such as 0.001, not {value:g}.")
    shapes, kept, notes = _repaired(shapely, shapes, labels, file, skip_bad)
    labels = [labels[number] for number in kept]
    for amount, change, what in (
        (snap, _snapped, "drawn to corners of neighbours within"),
        (precision, _rounded, "rounded to a grid of"),
    ):
        if amount:
            try:
                changed = change(shapely, shapes, amount)
            except shapely.errors.GEOSException as error:  # a grid finer than numbers are, say
                raise BadArgument(f"borders cannot be {what} {amount:g}: {error}. Choose another one.") from error
            shapes, kept, more = _repaired(shapely, changed, labels, file, True)
            labels = [labels[number] for number in kept]
            notes += [f"borders were {what} {amount:g}", *more]
    names_kept = tuple(labels)
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    first, second = first[first < second], second[first < second]
    masks, order = _rcc8(shapely, shapes, first, second), np.lexsort((second, first))
    network = Network(load("rcc8"), names_kept, *arrays(first[order], second[order], masks[order]))
    notes += _slivers(shapely, shapes, network)
    chosen = load(calculus)
    if calculus == "rcc5":
        network = Network(chosen, names_kept, network.heads, network.tails, _coarser(network.masks))
    apart = chosen.parse("DC" if calculus == "rcc8" else "DR")
    return World(network, apart, tuple(notes), Regions(names_kept, shapes, file))


def _repaired(
    shapely: Any, shapes: Any, names: list[str], file: str, skip_bad: bool
) -> tuple[Any, list[int], list[str]]:
    """Regions that can be compared, which they are, and what was done."""
    notes = []
    broken = ~shapely.is_valid(shapes) & (shapely.get_dimensions(shapes) == 2)
    if broken.any():
        shapes = shapes.copy()
        shapes[broken] = [_area(shapely, shape) for shape in shapely.make_valid(shapes[broken])]
        notes.append(
            f"{int(broken.sum()):,} regions whose rings cross themselves were repaired{_some(names, broken)}"
        )
    wrong = (shapely.get_dimensions(shapes) != 2) | shapely.is_empty(shapes) | shapely.is_missing(shapes)
    if wrong.any() and not skip_bad:
        number = int(np.argmax(wrong))
        shape = shapes[number]
        kind = "nothing" if shape is None or shape.is_empty else f"a {shape.geom_type}"
        raise BadFile(
            f"region {number + 1}, {names[number]!r}, is {kind}; only polygons are regions. --skip-bad passes over "
            f"such ones ({int(wrong.sum()):,} in all).",
            file,
        )
    if wrong.any():
        notes.append(f"{int(wrong.sum()):,} lines, points or empty geometries passed over{_some(names, wrong)}")
    kept = np.flatnonzero(~wrong)
    return shapes[kept], kept.tolist(), notes


def _rounded(shapely: Any, shapes: Any, grid: float) -> Any:
    """Regions with all corners on a grid."""
    return shapely.set_precision(shapes, grid)


def _snapped(shapely: Any, shapes: Any, near: float) -> Any:
    """Regions with borders drawn to the corners of those neighbours that are nearer than some distance."""
    shapes = shapes.copy()
    first, second = shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=near)
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        if i < j:  # the later one to the earlier, and then back, so that both have the corners of both
            shapes[j] = shapely.snap(shapes[j], shapes[i], near)
            shapes[i] = shapely.snap(shapes[i], shapes[j], near)
    return shapes


def _area(shapely: Any, shape: Any) -> Any:
    """The polygons of a geometry: a ring that was repaired may have left lines over."""
    parts = shapely.get_parts(shape)
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def _some(names: list[str], chosen: NDArray[np.bool_]) -> str:
    shown = [names[number] for number in np.flatnonzero(chosen)[:3]]
    return f": {', '.join(shown)}{' and others' if chosen.sum() > len(shown) else ''}"


def _rcc8(shapely: Any, shapes: Any, first: Any, second: Any) -> Masks:
    """RCC-8 relations of pairs that meet, from the nine intersections of interior, boundary and exterior."""
    texts = np.asarray(shapely.relate(shapes[first], shapes[second]), dtype="S9")
    cells = texts.view("S1").reshape(len(texts), 9) != b"F" if len(texts) else np.zeros((0, 9), dtype=bool)
    interiors, borders = cells[:, 0], cells[:, 4]
    within, around = ~cells[:, 2] & ~cells[:, 5], ~cells[:, 6] & ~cells[:, 7]
    rcc8 = load("rcc8")
    kinds = {"EC": ~interiors, "EQ": within & around, "TPP": within & borders, "NTPP": within}
    kinds |= {"TPPI": around & borders, "NTPPI": around}
    result: Masks = np.select(
        list(kinds.values()), [np.uint64(rcc8.parse(name)) for name in kinds], np.uint64(rcc8.parse("PO"))
    ).astype(np.uint64)
    return result


def _coarser(masks: Masks) -> Masks:
    """RCC-5 relations for those of RCC-8."""
    from epignn.calculus.calculi.rcc import COARSE

    rcc8, result = load("rcc8"), np.zeros_like(masks)
    for r, fine in enumerate(COARSE.values()):
        result |= np.where((masks & np.uint64(rcc8.parse(fine))) != 0, np.uint64(1 << r), np.uint64(0))
    return result


def _slivers(shapely: Any, shapes: Any, network: Network) -> list[str]:
    """A note on regions that overlap so little that their borders may only be drawn roughly."""
    overlap = np.flatnonzero(network.masks == np.uint64(network.calculus.parse("PO")))
    a, b = shapes[network.heads[overlap]], shapes[network.tails[overlap]]
    shared = shapely.area(shapely.intersection(a, b))
    thin = overlap[shared < SLIVER * np.minimum(shapely.area(a), shapely.area(b))]
    if not len(thin):
        return []
    return [
        f"{len(thin):,} pairs overlap in less than a millionth of the smaller region, such as "
        f"{network.fact(int(thin[0]))}: if their borders should fit, use --snap or --precision"
    ]
