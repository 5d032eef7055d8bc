"""A run of ncnn in a process of its own, which may crash: `python ncnn_child.py FOLDER`.

`FOLDER/task.json` has the paths of the `.param` and `.bin` files, and the batch axis of each input and output (233:
none); inputs are the files `FOLDER/NAME.npy`. The process writes `FOLDER/done.json`: the shape of each output, or the
reason why it has none; for a network that does not run, only `refused`.
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
    import ncnn

    with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
        task = json.load(file)
    with open(os.path.join(folder, "done.json"), "w", encoding="utf-8") as file:
        json.dump(_run(ncnn, task, folder), file)


def _run(ncnn: Any, task: dict[str, Any], folder: str) -> dict[str, Any]:
    with ncnn.Net() as net:
        net.opt.num_threads = 1
        if net.load_param(task["param"]) != 0:
            return {"refused": f"ncnn does not load {os.path.basename(task['param'])}"}
        if net.load_model(task["bin"]) != 0:
            return {"refused": f"ncnn does not load {os.path.basename(task['bin'])}"}
        outputs: dict[str, Any] = {}
        with net.create_extractor() as extractor:
            for name, axis in task["inputs"].items():
                array = np.load(os.path.join(folder, f"{name}.npy"), allow_pickle=False)
                if extractor.input(name, ncnn.Mat(array, batch_index=axis).clone()) != 0:
                    return {"refused": f"the network of ncnn has no input {name}"}
            for name, axis in task["outputs"].items():
                code, matrix = extractor.extract(name)
                failed = f"ncnn does not compute it: code {code}"
                outputs[name] = list(matrix.numpy(batch_index=axis).shape) if code == 0 else failed
        return {"outputs": outputs}


if __name__ == "__main__":
    main(sys.argv[1])
