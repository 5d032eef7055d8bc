"""A process that runs command lines where some packages are not installed, and prints what each does as JSON.

`python -m tests.core_only.child NAMES` refuses the packages of these names, separated by commas, and reads lines of
JSON: the arguments of a command. `run_all` starts it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
OPTIONAL = (
    *(
        "ai_edge_litert",
        "dask",
        "distributed",
        "fsspec",
        "google",
        "islpy",
        "matplotlib",
        "ml_dtypes",
        "ncnn",
        "netron",
    ),
    *("omnimalloc", "onnx", "onnx_ir", "onnxruntime", "openvino", "pyarrow", "sympy", "tensorflow", "torch"),
)
"""The packages that an installation without extras does not have."""


class Refuse:
    """An importer that has no packages of some names, whatever is installed."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run_all(lines: Sequence[list[str]], refused: Iterable[str]) -> list[dict[str, Any]]:
    """What each command line does: its exit code, its texts, and the hashes of the files that it writes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.core_only.child", ",".join(refused)],
        input="\n".join(map(json.dumps, lines)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    sys.meta_path.insert(0, Refuse(filter(None, sys.argv[1].split(","))))
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


def run(arguments: list[str]) -> dict[str, Any]:
    from click.testing import CliRunner

    from shapeinf.cli import main as command

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        result = CliRunner().invoke(command, arguments)
        os.chdir(ROOT)
        files = {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }
        texts = (result.stdout.replace(folder, "FOLDER"), result.stderr.replace(folder, "FOLDER"))
    return {"arguments": arguments, "code": result.exit_code, "stdout": texts[0], "stderr": texts[1], "files": files}


if __name__ == "__main__":
    main()
