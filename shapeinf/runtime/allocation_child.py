"""The child process of `allocation_counter`: it runs models in onnxruntime and counts the bytes that they allocate.

    LD_PRELOAD=allocations.so python allocation_child.py

It reads a task as one line of JSON: the path of a model, that of an `.npz` file with its inputs (`x0`, `x1`...), their
names, which of them are sequences, and options of sessions. It answers with the record of each session, or with
`refused`, as JSON.
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
    counter = Counter()
    for line in sys.stdin:
        task = json.loads(line)
        answer: dict[str, Any]
        try:
            with np.load(task["inputs"], allow_pickle=False) as arrays:
                feeds = {name: arrays[f"x{number}"] for number, name in enumerate(task["names"])}
            feeds |= {name: list(feeds[name]) for name in task["sequences"]}
            answer = {"sessions": [count_session(counter, task["path"], feeds, o) for o in task["options"]]}
        except Exception as error:  # of onnxruntime, which has no base class of its own
            answer = {"refused": " ".join(str(error).split()) or type(error).__name__}
        print(json.dumps(answer), flush=True)


class Counter:
    """The functions of the library, which was loaded before Python, for the allocator of tensors."""

    def __init__(self) -> None:
        self.library: Any = ctypes.CDLL(None)
        self.library.held_bytes.restype = self.library.most_bytes.restype = ctypes.c_size_t
        self.kind = self._kind_of_tensors()

    def _kind_of_tensors(self) -> int:
        """The number of the function that allocates a tensor: 0 for `posix_memalign`, 1 for `aligned_alloc`."""
        import onnxruntime

        before = self.library.held_bytes(1)
        tensor = onnxruntime.OrtValue.ortvalue_from_shape_and_type([1 << 16], np.float32)
        kind = int(self.library.held_bytes(1) > before)
        del tensor
        return kind

    @property
    def held(self) -> int:
        """The bytes that are allocated."""
        return int(self.library.held_bytes(self.kind))

    @property
    def most(self) -> int:
        """The most bytes that were allocated since `start`."""
        return int(self.library.most_bytes(self.kind))

    def start(self) -> None:
        """Start to count the most bytes."""
        self.library.start_count()


def count_session(counter: Counter, path: str, feeds: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """What a session and its runs allocate."""
    before = counter.held
    counter.start()
    session = create_session(path, chosen)
    held, creation = counter.held, counter.most
    names = [output.name for output in session.get_outputs()]
    peaks, outputs = [], 0
    for _ in range(chosen["runs"]):
        counter.start()
        results = session.run(names, feeds)
        peaks.append(counter.most - held)
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
