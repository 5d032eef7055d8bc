"""Whole graphs from TensorFlow's public API, their files, and the shapes of real runs."""
