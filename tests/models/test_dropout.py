"""Dropout: how much it leaves out, and that values and gradients agree."""

import pytest
import torch

from epignn.models.dropout import dropout

pytestmark = pytest.mark.numeric
COUNT = 200_003


@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
def test_every_value_is_left_out_in_its_share_and_the_mean_remains(share):
    torch.manual_seed(0)
    found = dropout(torch.ones(COUNT), share, True)
    deviation = (share * (1 - share) / COUNT) ** 0.5
    assert float((found == 0).double().mean()) == pytest.approx(share, abs=5 * deviation)
    assert found[found != 0].unique().item() == pytest.approx(1 / (1 - share), rel=1e-4)
    quarters = found[: COUNT // 4 * 4].view(-1, 4)
    assert ((quarters == 0).double().mean(0) - share).abs().max() < 10 * deviation  # four values share a draw
    both = ((quarters[:, :1] == 0) & (quarters[:, 1:] == 0)).double().mean(0)
    assert (both - share**2).abs().max() < 10 * deviation  # and know nothing of each other


def test_the_gradient_passes_where_values_do():
    torch.manual_seed(0)
    values = torch.arange(1.0, 102.0).requires_grad_()
    found = dropout(values, 0.4, True)
    found.sum().backward()
    torch.testing.assert_close(values.grad, (found / values).detach())


def test_nothing_is_left_out_where_nothing_is_learnt():
    values = torch.arange(5.0)
    assert dropout(values, 0.5, False) is values
    assert dropout(values, 0.0, True) is values


def test_a_seed_decides_what_is_left_out():
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(dropout(torch.ones(1000), 0.5, True))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
