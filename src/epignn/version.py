"""The one place that says which release this is: the installed package's own metadata."""

from importlib.metadata import version

__version__ = version("epignn")
