"""Models: tensors in, scores out. Every model is one file here and one line in `MODELS`."""

from types import MappingProxyType

from epignn.entries import Entries

MODELS = Entries(
    "model",
    "epignn.models",
    MappingProxyType(
        {
            "epignn": "epignn.models.epignn:EpiGNN",
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
