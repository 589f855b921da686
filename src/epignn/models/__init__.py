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
        }
    ),
)
"""All models by name. The modules are loaded when a model is asked for, torch with them."""
