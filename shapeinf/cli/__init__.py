"""The command line: `shapeinf COMMAND ...`, a module a command."""

from shapeinf.cli.main import main

__all__ = ["main"]
