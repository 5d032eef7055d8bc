"""A process for tract: it answers lines `ONNX model <tab> archive to write`, each with a line of JSON.

tract may abort the process that it runs in. The answer has the types of the model's outputs `before` it is written as
NNEF, and `after` that is read again (ceil_mode, for one, gets lost); or tract's `error`.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def framework() -> Any:
    import tract  # only here: this file is imported where it is looked for examples

    nnef = tract.nnef().with_onnx().with_pulse().with_extended_identifier_syntax()
    return nnef.with_tract_extra().with_tract_transformers()


def store(model: Any) -> list[str]:
    return [model.output_fact(i).dump() for i in range(model.output_count())]


def answer(source: str, target: str) -> dict[str, Any]:
    import tract

    try:
        model = tract.onnx().load(source).into_model()
        before = store(model)
        framework().write_model_to_tar(model, target)
        return {"before": before, "after": store(framework().load(target))}
    except Exception as error:  # tract raises exceptions of any class
        return {"error": str(error).partition("Stack backtrace")[0].strip()}


def main() -> None:
    for line in sys.stdin:
        source, _, target = line.rstrip("\n").partition("\t")
        print(json.dumps(answer(source, target)), flush=True)


if __name__ == "__main__":
    main()
