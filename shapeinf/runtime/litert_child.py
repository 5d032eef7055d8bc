"""A run of LiteRT in a process of its own, which may crash: `python litert_child.py FOLDER`.

`FOLDER/task.json` has the path of the model and, by the index of an input, the file of its array in the folder. The
process writes `FOLDER/done.json`: element type and shape of each tensor of the main subgraph after the run; for a model
that does not run, only `refused`. No delegate runs, so that all tensors exist.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

if __name__ == "__main__":
    del sys.path[0]  # this folder has modules with names of Python's, which numpy imports

import numpy as np


def main(folder: str) -> None:
    """Run the task in a folder."""
    from ai_edge_litert import interpreter

    with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
        task = json.load(file)
    try:
        done = _run(interpreter, task, folder)
    except (RuntimeError, ValueError) as error:
        done = {"refused": " ".join(str(error).split())}
    with open(os.path.join(folder, "done.json"), "w", encoding="utf-8") as file:
        json.dump(done, file)


def _run(package: Any, task: dict[str, Any], folder: str) -> dict[str, Any]:
    model = package.Interpreter(
        task["model"],
        num_threads=1,
        experimental_op_resolver_type=package.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    arrays = {int(index): np.load(os.path.join(folder, name)) for index, name in task["inputs"].items()}
    for index, array in arrays.items():
        model.resize_tensor_input(index, array.shape, strict=False)
    model.allocate_tensors()
    for index, array in arrays.items():
        model.set_tensor(index, array)
    model.invoke()
    details = model.get_tensor_details()
    return {"tensors": {d["index"]: [np.dtype(d["dtype"]).name, list(map(int, d["shape"]))] for d in details}}


if __name__ == "__main__":
    main(sys.argv[1])
