"""Arithmetic that dialects share, on dims and on known elements; no operator is named here."""
