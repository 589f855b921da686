"""The reasoners that commands and Python users ask: a known calculus, a learnt one or rules, and the model itself.

In the manner of scikit-learn: constructors only keep their arguments, `fit` learns from problems with answers and
returns the reasoner, and what was learnt has a name that ends in an underscore. Only `Neural` and `Learnt.fit` load
torch.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from epignn.calculus import ALIASES, CALCULI
from epignn.calculus.algebra import Calculus
from epignn.errors import UnknownName, unknown

if TYPE_CHECKING:
    from epignn.reason.exact import Exact
    from epignn.reason.learnt import Learnt
    from epignn.reason.neural import Neural


def load(name: str, exact: bool = False, **options: float) -> "Exact | Learnt | Neural":
    """The reasoner that a name means.

    Args:
        name: a trained model (a shipped one, or a run folder), a `.toml` file of a calculus or of rules, or a
            calculus that epignn knows.
        exact: by the calculus, where a shipped model has its name.
        options: of `Neural.load`, for a model.

    Raises:
        UnknownName: it is none of these.
    """
    from epignn.distil.rules import load_distilled
    from epignn.reason.exact import Exact
    from epignn.reason.folders import model_folder, shipped_models
    from epignn.reason.learnt import Learnt
    from epignn.reason.neural import Neural

    calculus = ALIASES.get(name.casefold(), name.casefold())
    if not exact and model_folder(name) is not None:
        return Neural.load(calculus if calculus in CALCULI else name, **options)
    if name.endswith(".toml"):
        found = load_distilled(Path(name))
        return Exact(found) if isinstance(found, Calculus) else Learnt.of(found)
    if calculus not in CALCULI:
        told = unknown("model or calculus", name, {*CALCULI, *shipped_models()})
        raise UnknownName(f"{told} Or name a run folder, or a .toml file.")
    return Exact(name)
