"""XLA's own parser in a process of its own: some texts end the process instead of being refused."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, os, sys
from jaxlib import xla_client
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
for line in sys.stdin:
    try:
        answer = str(xla_client.Shape(json.loads(line)))
    except Exception:
        answer = None
    print(json.dumps(answer), flush=True)
"""


class XlaParser:
    """The text that XLA prints; None where it rejects the input or crashes."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, text: str) -> str | None:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.close()
            return None
        answer: str | None = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.communicate()
            self.process = None
