"""Training: experiments as data, the one training loop, run folders, calibration.

Reading order: `config`, `objectives`, `fit`, `checkpoint`, `calibrate`, `run`.
"""
