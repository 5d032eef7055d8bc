"""Compare the build of shapeinf that runs this with the source tree around it, on models.

    python tools/check_compiled.py MODELS...

Both must infer the same tensors, diagnostics and contracts; each runs in a process of its own. Prints the models that
differ, and exits with 1 if there are any. Folders are searched for files of all formats.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def describe(path: str) -> dict[str, object]:
    """The tensors, diagnostics and contract of a model as text; the error of a model that is refused."""
    from shapeinf import infer_shapes

    try:
        result = infer_shapes(path)
        return {
            "tensors": {name: repr(info) for name, info in result.tensors.items()},
            "diagnostics": [diagnostic.render() for diagnostic in result.diagnostics],
            "contract": str(result.contract),
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def run(paths: list[str], **variables: str) -> tuple[bool, dict[str, dict[str, object]]]:
    """Whether the build of a process is compiled, and its description of each model."""
    process = subprocess.run(
        [sys.executable, __file__, "--describe"],
        input=json.dumps(paths),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"a build failed with {process.returncode}:\n{process.stderr[-4000:]}")
    compiled, *lines = process.stdout.splitlines()
    return json.loads(compiled), dict(zip(paths, map(json.loads, lines), strict=True))


def models_in(arguments: list[str]) -> list[str]:
    """These files, and the models of all formats in these folders."""
    from shapeinf.formats.model_paths import find_models

    return [os.path.abspath(path) for path in find_models(arguments).paths]


def main() -> int:
    """Compare, or in a child, describe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="files or folders")
    parser.add_argument("--describe", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.describe:
        from shapeinf.compilation import is_compiled

        print(json.dumps(is_compiled()))
        for path in json.load(sys.stdin):
            print(json.dumps(describe(path)), flush=True)
        return 0
    paths = models_in(options.models)
    compiled, here = run(paths)
    pure, there = run(paths, PYTHONPATH=str(ROOT))
    if not compiled or pure:
        print("not compared: the installed build must be the compiled one, the source tree the pure one")
        return 1
    different = [path for path in paths if here[path] != there[path]]
    for path in different:
        parts = {*here[path], *there[path]}
        print(path, *sorted(part for part in parts if here[path].get(part) != there[path].get(part)))
    print(f"{len(paths)} models, {len(different)} different")
    return 1 if different or not paths else 0


if __name__ == "__main__":
    raise SystemExit(main())
