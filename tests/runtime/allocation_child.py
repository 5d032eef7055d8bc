"""The child process of `test_allocated_bytes`: runs models in onnxruntime and counts the bytes that they allocate.

    LD_PRELOAD=allocations.so python allocation_child.py

It reads a line of JSON for each model, [path, path of an .npz file with its inputs], and answers with the peaks by
option, as JSON.
"""

import ctypes
import json
import sys

import numpy as np
import onnxruntime

LEVELS = {
    "off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


def load_counter():
    """The functions of `allocations.c`, which was loaded before Python."""
    counter = ctypes.CDLL(None)
    counter.held_bytes.restype = counter.most_bytes.restype = ctypes.c_size_t
    return counter


def peak(counter, path, feeds, level, arena):
    """The highest number of bytes that one run adds to those that the session holds."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.enable_cpu_mem_arena = arena
    options.enable_mem_pattern = False
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    before = counter.held_bytes()
    counter.start_count()
    results = session.run(names, feeds)
    most = counter.most_bytes() - before
    del results
    return most


def main():
    counter = load_counter()
    options = [(level, arena) for level in LEVELS for arena in (False, True)]
    for line in sys.stdin:
        path, inputs = json.loads(line)
        with np.load(inputs) as arrays:
            feeds = dict(arrays)
        names = [f"{level}, {'arena' if arena else 'plain'}" for level, arena in options]
        peaks = [peak(counter, path, feeds, level, arena) for level, arena in options]
        print(json.dumps(dict(zip(names, peaks, strict=True))), flush=True)


if __name__ == "__main__":
    main()
