"""The child process of `test_preallocation`: the bytes that onnxruntime allocates in a run, with and without buffers.

    LD_PRELOAD=allocations.so python preallocation_child.py MODEL

It runs the model with an input `x` of ones [64, 4] and prints, as JSON, the most bytes of a plain run, and of one
whose outputs are allocated before.
"""

import json
import sys

import numpy as np
import onnxruntime

from shapeinf.runtime import allocate_outputs
from shapeinf.runtime.allocation_child import LibraryCounter


def most_bytes(counter, run):
    before = counter.held
    counter.start()
    results = run()
    most = counter.most - before
    assert results
    return most


def main():
    counter = LibraryCounter()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    feeds = {"x": np.ones((64, 4), np.float32)}
    plain = most_bytes(counter, lambda: session.run(None, feeds))
    outputs = allocate_outputs(session, feeds)
    print(json.dumps([plain, most_bytes(counter, outputs.run)]))


if __name__ == "__main__":
    main()
