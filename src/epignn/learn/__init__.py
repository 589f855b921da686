"""Training: experiments, the training loop, checkpoints, calibration."""
