"""Operators whose contents are evaluated, and reasons for all others: a table for each package of operators.

`contents.txt` of a package lists operators below one of REASONS; every other operator is evaluated: where its inputs
are known small tensors, so are its outputs. Operators without outputs, and those whose outputs are handles, sequences
or maps, have no contents. `tests/differential/test_contents_coverage.py` runs a case of each operator that is
evaluated, and compares with its runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from shapeinf.ops import OpDef
from shapeinf.ops.package_data import read_package_text

FILE = "contents.txt"

REASONS: Mapping[str, str] = {
    "complex": "complex numbers",
    "flow": "its bodies are evaluated, and their contents are its contents",
    "identity": "it keeps the contents of its inputs",
    "image": "images, sound, signals, boxes and points: never a size",
    "input": "the contents are an input, or a constant of the file, which is read",
    "internal": "a runtime inserts it when it runs a graph, or tests itself with it",
    "layer": "activations, normalizations, windows, products with weights, losses: data of layers, never a size",
    "learned": "models and encoders of classical machine learning: never a size",
    "linear algebra": "decompositions and solutions of equations, which runtimes approximate",
    "quantized": "quantized numbers and their scales: never a size",
    "random": "random numbers, and memory that is not initialized",
    "sparse": "parts of sparse and ragged tensors",
    "special": "runtimes approximate the function, and no bound of the error is known",
    "state": "what variables, tables, queues, files, devices and other processes hold is known to the run alone",
    "text": "regular expressions, encodings, hashes and formats of text, which libraries of the runtime define",
    "training": "gradients and updates of weights: never a size",
    "xla": "an operator of compiled programs, whose sizes are constants",
}
"""Why contents are not evaluated, by a word."""


@lru_cache(maxsize=8)
def unevaluated(package: str) -> Mapping[str, str]:
    """The word of REASONS for each operator of a package such as `opdefs.onnx`; names may have a domain in front."""
    reasons: dict[str, str] = {}
    reason = ""
    for line in read_package_text(package, FILE).splitlines():
        if line.startswith("["):
            reason = line.strip("[]")
            if reason not in REASONS:
                raise ValueError(f"{FILE} of {package}: {reason!r} is not one of {', '.join(REASONS)}")
        elif not line.startswith("#"):
            reasons.update({name.strip(): reason for name in line.split(",") if name.strip()})
    return reasons


_WITHOUT_CONTENTS = frozenset({"resource", "variant"})


def has_contents(op_def: OpDef) -> bool:
    """Whether an operator may have an output that is a tensor of numbers or strings, as far as its OpDef says so."""
    return any(arg.kind == "tensor" and arg.type not in _WITHOUT_CONTENTS for arg in op_def.outputs)


def qualified_name(op_def: OpDef) -> str:
    """The name of an operator in a table, with its domain in front."""
    return f"{op_def.domain}.{op_def.name}" if op_def.domain else op_def.name
