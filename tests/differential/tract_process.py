"""tract in a child process, which it may abort; the next conversion starts another one."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class OutputFacts(NamedTuple):
    """tract's facts of the outputs of a model, before it is written as NNEF and after the archive is read."""

    before: list[str]
    after: list[str]


CHILD = Path(__file__).with_name("tract_child.py")
SECONDS = 60
"""The longest time that a conversion may take."""


class Tract:
    """Conversions of models by tract; a context manager, which ends the child process."""

    def __init__(self):
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def convert(self, source, target):
        """Write the ONNX model `source` as the archive `target`. The facts of its outputs; None if tract fails."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        line = self._request(f"{source}\t{target}\n")
        if not line:
            self.stop()
            return None
        answer = json.loads(line)
        return None if "error" in answer else OutputFacts(answer["before"], answer["after"])

    def _request(self, line):
        """The line of JSON for a line of input; empty if tract aborts the process, or takes longer than `SECONDS`."""
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        return self.process.stdout.readline() if ready else ""
