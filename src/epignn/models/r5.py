"""R5: rules are found by merging neighbours of walks, with invented relations (Lu et al., ICLR 2022).

Axes: W walks of L relations, P = L-1 windows of two neighbours, R relations, V = R + invented + 1 symbols.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.walks import NOTHING, Walks, distinct, edge_walks

NONE = -1
LITTLE = 1e-6
"""How sure a merge is that no rule covers, and how much a label counts that no walk speaks for."""
GUESS = 0.5
"""How sure a merge into an invented relation is."""


class Rules(NamedTuple):
    """(V, V) each: what every pair is merged into, and how sure that is."""

    head: Tensor
    sure: Tensor


@dataclass(frozen=True)
class R5Config(ModelConfig):
    """The settings of R5.

    Attributes:
        invented: how many relations may be invented; when all are in use, the oldest is forgotten.
        playouts: how many random continuations are tried of each merge, in training.
        explore: how much the policy counts beside the playouts when a merge is chosen.
        rate: how fast the policy learns.
        keep: the share of the evidence that is kept from epoch to epoch.
        episodes: how many walks are merged before rules and policy are changed.
        walks: how many paths of a graph are read, the shortest first.
    """

    invented: int = 40
    playouts: int = 4
    explore: float = 0.1
    rate: float = 0.1
    keep: float = 0.5
    episodes: int = 64
    walks: int = 8

    def __post_init__(self) -> None:
        if min(self.invented, self.playouts, self.episodes, self.walks) < 1:
            raise BadArgument("invented, playouts, episodes and walks of R5 must be 1 or more.")
        if not 0 <= self.keep <= 1 or min(self.explore, self.rate) < 0:
            raise BadArgument("keep of R5 must be between 0 and 1; explore and rate must not be negative.")


class R5(Model):
    """Merges two neighbours of a walk into one relation until one is left. It has no weights: it keeps rules.

    The rule memory has one rule for a pair of relations: the label that most often came of merging it last, or an
    invented relation where no label is known. When a label becomes known, it takes the place of the invented
    relation in all rules. A rule is as sure as the share of its evidence.

    Which pair to merge is found by Monte-Carlo search: every merge is tried, continued to the end by merges drawn
    from the policy, and valued by how sure the rules are that were used; the policy counts, too. After the walk,
    the policy gets a reward of 1 or -1 for the merges that were chosen: whether the label was found. Walks are
    learnt in order of their length. Of several walks of a graph, the one whose rules are surest decides.

    A smaller form than the authors': the tree is searched one merge deep, again after each merge; the policy is a
    number for each pair, not a convolution over all pairs, and playouts stand for its value head; the evidence is
    counted where they add and decay scores by seven constants; rules and policy change after some walks, not
    after each. Outside training, playouts follow the policy without chance.
    """

    Config = R5Config
    recipes = MappingProxyType({"classify": ('objective.loss="cross_entropy"', "training.epochs=5")})
    evidence: Tensor
    invention: Tensor
    policy: Tensor
    oldest: Tensor
    frequency: Tensor

    def __init__(self, relations: int, config: R5Config) -> None:
        super().__init__(relations, config)
        symbols = relations + config.invented + 1  # the last one: no relation that is known
        self.register_buffer("evidence", torch.zeros(symbols, symbols, relations))
        self.register_buffer("invention", torch.full((symbols, symbols), NONE))
        self.register_buffer("policy", torch.zeros(symbols, symbols))
        self.register_buffer("oldest", torch.tensor(0))
        self.register_buffer("frequency", torch.ones(relations))

    @classmethod
    def prepare(cls, data: Dataset, config: R5Config) -> Walks:
        """The shortest walks of every graph."""
        return edge_walks(data, config.walks)

    def rules(self) -> Rules:
        """The rule memory as it is now."""
        most, label = self.evidence.max(2)
        sure = most / (self.evidence.sum(2) + 1)
        known = most > 0
        invented = self.invention != NONE
        unknown = len(self.policy) - 1
        head = torch.where(known, label, torch.where(invented, self.invention, unknown))
        return Rules(head, torch.where(known, sure, torch.where(invented, GUESS, LITTLE)))

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): the logarithm of how sure the surest walk is of each relation, if only of its frequency."""
        relation, which = distinct(batch.relation)
        length = (relation != NOTHING).sum(1)
        found = self.frequency.new_zeros(len(relation), len(self.policy))
        for edges in range(1, relation.shape[1] + 1):
            some = torch.nonzero(length == edges).squeeze(1)
            if len(some):
                found = found.index_copy(0, some, self._votes(relation[some, :edges]))
        found_WR = found[which, : self.relations]
        graph = batch.graph[:, None].expand_as(found_WR)
        sure_BR = found_WR.new_zeros(len(batch), self.relations).scatter_reduce(0, graph, found_WR, "amax")
        return (sure_BR + LITTLE * self.frequency / self.frequency.sum()).log()

    def _votes(self, state_WL: Tensor) -> Tensor:
        """(W, V): how sure the merges of a walk are, by what they end in: the surest of all playouts."""
        rules = self.rules()
        votes = self.policy.new_zeros(len(state_WL), len(self.policy))
        sure_W = self.policy.new_ones(len(state_WL))
        while state_WL.shape[1] > 1:
            end_WP, value_WP = self._tried(rules, state_WL, sure_W, 1)
            votes = votes.scatter_reduce(1, end_WP, value_WP, "amax")
            window = (value_WP + self.config.explore * self._prior(rules, state_WL)).argmax(1)
            state_WL, sure_W = self._merged(rules, state_WL, sure_W, window)
        return votes.scatter_reduce(1, state_WL, sure_W[:, None], "amax")

    def _tried(self, rules: Rules, state_WL: Tensor, sure_W: Tensor, playouts: int) -> tuple[Tensor, Tensor]:
        """(W, P), (W, P): what a playout of each merge ends in, and how sure they are on average.

        One playout follows the policy; several are drawn from it.
        """
        windows = state_WL.shape[1] - 1
        window = torch.arange(windows, device=state_WL.device).repeat(len(state_WL))
        state, sure = self._merged(
            rules, state_WL.repeat_interleave(windows, 0), sure_W.repeat_interleave(windows), window
        )
        total = torch.zeros_like(sure)
        for _ in range(playouts):
            end, value = state, sure
            while end.shape[1] > 1:
                prior = self._prior(rules, end).log()
                if playouts > 1:
                    prior = prior - torch.empty_like(prior).exponential_().log()  # a draw by Gumbel noise
                end, value = self._merged(rules, end, value, prior.argmax(1))
            total = total + value
        return end.reshape(-1, windows), (total / playouts).reshape(-1, windows)

    def _prior(self, rules: Rules, state_WL: Tensor) -> Tensor:
        """(W, P): how likely the policy merges each pair; it prefers sure rules."""
        left, right = state_WL[:, :-1], state_WL[:, 1:]
        return (self.policy[left, right] + rules.sure[left, right].log()).softmax(1)

    @staticmethod
    def _merged(rules: Rules, state_WL: Tensor, sure_W: Tensor, window_W: Tensor) -> tuple[Tensor, Tensor]:
        """(W, L-1), (W): walks with one window merged, and how sure they are then."""
        left, right = (state_WL.gather(1, (window_W + side)[:, None]) for side in (0, 1))
        place = torch.arange(state_WL.shape[1] - 1, device=state_WL.device)
        kept = torch.where(place < window_W[:, None], state_WL[:, :-1], state_WL[:, 1:])
        state = torch.where(place == window_W[:, None], rules.head[left, right], kept)
        return state, sure_W * rules.sure[left, right].squeeze(1)

    def count(self, graphs: Iterable[Walks], epoch: int) -> float:
        """Merge all training walks once, short ones first; the result is the share whose label was not found."""
        relation, label, weight = _gathered(graphs)
        self.evidence *= self.config.keep
        self.frequency.copy_(torch.bincount(label, weight, self.relations))
        length = (relation != NOTHING).sum(1)
        found = weight[length == 1].sum()
        for edges in range(2, relation.shape[1] + 1):
            walks = torch.nonzero(length == edges).squeeze(1)
            for some in torch.split(walks[torch.randperm(len(walks))], self.config.episodes):
                found = found + self._episodes(relation[some, :edges], label[some], weight[some])
        return 1 - float(found / weight.sum())

    def _episodes(self, state_WL: Tensor, label_W: Tensor, weight_W: Tensor) -> Tensor:
        """Merge walks of one length, and learn from it; returns how many came to their labels."""
        chosen, sure_W = [], torch.ones_like(weight_W)
        while state_WL.shape[1] > 2:
            rules = self.rules()
            prior_WP = self._prior(rules, state_WL)
            _, value_WP = self._tried(rules, state_WL, sure_W, self.config.playouts)
            window_W = (value_WP + self.config.explore * prior_WP).argmax(1)
            chosen.append((state_WL, window_W, prior_WP))
            self._invent(state_WL.gather(1, window_W[:, None] + torch.arange(2, device=window_W.device)))
            state_WL, sure_W = self._merged(self.rules(), state_WL, sure_W, window_W)
        found_W = self.rules().head[state_WL[:, 0], state_WL[:, 1]] == label_W
        for state, window, prior in chosen:
            self._reward(state, window, prior, 2.0 * found_W - 1)
        self._learn(state_WL, label_W, weight_W * sure_W)
        return (weight_W * found_W).sum()

    def _reward(self, state_WL: Tensor, window_W: Tensor, prior_WP: Tensor, reward_W: Tensor) -> None:
        """Make merges that were chosen likelier where the label was found, and less likely elsewhere."""
        gradient_WP = -prior_WP.scatter_add(1, window_W[:, None], -torch.ones_like(prior_WP[:, :1]))
        step = self.config.rate * reward_W[:, None] * gradient_WP
        self.policy.index_put_((state_WL[:, :-1], state_WL[:, 1:]), step, accumulate=True)

    def _invent(self, pair_W2: Tensor) -> None:
        """Give pairs without a rule a new relation each."""
        unknown = len(self.policy) - 1
        lacking = (self.rules().head[pair_W2[:, 0], pair_W2[:, 1]] == unknown) & (pair_W2 != unknown).all(1)
        left, right = torch.unique(pair_W2[lacking], dim=0)[: self.config.invented].T
        symbol = self.relations + (self.oldest + torch.arange(len(left), device=left.device)) % self.config.invented
        self.oldest += len(left)
        self._forget(symbol)
        self.invention[left, right] = symbol

    def _forget(self, symbol_S: Tensor) -> None:
        """Make some invented relations as new."""
        self.invention[torch.isin(self.invention, symbol_S)] = NONE
        for table, empty in ((self.evidence, 0), (self.policy, 0), (self.invention, NONE)):
            table[symbol_S] = empty
            table[:, symbol_S] = empty

    def _learn(self, pair_W2: Tensor, label_W: Tensor, weight_W: Tensor) -> None:
        """Count the labels of pairs. Invented relations that have got a label are replaced by it."""
        known = (pair_W2 != len(self.policy) - 1).all(1)
        (left, right), label = pair_W2[known].T, label_W[known]
        self.evidence.index_put_((left, right, label), weight_W[known], accumulate=True)
        while len(twice := torch.nonzero((self.invention != NONE) & (self.evidence.amax(2) > 0))):
            left, right = twice[0]
            symbol, found = self.invention[left, right].clone(), self.evidence[left, right].argmax()
            self.evidence[found] += self.evidence[symbol]
            self.evidence[:, found] += self.evidence[:, symbol]
            self.invention[found] = self._either(self.invention[found], self.invention[symbol])
            self.invention[:, found] = self._either(self.invention[:, found], self.invention[:, symbol])
            self._forget(symbol[None])

    @staticmethod
    def _either(first: Tensor, second: Tensor) -> Tensor:
        return torch.where(first == NONE, second, first)


def _gathered(graphs: Iterable[Walks]) -> tuple[Tensor, Tensor, Tensor]:
    """(W, L), (W), (W): the distinct walks of all graphs with their labels, and how many there are of each."""
    parts = [(part.relation, part.label[part.graph]) for part in graphs]
    wide = max(relation.shape[1] for relation, _ in parts)
    relation = torch.cat([nn.functional.pad(r, (0, wide - r.shape[1]), value=NOTHING) for r, _ in parts])
    label = torch.cat([found for _, found in parts])
    rows, weight = torch.unique(torch.cat([relation, label[:, None]], 1), dim=0, return_counts=True)
    return rows[:, :-1], rows[:, -1], weight.float()
