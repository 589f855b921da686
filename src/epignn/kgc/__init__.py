"""Inductive knowledge graph completion: who is the tail of (head, relation, ?) in a graph never seen before.

`triples`, `splits`, `graph`, `negatives`, `rank` and `baselines` are numpy; `heads` and what trains and answers need torch.
"""
