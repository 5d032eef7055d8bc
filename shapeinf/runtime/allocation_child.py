"""The child process of `allocation_counter`: it runs models in onnxruntime and counts the bytes that they allocate.

    LD_PRELOAD=allocations.so python allocation_child.py

It reads a task as one line of JSON: the path of a model, that of an `.npz` file with its inputs (`x0`, `x1`...), their
names, and options of sessions. It answers with the record of each session, or with `refused`, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

import numpy as np

CACHE_LINE = 64


def main() -> None:
    """Answer tasks until there are no more."""
    import onnxruntime  # noqa: F401  (what it holds itself is no part of a session)

    counter = load_counter()
    for line in sys.stdin:
        task = json.loads(line)
        try:
            with np.load(task["inputs"], allow_pickle=False) as arrays:
                feeds = {name: arrays[f"x{number}"] for number, name in enumerate(task["names"])}
            answer = {"sessions": [count_session(counter, task["path"], feeds, o) for o in task["options"]]}
        except Exception as error:  # of onnxruntime, which has no base class of its own
            answer = {"refused": " ".join(str(error).split()) or type(error).__name__}
        print(json.dumps(answer), flush=True)


def load_counter() -> Any:
    """The functions of the library, which was loaded before Python."""
    counter = ctypes.CDLL(None)
    counter.held_bytes.restype = counter.most_bytes.restype = ctypes.c_size_t
    return counter


def count_session(counter: Any, path: str, feeds: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """What a session and its runs allocate."""
    before = counter.held_bytes()
    counter.start_count()
    session = create_session(path, chosen)
    held, creation = counter.held_bytes(), counter.most_bytes()
    names = [output.name for output in session.get_outputs()]
    peaks, outputs = [], 0
    for _ in range(chosen["runs"]):
        counter.start_count()
        results = session.run(names, feeds)
        peaks.append(counter.most_bytes() - held)
        outputs = sum(-(-getattr(result, "nbytes", 0) // CACHE_LINE) * CACHE_LINE for result in results)
        del results
    return {"held": held - before, "creation": creation - before, "peaks": peaks, "outputs": outputs}


def create_session(path: str, chosen: dict[str, Any]) -> Any:
    """A session on the CPU with these options, without messages."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if chosen["optimized"] else level.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = chosen["arena"]
    options.enable_mem_pattern = chosen["pattern"]
    options.intra_op_num_threads = chosen["threads"]
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    for key, value in chosen["entries"].items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    main()
