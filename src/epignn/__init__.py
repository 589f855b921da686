"""epignn: reasoning about relations, exactly and learnt. Importing it loads no torch."""

from epignn.version import __version__

__all__ = ["__version__"]
