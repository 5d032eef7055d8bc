"""Exit codes, and the one way to stop with a message."""

from __future__ import annotations

import sys
from typing import NoReturn

from shapeinf.cli.output import echo_lines

FINE = 0
FINDINGS = 1
USAGE = 2
FAILED = 3


def stop(code: int, message: str) -> NoReturn:
    """Say what is wrong on stderr and exit."""
    echo_lines(f"error: {message}", err=True)
    sys.exit(code)
