"""Inductive knowledge graph completion: who is the tail of (head, relation, ?) in a graph never seen before.

Reading order: `triples`, `splits`, `graph`; `heads`, `sample`, `train`; `rank`, `evaluate`, `measure`; `answer`.
"""
