"""The NNEF language: parses text to a syntax tree, and prints it."""
