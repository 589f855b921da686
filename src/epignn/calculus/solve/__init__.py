"""How networks are closed and solved: kernels compiled, and plain twins."""
