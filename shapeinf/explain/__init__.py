"""Provenance on demand: where a dim comes from, and why a shape is unknown."""
