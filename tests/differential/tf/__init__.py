"""Operators of TensorFlow, compared with what its kernels return."""
