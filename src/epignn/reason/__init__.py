"""The reasoners that commands and Python users ask."""
