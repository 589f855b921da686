"""Paths between entities."""

import pytest

from epignn.explain.paths import distances, path_of
from tests.explain.conftest import network_of


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("ec(a,b) ec(b,c)", ("a", "b", "c")),
        ("ec(b,a) ec(c,b)", ("a", "b", "c")),
        ("ec(a,b) ec(b,c) ec(a,c)", ()),
        ("ec(a,b) dc|ec(a,b) ec(b,c)", ()),
        ("ec(a,b) ec(b,c) ec(c,d)", ()),
        ("ec(a,c)", ("a", "c")),
    ],
)
def test_paths(text, path):
    assert path_of(network_of(text), "a", "c") == path


def test_distances_go_either_way(harbour):
    found = {harbour.names[i]: far for i, far in distances(harbour, harbour.position("lake")).items()}
    assert found == {"lake": 0, "city": 1, "old town": 2, "pier": 2, "harbour": 3, "garden": 3}
    assert distances(network_of("ec(a, b) ec(c, d)"), 0) == {0: 0, 1: 1}
