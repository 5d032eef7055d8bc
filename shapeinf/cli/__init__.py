"""The command line: `shapeinf COMMAND ...`, one module per command."""

from shapeinf.cli.main import main

__all__ = ["main"]
