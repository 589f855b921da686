"""Models: tensors in, scores out. Every model is one file here and one line in `MODELS`."""

from types import MappingProxyType

from epignn.entries import Entries

MODELS = Entries(
    "model",
    "epignn.models",
    MappingProxyType(
        {
            "epignn": "epignn.models.epignn:EpiGNN",
            "majority": "epignn.models.known:Majority",
            "lookup": "epignn.models.known:Lookup",
            "counted": "epignn.models.counted:Counted",
            "counted-em": "epignn.models.counted:CountedEM",
            "rnn": "epignn.models.recurrent:RNN",
            "lstm": "epignn.models.recurrent:LSTM",
            "gru": "epignn.models.recurrent:GRU",
            "rnn-triples": "epignn.models.recurrent:RNNTriples",
            "lstm-triples": "epignn.models.recurrent:LSTMTriples",
            "gru-triples": "epignn.models.recurrent:GRUTriples",
            "gcn": "epignn.models.convolutions:GCN",
            "rgcn": "epignn.models.convolutions:RGCN",
            "gat": "epignn.models.convolutions:GAT",
            "egat": "epignn.models.convolutions:EGAT",
            "nbfnet": "epignn.models.nbfnet:NBFNet",
            "nbfnet-sum": "epignn.models.nbfnet:NBFNetSum",
            "red-gnn": "epignn.models.redgnn:REDGNN",
            "neural-lp": "epignn.models.neural_lp:NeuralLP",
            "drum": "epignn.models.drum:DRUM",
            "rules": "epignn.models.rules:Rules",
            "epignn-rules": "epignn.models.ruled:EpiGNNRules",
            "epignn-walks": "epignn.distil.beside:EpiGNNWalks",
            "grail": "epignn.models.grail:GraIL",
            "edge-transformer": "epignn.models.edge_transformer:EdgeTransformer",
            "ncrl": "epignn.models.ncrl:NCRL",
            "ctp-l": "epignn.models.ctp:LinearCTP",
            "ctp-a": "epignn.models.ctp:AttentiveCTP",
            "ctp-m": "epignn.models.ctp:MemoryCTP",
            "r5": "epignn.models.r5:R5",
            "gntp": "epignn.models.gntp:GNTP",
        }
    ),
)
"""All models by name. The modules are loaded when a model is asked for, torch with them."""
LINKS_ALONE = frozenset({"nbfnet-sum", "red-gnn", "neural-lp", "drum", "rules", "epignn-rules", "grail"})
"""Models that predict links and do not classify graphs."""
REFINED = frozenset({"epignn-walks"})
"""Models that are not trained: `epignn refine` makes them of others."""
LINKS = ("rules", "neural-lp", "drum", "red-gnn", "nbfnet-sum", "nbfnet", "grail")
"""Models beside EpiGNN, with rules and without, that predict links, the quickest first."""
