"""Data: problems and knowledge graphs as flat numpy arrays, and their generators. No files, no torch."""

from epignn.data.dataset import Dataset, Example
from epignn.data.stream import Problems

__all__ = ["Dataset", "Example", "Problems"]
