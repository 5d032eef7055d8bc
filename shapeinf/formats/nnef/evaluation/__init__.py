"""Evaluates a checked document to a flat list of operations."""
