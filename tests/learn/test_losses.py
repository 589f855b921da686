"""Losses by hand."""

import pytest
import torch

from epignn.learn.losses import binary, cross_entropy, margin


def test_margin():
    answer = torch.tensor([0.0, -2.0])
    others = torch.tensor([[-3.0], [-1.0]])
    assert margin(answer, others, 1.0) == pytest.approx((0 + 2) / 2)
    others = torch.tensor([[-3.0, 5.0], [-1.0, -1.5]])
    allowed = torch.tensor([[True, False], [True, True]])
    assert margin(answer, others, 1.0, allowed) == pytest.approx((0 + 2 + 1.5) / 3)


def test_cross_entropy():
    scores = torch.tensor([[0.0, -3.0, 4.0], [-2.0, -1.0, 0.0]])
    answer = torch.tensor([0, 0])
    expected = -torch.log_softmax(scores / 2, 1)[:, 0].mean()
    assert cross_entropy(scores, answer, 2.0) == pytest.approx(float(expected))
    allowed = torch.tensor([[True, True, False], [True, True, True]])
    rows = [torch.log_softmax(scores[0, :2], 0)[0], torch.log_softmax(scores[1], 0)[0]]
    assert cross_entropy(scores, answer, 1.0, allowed) == pytest.approx(-float(sum(rows)) / 2)


def test_binary():
    scores = torch.tensor([[0.0, -3.0], [-2.0, 1.0]])
    odds = scores.div(2).exp()
    yes = odds / (1 + odds)
    expected = -(yes[0, 0].log() + (1 - yes[0, 1]).log() + (1 - yes[1, 0]).log() + yes[1, 1].log()) / 4
    assert binary(scores, torch.tensor([0, 1]), 2.0) == pytest.approx(float(expected))
