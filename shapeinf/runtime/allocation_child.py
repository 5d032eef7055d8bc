"""The child process of `allocation_counter`: it runs models in onnxruntime and counts the bytes that they allocate.

    LD_PRELOAD=allocations.so python allocation_child.py
    python allocation_child.py --pages

It writes an empty line when it is ready. It reads a task as one line of JSON: the path of a model, the folder of its
external data (null: that of the path), the path of an `.npz` file with its inputs (`x0`, `x1`...), their names, which
of them are sequences, and options of sessions. It answers with the record of each session as JSON, or with `refused`,
and whether the model was `loaded`.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any, Protocol

import numpy as np

CACHE_LINE = 64


class LoadError(Exception):
    """onnxruntime creates no session of a model. Internal: caught in `runtime.allocation_child`."""


def main(arguments: list[str]) -> None:
    """Answer tasks until there are no more."""
    counter = PageCounter() if arguments else LibraryCounter()
    print(flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        answer: dict[str, Any]
        try:
            with np.load(task["inputs"], allow_pickle=False) as arrays:
                feeds = {name: arrays[f"x{number}"] for number, name in enumerate(task["names"])}
            feeds |= {name: list(feeds[name]) for name in task["sequences"]}
            answer = {"sessions": [count_session(counter, task, feeds, options) for options in task["options"]]}
        except LoadError as error:
            answer = {"refused": str(error), "loaded": False}
        except Exception as error:  # of onnxruntime, which has no base class of its own
            answer = {"refused": _line(error), "loaded": True}
        print(json.dumps(answer), flush=True)


def _line(error: Exception) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__


class Counter(Protocol):
    """What counts the bytes of this process."""

    @property
    def held(self) -> int:
        """The bytes that are allocated."""

    @property
    def most(self) -> int:
        """The most bytes that were allocated since `start`."""

    def start(self) -> None:
        """Start to count the most bytes."""


class LibraryCounter:
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


class PageCounter:
    """The pages of this process that are in memory, as Linux counts them."""

    def __init__(self) -> None:
        self.trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)
        import onnxruntime  # noqa: F401  (its own pages are none of a session)

        self.start()

    @property
    def held(self) -> int:
        """The bytes of the pages that are in memory."""
        return self._status("VmRSS")

    @property
    def most(self) -> int:
        """The most bytes of pages that were in memory since `start`."""
        return self._status("VmHWM")

    def start(self) -> None:
        """Return free pages to the system, and start to count the most pages."""
        self.trim(0)
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def _status(self, key: str) -> int:
        with open("/proc/self/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(f"{key}:"))


def count_session(
    counter: Counter, task: dict[str, Any], feeds: dict[str, Any], chosen: dict[str, Any]
) -> dict[str, Any]:
    """What a session and its runs allocate."""
    counter.start()
    before = counter.held
    try:
        session = create_session(task["path"], task["folder"], chosen)
    except Exception as error:
        raise LoadError(_line(error)) from error
    creation = counter.most
    names = [output.name for output in session.get_outputs()]
    if isinstance(counter, PageCounter):
        session.run(names, feeds)  # the pages of the code of kernels are read from its file in the first run
    counter.start()
    held = counter.held
    peaks, outputs = [], 0
    for _ in range(chosen["runs"]):
        counter.start()
        results = session.run(names, feeds)
        peaks.append(counter.most - held)
        outputs = sum(-(-getattr(result, "nbytes", 0) // CACHE_LINE) * CACHE_LINE for result in results)
        del results
    return {"held": held - before, "creation": creation - before, "peaks": peaks, "outputs": outputs}


def create_session(path: str, folder: str | None, chosen: dict[str, Any]) -> Any:
    """A session on the CPU with these options, without messages; `folder` has the external data of the model."""
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
    if folder is None:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    with open(path, "rb") as file:
        return onnxruntime.InferenceSession(file.read(), options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    main(sys.argv[1:])
