"""Suites of experiments, their records, and the tables and pictures made of them."""
