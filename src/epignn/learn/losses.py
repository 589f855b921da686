"""Losses over candidates, of which one is the answer: relations of a pair, or entities of a question.

Scores are high where likely. `allowed` tells which candidates count; the answer always does.
"""

import torch
from torch import Tensor


def margin(answer_Q: Tensor, others_QC: Tensor, delta: float, allowed_QC: Tensor | None = None) -> Tensor:
    """max(0, CE(x, r) - CE(x, r') + Δ) on the mean over wrong candidates r' (Eq. 19); a score is minus a CE."""
    gaps = (others_QC - answer_Q[:, None] + delta).clamp_min(0)
    if allowed_QC is None:
        return gaps.mean()
    return (gaps * allowed_QC).sum() / allowed_QC.sum().clamp_min(1)


def cross_entropy(
    scores_QC: Tensor, answer_Q: Tensor, temperature: float = 1.0, allowed_QC: Tensor | None = None
) -> Tensor:
    """Softmax cross-entropy of the answers among all candidates; a temperature above 1 asks for larger gaps."""
    logits = scores_QC / temperature
    if allowed_QC is not None:
        logits = logits.masked_fill(~allowed_QC, -torch.inf)
    return torch.nn.functional.cross_entropy(logits, answer_Q)


def binary(scores_QC: Tensor, answer_Q: Tensor, temperature: float = 1.0) -> Tensor:
    """Cross-entropy of a yes or no for each candidate by itself; a score is the log-odds of yes."""
    yes = torch.nn.functional.one_hot(answer_Q, scores_QC.shape[1]).to(scores_QC)
    return torch.nn.functional.binary_cross_entropy_with_logits(scores_QC / temperature, yes)


def adversarial(
    answer_Q: Tensor, others_QC: Tensor, temperature: float, allowed_QC: Tensor | None = None
) -> Tensor:
    """A yes for the answer and a no for each wrong candidate, of which likely ones weigh more.

    The weights of the wrong are a softmax of their own scores, divided by the temperature, and take no gradient;
    all of them together weigh as much as the answer (Sun et al., 2019).
    """
    logits = others_QC if allowed_QC is None else others_QC.masked_fill(~allowed_QC, -torch.inf)
    weight = (logits.detach() / temperature).softmax(1).nan_to_num()  # where none is allowed, none counts
    wrong = (weight * torch.nn.functional.softplus(others_QC)).sum(1)
    return (torch.nn.functional.softplus(-answer_Q) + wrong).mean() / 2
