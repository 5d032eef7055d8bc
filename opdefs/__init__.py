"""The operators, a package a dialect."""
