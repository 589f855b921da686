"""A training loop of your own: an R-GCN of PyG, on problems of epignn, scored as its tables are.

    pip install 'epignn[pyg]'
    python examples/own_loop.py

epignn makes the problems, their batches and the figures; model, loss and loop are yours.
"""

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.nn import RGCNConv

from epignn import Dataset, Score, load, pyg_loader, score
from epignn.tasks.star import generated


class RGCN(nn.Module):
    """Messages along the edges, by relation; what is asked is read where they arrive."""

    def __init__(self, relations: int, width: int = 48, layers: int = 5) -> None:
        super().__init__()
        self.start = nn.Embedding(2, width)  # of the head, and of all other nodes
        self.layers = nn.ModuleList(RGCNConv(width, width, relations) for _ in range(layers))
        self.output = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, relations))

    def forward(self, batch: Batch) -> Tensor:
        """(G, R): the score of every relation from head to tail."""
        is_head = torch.zeros(batch.num_nodes, dtype=torch.long).index_fill(0, batch.head_index, 1)
        state = self.start(is_head)
        for layer in self.layers:
            state = state + layer(state, batch.edge_index, batch.edge_type).relu()
        return self.output(state[batch.tail_index])


def main(per_label: int = 200, epochs: int = 10, longest: int = 5) -> Score:
    """Train on paths of 2 and 3 steps, test on longer ones too."""
    torch.manual_seed(0)
    rcc8 = load("rcc8")
    train = Dataset.concat([generated(rcc8, k, b, per_label, seed=1) for k in (2, 3) for b in (1, 2)])
    tests = [generated(rcc8, k, b, 50, seed=2025) for k in range(2, longest + 1) for b in (1, 2)]
    model = RGCN(len(rcc8))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(epochs):
        for batch in pyg_loader(train, batch_size=128, shuffle=True):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(batch), batch.y).backward()
            optimiser.step()
    with torch.no_grad():
        scores = [torch.cat([model(batch) for batch in pyg_loader(test, 512)]) for test in tests]
    return score(scores, tests)


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = main()
    for cell in found.cells:
        print(f"k={cell['k']} b={cell['b']}: {cell['accuracy']:.3f} ({cell['low']:.3f}–{cell['high']:.3f})")
    print(f"average: {found.accuracy:.3f} ({found.low:.3f}–{found.high:.3f})")
