"""Work in parts: which items go together, and what is computed again."""

import pytest
import torch

from epignn.models import memory
from epignn.models.memory import compute, fit_together, parts

pytestmark = pytest.mark.numeric


def test_parts_are_as_large_as_they_may_and_kept_while_there_is_room(monkeypatch):
    monkeypatch.setattr(memory, "TOGETHER", 10)
    monkeypatch.setattr(memory, "KEPT", 22)
    taken = torch.tensor([4, 6, 1, 9, 2, 30, 5])
    assert list(parts(taken)) == [(0, 2, True), (2, 4, True), (4, 5, True), (5, 6, False), (6, 7, False)]


def test_the_only_part_is_kept_whatever_it_takes(monkeypatch):
    monkeypatch.setattr(memory, "KEPT", 0)
    assert list(parts(torch.tensor([3, 4]))) == [(0, 2, True)]
    assert list(parts(torch.tensor([], dtype=torch.long))) == []


@pytest.mark.parametrize("taken", [[3], [30], [4, 6], [4, 7], [0, 0, 11]])
def test_what_fits_together_is_one_part(monkeypatch, taken):
    monkeypatch.setattr(memory, "TOGETHER", 10)
    items = torch.tensor(taken)
    assert fit_together(items) == (len(list(parts(items))) == 1)


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_not_kept_is_computed_twice_with_the_same_draws(kept):
    calls = 0

    def drawn(values: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return (values * torch.rand(5)).sin()

    torch.manual_seed(1)
    leaf = torch.ones(5, requires_grad=True)
    compute(kept, drawn, leaf).sum().backward()
    assert calls == (1 if kept else 2)
    torch.manual_seed(1)
    draws = torch.rand(5)
    torch.testing.assert_close(leaf.grad, draws * draws.cos())
    with torch.no_grad():
        compute(kept, drawn, leaf)
    assert calls == (2 if kept else 3)  # without gradients nothing is computed again
