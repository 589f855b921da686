"""Graph convolutions: GCN, GAT, E-GAT and R-GCN, which learn a vector for every node from the edges around it.

A node begins as one of three learnt vectors: head, tail, or other; names play no part. Every edge carries a message
from its source to its target, as it stands in the graph; with `inverse` one goes back, too, under a label of its
own. What head and tail have become is scored by an MLP. The names of tensors end in their axes: B graphs, V nodes,
E edges, R relations, H attention heads, N bases, D and C components of a node and of an edge.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu, relu

from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.batch import GraphBatch

SLOPE = 0.2
"""Of the leaky ReLU in the attention, below zero."""


class Edges(NamedTuple):
    """(E) each: where the edges of a batch begin, where they end, what they say; and how many nodes there are."""

    source: Tensor
    target: Tensor
    label: Tensor
    nodes: int


def edges_of(batch: GraphBatch, relations: int, inverse: bool) -> Edges:
    """The edges of a batch; with `inverse` each backwards, too, where relation r becomes r + `relations`."""
    source, target, label = batch.edges()
    if not inverse:
        return Edges(source, target, label, batch.nodes)
    both = torch.cat([source, target]), torch.cat([target, source])
    return Edges(*both, torch.cat([label, label + relations]), batch.nodes)


def summed(values: Tensor, target: Tensor, nodes: int) -> Tensor:
    """(V, ...): the sum of the values that each node receives."""
    return values.new_zeros((nodes, *values.shape[1:])).index_add(0, target, values)


def glorot(*shape: int) -> nn.Parameter:
    """A matrix, or several, with the initial values of Glorot and Bengio."""
    bound = (6 / (shape[-2] + shape[-1])) ** 0.5
    return nn.Parameter((torch.rand(shape) * 2 - 1) * bound)


# -- the layers --


class GraphConvolution(nn.Module):
    """The layer of Kipf and Welling (2017), with the vector of an edge's relation beside that of its source.

    x_v' = Σ_{u → v} U [W x_u ; e_uv] / √(d_u d_v) + b, where every node is its own neighbour by an edge of vector
    zero, and d_v counts the edges into v, that one included.
    """

    def __init__(self, width: int, edge_width: int) -> None:
        super().__init__()
        self.weight_DD = glorot(width, width)
        self.update = glorot(width + edge_width, width)
        self.bias_D = nn.Parameter(torch.zeros(width))

    def forward(self, nodes_VD: Tensor, edges: Edges, relation_RC: Tensor) -> Tensor:
        """(V, D): the nodes after the layer."""
        source, target, label, nodes = edges
        scale_V = (torch.bincount(target, minlength=nodes) + 1).to(nodes_VD.dtype).rsqrt()
        scale_E = scale_V[source] * scale_V[target]
        # U [W x ; e] = U_x W x + U_e e: the relations are few, and U_x W is one matrix
        width = nodes_VD.shape[1]
        sent_VD, said_RD = nodes_VD @ (self.weight_DD @ self.update[:width]), relation_RC @ self.update[width:]
        messages_ED = (sent_VD.index_select(0, source) + said_RD.index_select(0, label)) * scale_E[:, None]
        return summed(messages_ED, target, nodes) + sent_VD * scale_V[:, None] ** 2 + self.bias_D


class GraphAttention(nn.Module):
    """The layer of Veličković et al. (2018), which attends to the edges, too.

    x_v' = mean over heads of Σ_{u → v} α_uv U [W x_u ; e_uv] + b, where α is the softmax over all edges into v of
    LeakyReLU(a · [W x_v ; W x_u ; e_uv]), and every node is its own neighbour by an edge of vector zero.

    Args:
        width, edge_width: components of a node, and of an edge.
        heads: each with its own W and a; U and b are shared.
        dropout: the share of the α that are left out in training.
    """

    def __init__(self, width: int, edge_width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight_DHD = nn.Parameter(glorot(width, heads * width).detach().view(width, heads, width))
        # a, in three parts: the node that receives, the one that sends, and the edge
        parts = torch.split(glorot(heads, 2 * width + edge_width).detach(), [width, width, edge_width], 1)
        self.to_HD, self.from_HD, self.edge_HC = (nn.Parameter(part.clone()) for part in parts)
        self.update = glorot(width + edge_width, width)
        self.bias_D = nn.Parameter(torch.zeros(width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes_VD: Tensor, edges: Edges, relation_RC: Tensor) -> Tensor:
        """(V, D): the nodes after the layer."""
        source, target, label, nodes = edges
        to_VH, from_VH = (nodes_VD @ (self.weight_DHD * part_HD).sum(-1) for part_HD in (self.to_HD, self.from_HD))
        along_EH = to_VH.index_select(0, target) + from_VH.index_select(0, source)
        along_EH = along_EH + (relation_RC @ self.edge_HC.T).index_select(0, label)
        along_EH, own_VH = self._attention(along_EH, to_VH + from_VH, target)
        # U [W x ; e] = U_x W x + U_e e: the relations are few, and U_x W is one matrix for each head
        width, heads = nodes_VD.shape[1], self.weight_DHD.shape[1]
        update = self.update / heads
        sent_VHD = (nodes_VD @ (self.weight_DHD @ update[:width]).flatten(1)).view(nodes, heads, width)
        said_RD = relation_RC @ update[width:]
        messages_ED = (sent_VHD.index_select(0, source) * along_EH[:, :, None]).sum(1)
        messages_ED = messages_ED + said_RD.index_select(0, label) * along_EH.sum(1, keepdim=True)
        return summed(messages_ED, target, nodes) + (sent_VHD * own_VH[:, :, None]).sum(1) + self.bias_D

    def _attention(self, along_EH: Tensor, own_VH: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """α: the softmax over what each node receives, along edges and from itself."""
        along_EH, own_VH = leaky_relu(along_EH, SLOPE), leaky_relu(own_VH, SLOPE)
        with torch.no_grad():
            most_VH = own_VH.scatter_reduce(0, target[:, None].expand_as(along_EH), along_EH, "amax")
        along_EH, own_VH = (along_EH - most_VH.index_select(0, target)).exp(), (own_VH - most_VH).exp()
        total_VH = summed(along_EH, target, len(own_VH)) + own_VH
        return self.dropout(along_EH / total_VH.index_select(0, target)), self.dropout(own_VH / total_VH)


class RelationalConvolution(nn.Module):
    """The layer of Schlichtkrull et al. (2018): every relation has its own matrix, a mixture of N bases.

    x_v' = W_0 x_v + Σ_r mean_{u →r v} W_r x_u + b, where W_r = Σ_n a_rn B_n.
    """

    def __init__(self, width: int, labels: int, bases: int) -> None:
        super().__init__()
        self.bases_NDD = glorot(bases, width, width)
        self.mixture_RN = glorot(labels, bases)
        self.own_DD = glorot(width, width)
        self.bias_D = nn.Parameter(torch.zeros(width))

    def matrices(self) -> Tensor:
        """(R, D, D): W_r, the same in every round."""
        return torch.einsum("rn,nij->rij", self.mixture_RN, self.bases_NDD)

    def forward(self, nodes_VD: Tensor, sorted_edges: "ByRelation", matrices_RDD: Tensor) -> Tensor:
        """(V, D): the nodes after the layer."""
        source, target, counts, weight_E = sorted_edges
        parts = torch.split(nodes_VD.index_select(0, source), counts)
        messages_ED = torch.cat([part @ matrix for part, matrix in zip(parts, matrices_RDD, strict=True)])
        received = summed(messages_ED * weight_E[:, None], target, len(nodes_VD))
        return nodes_VD @ self.own_DD + received + self.bias_D


class ByRelation(NamedTuple):
    """Edges in order of their relation.

    Attributes:
        source, target: (E) their ends.
        counts: how many of each relation there are.
        weight: (E) one over the number of edges of the same relation into the same node.
    """

    source: Tensor
    target: Tensor
    counts: list[int]
    weight: Tensor


def by_relation(edges: Edges, labels: int, dtype: torch.dtype = torch.float32) -> ByRelation:
    """Edges in order of their relation, of which there are `labels`."""
    label, order = edges.label.sort(stable=True)
    source, target = edges.source[order], edges.target[order]
    _, group, same = torch.unique(target * labels + label, return_inverse=True, return_counts=True)
    counts = torch.bincount(label, minlength=labels).tolist()
    return ByRelation(source, target, counts, same[group].to(dtype).reciprocal())


# -- the models --


@dataclass(frozen=True)
class ConvolutionConfig(ModelConfig):
    """What the four have in common.

    Attributes:
        width: components of a node's vector.
        dropout: the share of components that is left out before every layer, in training.
        inverse: whether messages pass against the direction of edges, too.
    """

    width: int = 100
    dropout: float = 0.6
    inverse: bool = False

    def __post_init__(self) -> None:
        for name in ("width", "edge_width", "rounds", "layers", "heads", "bases"):
            if getattr(self, name, 1) < 1:
                raise BadArgument(f"{name} must be 1 or more, not {getattr(self, name)}.")
        if not 0 <= self.dropout < 1:
            raise BadArgument(f"dropout must be at least 0 and below 1, not {self.dropout}.")


@dataclass(frozen=True)
class GCNConfig(ConvolutionConfig):
    """The settings of GCN; see `ConvolutionConfig`.

    Attributes:
        edge_width: components of a relation's vector.
        rounds: how often the two layers are applied, one after the other. In each round a node hears of what is
            two edges away.
    """

    kind: str = "gcn"
    edge_width: int = 20
    rounds: int = 3


@dataclass(frozen=True)
class GATConfig(GCNConfig):
    """The settings of GAT; see `GCNConfig`.

    Attributes:
        heads: attention heads of the first layer; the second has one.
    """

    kind: str = "gat"
    heads: int = 3


@dataclass(frozen=True)
class EGATConfig(ConvolutionConfig):
    """The settings of E-GAT; see `ConvolutionConfig`. The dropout is that of attention, too.

    Attributes:
        edge_width: components of a relation's vector.
        layers: how many layers there are, each with its own parameters.
        heads: attention heads of every layer.
    """

    kind: str = "egat"
    width: int = 200
    dropout: float = 0.4
    edge_width: int = 200
    layers: int = 6
    heads: int = 2


@dataclass(frozen=True)
class RGCNConfig(ConvolutionConfig):
    """The settings of R-GCN; see `ConvolutionConfig`.

    Attributes:
        layers: how often the one layer is applied.
        bases: how many base matrices there are; the matrix of a relation is a mixture of them.
    """

    kind: str = "rgcn"
    width: int = 64
    dropout: float = 0.0
    inverse: bool = True
    layers: int = 8
    bases: int = 64


class _Convolutions(Model):
    """What the four share: how nodes begin, and how they are scored in the end."""

    def __init__(self, relations: int, config: ConvolutionConfig, pooled: bool) -> None:
        super().__init__(relations, config)
        self.pooled, width = pooled, config.width
        self.labels = 2 * relations if config.inverse else relations
        self.role = nn.Embedding(3, width)  # other, head, tail
        self.dropout = nn.Dropout(config.dropout)
        self.mlp = nn.Sequential(
            nn.Linear((3 if pooled else 2) * width, width), nn.ReLU(), nn.Linear(width, relations)
        )

    def states(self, nodes_VD: Tensor, edges: Edges) -> Tensor:
        """(V, D): the nodes after all layers."""
        raise NotImplementedError

    def scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): high is likely."""
        head, tail = batch.head.long(), batch.tail.long()
        role = torch.zeros(batch.nodes, dtype=torch.long, device=head.device)
        role[head], role[tail] = 1, 2
        states_VD = self.states(self.role(role), edges_of(batch, self.relations, self.config.inverse))
        seen = [states_VD.index_select(0, head), states_VD.index_select(0, tail)]
        if self.pooled:
            size_B = batch.node_offset.diff()[:, None]
            seen.insert(0, summed(states_VD, batch.node_graph, len(batch)) / size_B)
        found: Tensor = self.mlp(torch.cat(seen, 1))
        return found


class GCN(_Convolutions):
    """The graph convolutional network, with relations beside node vectors, as in Sinha et al. (2019).

    Two layers with an ELU between are applied again and again; then the mean of all nodes, the head and the tail
    are scored. The recipe is that of Minervini et al. (2020). What differs from their code: the last linear layer
    is trained (theirs is made in the first forward pass, after the optimiser was given its parameters, and keeps
    its initial values) and has a hidden layer before it; nodes begin as head, tail or other, not by their number;
    degrees count the edges that a node receives, not those it sends; validation chooses the epoch.
    """

    Config = GCNConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                "training.learning_rate=0.001",
                "training.epochs=100",
                "training.batch_size=100",
            )
        }
    )

    def __init__(self, relations: int, config: GCNConfig) -> None:
        super().__init__(relations, config, pooled=True)
        self.relation_RC = glorot(self.labels, config.edge_width)
        self.first, self.second = (self._layer(config, number) for number in range(2))

    def _layer(self, config: Any, number: int) -> nn.Module:
        """One of the two layers of a round."""
        return GraphConvolution(config.width, config.edge_width)

    def states(self, nodes_VD: Tensor, edges: Edges) -> Tensor:
        """(V, D): the nodes after all layers."""
        for _ in range(self.config.rounds):
            nodes_VD = elu(self.first(self.dropout(nodes_VD), edges, self.relation_RC))
            nodes_VD = self.second(self.dropout(nodes_VD), edges, self.relation_RC)
        return nodes_VD


class GAT(GCN):
    """The graph attention network: a GCN whose layers weigh what a node receives by attention.

    Recipe and differences are those of `GCN`.
    """

    Config = GATConfig

    def _layer(self, config: Any, number: int) -> nn.Module:
        """One of the two layers of a round; the second has one head."""
        return GraphAttention(config.width, config.edge_width, 1 if number else config.heads)


class EGAT(_Convolutions):
    """The edge-based graph attention network of Sinha et al. (2020), Graphlog: layers as in GAT, one after another.

    Every layer has its own parameters, with an ELU between; then the mean of all nodes, the head and the tail are
    scored. What differs from the authors' code: nodes begin as head, tail or other, while theirs are drawn anew at
    random in every forward pass, so that one question asked twice gets two answers. The LSTM of nodes and edges
    that the EpiGNN paper mentions is not in that code. How many epochs they trained is not known: as many as GCN.
    """

    Config = EGATConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                "training.learning_rate=0.0001",
                "training.epochs=100",
                "training.batch_size=256",
            )
        }
    )

    def __init__(self, relations: int, config: EGATConfig) -> None:
        super().__init__(relations, config, pooled=True)
        self.relation_RC = glorot(self.labels, config.edge_width)
        self.layers = nn.ModuleList(
            GraphAttention(config.width, config.edge_width, config.heads, config.dropout)
            for _ in range(config.layers)
        )

    def states(self, nodes_VD: Tensor, edges: Edges) -> Tensor:
        """(V, D): the nodes after all layers."""
        for number, layer in enumerate(self.layers):
            nodes_VD = layer(self.dropout(elu(nodes_VD) if number else nodes_VD), edges, self.relation_RC)
        return nodes_VD


class RGCN(_Convolutions):
    """The relational graph convolutional network of Schlichtkrull et al. (2018), one layer applied again and again.

    A ReLU follows each application but the last; then head and tail are scored. Messages pass both ways, as in the
    authors' text. The recipe is that with which the network was run on CLUTRR and RCC-8; its cosine schedule is
    `one_cycle` here, which rises for three tenths of the steps before it falls along a cosine. How many epochs it
    had is not known: as many as GCN. What differs from that code: nodes begin as head, tail or other, while there
    they are drawn anew at random in every forward pass, so that one question asked twice gets two answers.
    """

    Config = RGCNConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                "training.learning_rate=0.001",
                'training.schedule="one_cycle"',
                "training.epochs=100",
            )
        }
    )

    def __init__(self, relations: int, config: RGCNConfig) -> None:
        super().__init__(relations, config, pooled=False)
        self.layer = RelationalConvolution(config.width, self.labels, config.bases)

    def states(self, nodes_VD: Tensor, edges: Edges) -> Tensor:
        """(V, D): the nodes after all layers."""
        sorted_edges = by_relation(edges, self.labels, nodes_VD.dtype)
        matrices_RDD = self.layer.matrices()
        for number in range(self.config.layers):
            nodes_VD = self.layer(self.dropout(relu(nodes_VD) if number else nodes_VD), sorted_edges, matrices_RDD)
        return nodes_VD
