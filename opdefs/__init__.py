"""The operators, one package per dialect."""
