"""Algorithms that close and solve networks, with compiled kernels or plain ones."""
