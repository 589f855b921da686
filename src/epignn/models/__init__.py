"""The learnt model: torch tensors in, torch tensors out. No data, no files."""
