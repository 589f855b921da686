"""Data: problems as flat numpy arrays, published files, and a generator for any calculus. No torch."""

from epignn.data.dataset import Dataset, Example
from epignn.data.generate import generate
from epignn.data.star_csv import CsvWriter, read_csv, write_csv
from epignn.data.stream import Problems

__all__ = ["CsvWriter", "Dataset", "Example", "Problems", "generate", "read_csv", "write_csv"]
