"""Distil a trained model into symbols that exact reasoning can use: a calculus, or rules where there is none.

A calculus, in reading order: `reading` (what the weights say of every composition), `orbits` (facts of composition,
identity and converse), `evidence` (what training data say of a table), `table` (which facts it has), `calculus`
(the result with its certificate). Rules: `rules` (weighted rules and their files), `reason` (reasoning by rules),
`walks` (training walks), `induce` (rules from weights and walks). Both: `learnt` (from a run folder) and
`evaluate`.
"""
