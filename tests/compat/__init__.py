"""Tests of the drop-in modules."""
