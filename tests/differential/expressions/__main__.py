"""Compare random expressions with a runtime.

    python -m tests.differential.expressions onnxruntime float32 0 10000

Prints the differences, then the counts of expressions, of values compared and of those that are known exactly.
"""

from __future__ import annotations

import sys

from tests.differential.expressions.campaign import Counts, check_onnx, check_tf, programs

if __name__ == "__main__":
    runtime, dtype, first, last = sys.argv[1:]
    counts = Counts()
    for program in programs(dtype, int(first), int(last)):
        for text in (check_onnx if runtime == "onnxruntime" else check_tf)(program, counts):
            print(text, flush=True)
    print(runtime, dtype, counts)
