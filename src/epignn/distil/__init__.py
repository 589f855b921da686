"""Distil: read what a trained model has learnt as symbols, certify it, and reason exactly with it."""
