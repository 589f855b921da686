"""Losses: functions of scores (B, R), where low is likely, and labels (B)."""

import torch
from torch import Tensor
from torch.nn import functional


def margin(scores_BR: Tensor, label_B: Tensor, delta: float, generator: torch.Generator | None = None) -> Tensor:
    """max(0, CE(x, r) - CE(x, r') + Δ) against one random other relation r' (paper, Eq. 17)."""
    relations = scores_BR.shape[1]
    step = torch.randint(1, relations, label_B.shape, generator=generator, device=label_B.device)
    rows = torch.arange(len(label_B), device=label_B.device)
    right, wrong = scores_BR[rows, label_B], scores_BR[rows, (label_B + step) % relations]
    return (right - wrong + delta).clamp_min(0).mean()


def cross_entropy(scores_BR: Tensor, label_B: Tensor, temperature: float = 1.0) -> Tensor:
    """Softmax cross-entropy against all relations at once; a temperature above 1 asks for larger gaps."""
    return functional.cross_entropy(-scores_BR / temperature, label_B)
