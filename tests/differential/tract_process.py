"""tract in a process of its own, which it may end: the next request starts another one."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class ConstraintStore(NamedTuple):
    """Of the outputs of a model, before it was written as NNEF and after that was read."""

    before: list[str]
    after: list[str]


CHILD = Path(__file__).with_name("tract_child.py")
SECONDS = 60


class Tract:
    """Asks tract to write models as NNEF. Use it as a context, so that no process is left."""

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

    def converted(self, source, target):
        """The types of the outputs where tract writes `source` to `target` and reads that; None where it fails."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        line = self._answer(f"{source}\t{target}\n")
        if not line:
            self.stop()
            return None
        answer = json.loads(line)
        return None if "error" in answer else ConstraintStore(answer["before"], answer["after"])

    def _answer(self, question):
        """A line of JSON; nothing where tract ended its process, or takes too long."""
        try:
            self.process.stdin.write(question)
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        there, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        return self.process.stdout.readline() if there else ""
