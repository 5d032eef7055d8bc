"""Edits of whole models that keep their meaning: bind, rebatch, diff."""
