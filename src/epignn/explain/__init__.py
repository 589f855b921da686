"""Why an answer holds: proofs with a checker of their own, smallest supporting facts, states, pictures.

Only `neural` and `distilled` load torch.
"""
