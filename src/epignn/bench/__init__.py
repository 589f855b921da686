"""The harness: training, evaluation, records and reports. May import everything else."""
