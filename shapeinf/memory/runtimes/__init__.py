"""Runtimes as memory sees them: what their kernels allocate besides the tensors of a model."""
