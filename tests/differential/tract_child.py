"""A child process that runs tract, which may abort it: each line of input is `ONNX model <tab> NNEF archive to write`.

For each line it prints a line of JSON: the facts of the model's outputs `before` it is written as NNEF, and `after` the
archive is read again (they may differ: `ceil_mode` is lost); or the `error` of tract.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def framework() -> Any:
    """The NNEF reader and writer of tract, with all of its extensions."""
    import tract  # not at the top: doctest collection imports this file

    nnef = tract.nnef().with_onnx().with_pulse().with_extended_identifier_syntax()
    return nnef.with_tract_extra().with_tract_transformers()


def output_facts(model: Any) -> list[str]:
    """tract's texts of the types of all outputs."""
    return [model.output_fact(i).dump() for i in range(model.output_count())]


def convert(source: str, target: str) -> dict[str, Any]:
    import tract

    try:
        model = tract.onnx().load(source).into_model()
        before = output_facts(model)
        framework().write_model_to_tar(model, target)
        return {"before": before, "after": output_facts(framework().load(target))}
    except Exception as error:  # tract raises exceptions of any class
        return {"error": str(error).partition("Stack backtrace")[0].strip()}


def main() -> None:
    for line in sys.stdin:
        source, _, target = line.rstrip("\n").partition("\t")
        print(json.dumps(convert(source, target)), flush=True)


if __name__ == "__main__":
    main()
