"""NCRL: a walk is reduced to one relation, two neighbours at a time (Cheng, Ahmed and Sun, ICLR 2023).

Axes: W walks, L relations of a walk, P = L-1 windows, D the width, R relations.
"""

import math
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.walks import NOTHING, Walks, distinct, edge_walks

EQUAL = 1e-4
"""Windows whose scores differ by less are equally likely; the first of them is taken."""

TOGETHER = 1024
"""So many walks are reduced together."""


@dataclass(frozen=True)
class NCRLConfig(ModelConfig):
    """The settings of NCRL.

    Attributes:
        width: components of an embedding; the authors have 1024.
        walks: how many paths of a graph are read, the shortest first.
    """

    width: int = 128
    walks: int = 8

    def __post_init__(self) -> None:
        if min(self.width, self.walks) < 1:
            raise BadArgument("model.width and model.walks must be 1 or more.")


class NCRL(Model):
    """Neural compositional rule learning.

    An LSTM encodes every window of two neighbours of a walk. The likeliest window is composed: both relations give
    way to one vector, the attention of the window over the embeddings of all relations and itself. This is done
    until one window is left; its attention over the relations gives the scores. Of several walks of a graph, the
    log-probabilities are averaged.

    What differs from the authors' code: the layer that chooses a window is trained, which their argmax passes no
    gradient to (in training the window is drawn, and its gradient is that of the softmax); the rest of the walk is
    trained, too, which they detach; gradients are clipped after they are computed, not before; the loss lacks the
    entropy of the attentions, which made walks longer than those of training worse; a walk is not classified as
    "none of the relations". Their width of 1024 and rate of 0.000025 take hours on one core; 128 and 0.003, with
    weight decay, stand for them.
    """

    Config = NCRLConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                'training.schedule="one_cycle"',
                "training.learning_rate=0.003",
                "training.decay=0.1",
                "training.clip=1.0",
                "training.epochs=15",
            )
        }
    )

    def __init__(self, relations: int, config: NCRLConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(relations, config.width)
        self.lstm = nn.LSTM(config.width, config.width, batch_first=True)
        self.likely = nn.Linear(config.width, 1)
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)

    @classmethod
    def prepare(cls, data: Dataset, config: NCRLConfig) -> Walks:
        """The shortest walks of every graph."""
        return edge_walks(data, config.walks)

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): the log-probability of each relation, the mean over the walks of each graph."""
        relation, which = distinct(batch.relation)
        reduced_WD = torch.cat([self._reduced(some) for some in torch.split(relation, TOGETHER)])
        found_WR = self._attention(reduced_WD)[:, :-1].log_softmax(1)[which]
        total = found_WR.new_zeros(len(batch), self.relations).index_add(0, batch.graph, found_WR)
        return total / batch.offset.diff()[:, None]

    def _reduced(self, relation_WL: Tensor) -> Tensor:
        """(W, D): what each walk comes to. The longest begin; shorter ones join when these are as short."""
        length_W = (relation_WL != NOTHING).sum(1)
        longest = int(length_W.max())
        state: Tensor = self.embedding(relation_WL[length_W == longest, :longest])
        for left in range(longest - 1, 0, -1):
            joining = self.embedding(relation_WL[length_W == left, :left])
            state = torch.cat([self._composed(state), joining])
        order = length_W.argsort(descending=True, stable=True)
        return state[order.argsort(), 0]

    def _composed(self, state_WLD: Tensor) -> Tensor:
        """(W, L-1, D): walks whose likeliest window is one vector; the last window remains as it is encoded."""
        windows_WPD = self._encoded(state_WLD)
        if windows_WPD.shape[1] == 1:
            return windows_WPD
        score_WP = self.likely(windows_WPD).squeeze(2)
        if self.training:
            score_WP = score_WP - torch.empty_like(score_WP).exponential_().log()  # a draw by Gumbel noise
        chosen = (score_WP >= score_WP.max(1, keepdim=True).values - EQUAL).byte().argmax(1, keepdim=True)
        soft = score_WP.softmax(1)
        hard = torch.zeros_like(soft).scatter(1, chosen, 1.0)
        window_WD = ((hard + soft - soft.detach())[:, :, None] * windows_WPD).sum(1)
        weight_WR1 = self._attention(window_WD).softmax(1)
        whole_WD = weight_WR1[:, :-1] @ self.embedding.weight + weight_WR1[:, -1:] * window_WD
        place = torch.arange(windows_WPD.shape[1], device=chosen.device)
        kept_WPD = torch.where((place < chosen)[:, :, None], state_WLD[:, :-1], state_WLD[:, 1:])
        return torch.where((place == chosen)[:, :, None], whole_WD[:, None], kept_WPD)

    def _encoded(self, state_WLD: Tensor) -> Tensor:
        """(W, P, D): the last hidden state of the LSTM over each two neighbours."""
        pairs = torch.stack([state_WLD[:, :-1], state_WLD[:, 1:]], 2)  # (W, P, 2, D)
        hidden: Tensor = self.lstm(pairs.flatten(0, 1))[0][:, -1]
        return hidden.reshape(pairs.shape[:2] + pairs.shape[3:])

    def _attention(self, window_WD: Tensor) -> Tensor:
        """(W, R+1): how much each window attends to every relation and, last, to itself; before the softmax."""
        query = self.query(window_WD) / math.sqrt(self.config.width)
        own = (query * self.key(window_WD)).sum(1, keepdim=True)
        return torch.cat([query @ self.key(self.embedding.weight).T, own], 1)
