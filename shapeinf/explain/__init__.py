"""Provenance on demand: what a dim is computed from, and why a shape is unknown."""
