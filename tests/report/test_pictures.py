"""Pictures: what stands on axes, in legends and in files, read back from figures and bytes."""

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Text

from epignn.calculus import load
from epignn.errors import BadFile
from epignn.learn.checkpoint import WEIGHTS, RunConfig, save_config, save_tensors
from epignn.learn.config import load_experiment
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.report import pictures
from epignn.report.draw import draw, draw_vectors
from epignn.report.record import read_records
from epignn.report.suites import SUITES, Variant
from tests.report.test_tables import GRID, HOPS, RESULTS, record

RELATIONS = load("rcc8").relations
"""Of the models drawn here."""


def labels(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_lines_are_means_with_bands_over_seeds():
    figure = pictures.accuracy_by_k(
        {"b = 1": [(2, 1.0, 0.9), (5, 0.8, 0.6)], "b = 2": [(2, 0.5), (5, 0.4)]}, "A title"
    )
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("path length k", "accuracy")
    assert figure.get_suptitle() == "A title"
    assert labels(figure) == ["b = 1", "b = 2"]
    assert axes.lines[0].get_ydata() == pytest.approx([0.95, 0.7])
    assert len(axes.collections) == 1  # one seed has no band
    low, high = axes.get_ylim()
    assert low < 0.4
    assert high > 1
    assert axes.get_xticks().tolist() == [2, 5]


def test_more_lines_than_colours_are_all_drawn_and_differ():
    figure = pictures.accuracy_by_k({str(n): [(2, 0.5), (3, 0.01 * n)] for n in range(20)}, "")
    lines = figure.axes[0].lines
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(lines) == 20


def test_panels_share_axes_and_spare_ones_are_hidden():
    curves = {"b = 1": [(2, 1.0), (3, 0.5)]}
    figure = pictures.accuracy_panels(dict.fromkeys("abc", curves), "", reference={"R5": [(2, 0.7), (3, 0.7)]})
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == ["a", "b", "c"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.axes[2].lines[1].get_linestyle() == "--"
    assert labels(figure) == ["b = 1", "R5"]


def test_bars_are_logarithmic_only_where_values_are_wide_apart():
    near = pictures.bars({"a": 10, "b": 30}, "seconds", "").axes[0]
    assert (near.get_xscale(), near.get_xlabel()) == ("linear", "seconds")
    assert [text.get_text() for text in near.texts] == ["10", "30"]
    assert [label.get_text() for label in near.get_yticklabels()] == ["a", "b"]
    far = pictures.bars({"a": 10, "b": 3000}, "seconds", "").axes[0]
    assert (far.get_xscale(), far.get_xlabel()) == ("log", "seconds (logarithmic)")
    assert [patch.get_width() for patch in far.patches] == [10, 3000]


def test_marks_stand_at_their_row_and_published_ones_are_hollow():
    own = {"full": {"average": 0.9, "test": 0.8}, "less": {"average": 0.7, "test": 0.6}}
    figure = pictures.accuracy_by_row(own, {"full": {"test": 0.5}}, ["average", "test"], "")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["full", "less"]
    assert labels(figure) == ["average", "test", "test, published"]
    assert axes.collections[1].get_offsets().tolist() == [[0.8, 0], [0.6, 1]]
    assert axes.collections[2].get_offsets().tolist() == [[0.5, 0]]
    assert len(axes.collections[2].get_facecolor()) == 0


@pytest.mark.parametrize("constrained", [True, False])
def test_rows_of_the_heat_map_are_relations(constrained):
    model = build(EpiGNN, 8, EpiGNNConfig(dim=24, facets=3, constrained=constrained), 1)
    figure = pictures.relation_vectors(model, RELATIONS, "vectors")
    axes, bar = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(RELATIONS)
    image = axes.images[0]
    assert np.array_equal(image.get_array(), model.relation_vectors().detach().numpy().reshape(8, 24))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    assert axes.get_xlabel() == "facet, 8 components each"
    assert bar.get_ylabel() == ("probability" if constrained else "value")
    assert image.get_clim()[0] == (0 if constrained else pytest.approx(-image.get_clim()[1]))


def test_files_are_whole_and_the_same_each_time(tmp_path):
    def written(name):
        path = pictures.save(
            pictures.bars({"a": 1, "b": 2}, "x", "Title"), tmp_path / name / "one.png", also=(".svg",)
        )
        return path.read_bytes(), path.with_suffix(".svg").read_bytes()

    png, svg = written("first")
    assert png[:4] == b"\x89PNG"
    assert "Title" in "".join(ElementTree.fromstring(svg).itertext())
    assert written("second") == (png, svg)
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == ["one.png", "one.svg"]


def test_where_a_picture_cannot_go(tmp_path):
    figure = pictures.bars({"a": 1}, "x", "")
    with pytest.raises(BadFile, match=r"ends with \.png, \.svg, \.pdf"):
        pictures.save(figure, tmp_path / "picture.txt")
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="cannot be a folder"):
        pictures.save(figure, tmp_path / "file" / "one.png")


GRIDS = replace(GRID, cells=((2, 1), (2, 3), (9, 1), (9, 3)), paper=MappingProxyType({}))
MANY = replace(GRIDS, variants=tuple(Variant(f"row {n}", "rcc8", ("x",)) for n in range(6)))
SHARED = replace(HOPS, variants=tuple(Variant(f"{n} rounds", "rcc8", tested=(("rounds", n),)) for n in (5, 9)))
ALL = ["accuracy.png", "accuracy_by_time.png", "parameters.png", "training_time.png"]


@pytest.mark.parametrize(
    ("suite", "names"),
    [
        (GRID, ALL[:1]),
        (HOPS, ALL[:1]),
        (GRIDS, ALL[:1]),
        (MANY, ALL),
        (SHARED, ALL[:1]),
        (replace(MANY, others=True), ALL),
    ],
    ids=["scattered cells", "hops", "grid", "many rows", "one model, tested twice", "models"],
)
def test_a_suite_gets_its_pictures(suite, names, tmp_path):
    cells = dict.fromkeys(suite.cells, 0.9)
    paths = draw(suite, [record(cells, v.name, seed) for v in suite.variants for seed in range(2)], tmp_path)
    assert [path.name for path in paths] == names
    for path in paths:
        assert path.stat().st_size > 5000
        assert path.with_suffix(".svg").exists()


def test_vectors_of_models_that_are_there_and_notes_of_others(tmp_path):
    experiment = load_experiment("rcc8", ["model.dim=16"])
    suite = replace(HOPS, variants=(Variant("ours", "rcc8"), Variant("ours, again", "rcc8"), Variant("gone", "ia")))
    cells = dict.fromkeys(suite.cells, 0.5)
    plain = {"experiment": experiment.to_dict()}
    runs = [{**record(cells, name), **plain} for name in ("ours", "ours, again", "gone")]
    model = build(EpiGNN, 8, experiment.model, 1)
    run = tmp_path / "runs" / f"{suite.variants[0].run}_seed0"
    run.mkdir(parents=True)
    save_config(run, RunConfig(experiment, RELATIONS, 0))
    save_tensors(run / WEIGHTS, model.state_dict())
    paths, missing = draw_vectors(suite, runs, tmp_path / "runs", tmp_path)
    assert [path.name for path in paths] == ["vectors_rcc8.png"]
    assert missing == [f"no heat map for ia: {tmp_path / 'runs' / 'ia_seed0'} holds no model."]
    other = load_experiment("rcc8", ["model.dim=16", "training.epochs=1"])
    save_config(run, RunConfig(other, RELATIONS, 0))
    paths, missing = draw_vectors(suite, runs, tmp_path / "runs", tmp_path)
    assert paths == []
    assert "other settings than the record" in missing[0]


@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if not suite.links])
def test_committed_records_can_be_drawn(name, tmp_path):
    chosen = {variant.name for variant in SUITES[name].variants}
    records = [r for r in read_records(RESULTS / name) if r["variant"] in chosen]
    if not records:
        pytest.skip(f"nothing is recorded of {name}")
    assert draw(SUITES[name], records, tmp_path)[0].name == "accuracy.png"


@pytest.mark.parametrize("count", [1, 5, 40])
def test_names_of_points_do_not_touch(count):
    """As they are drawn; and they are inside the picture, in the order of their points."""
    near = {f"model {n}": (10.0 + n / 1000, 0.9 - n / 1e5) for n in range(count)}
    figure = pictures.points({**near, "far": (1000.0, 0.1)}, "x", "y", "")
    figure.draw_without_rendering()
    texts = sorted(figure.axes[0].texts, key=lambda text: -text.xyann[1])
    assert [text.get_text() for text in texts] == [*near, "far"]
    boxes = [Text.get_window_extent(text) for text in texts]  # without the line to the point
    assert all(lower.y1 <= upper.y0 + 1 for upper, lower in pairwise(boxes))
    assert all(box.y0 >= 0 and box.y1 <= figure.bbox.y1 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_a_map_of_cells_has_every_figure():
    rows = {"a": {"k=2 b=1": 0.5, "average": 0.75}, "b": {"average": 1.0}}
    axes = pictures.cells(rows, "", "cell").axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.50", "0.75", "1.00"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
