"""The one place that says which release this is; the build reads it from here."""

__version__ = "0.1.0"
