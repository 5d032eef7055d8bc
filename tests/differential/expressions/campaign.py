"""Programs of many expressions, inferred for any sizes and for each binding, against a runtime."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from opdefs.tf import tf
from shapeinf import Result, infer_shapes
from shapeinf.ops import OpRegistry
from tests.differential.expressions import onnx_program, tf_program
from tests.differential.expressions.comparing import differences
from tests.differential.expressions.drawing import Program, draw

REGISTRY = OpRegistry(tf)
EXPRESSIONS = 20
"""Expressions of one program."""


@attrs.define
class Counts:
    """Numbers of expressions, of compared sizes, and of sizes that are numbers in the inference for a binding."""

    expressions: int = 0
    sizes: int = 0
    known: int = 0


def programs(dtype: str, first: int, last: int) -> Iterator[Program]:
    """Programs that have the expressions of these numbers together."""
    for seed in range(first // EXPRESSIONS, -(-last // EXPRESSIONS)):
        yield draw(dtype, seed, EXPRESSIONS)


def check_onnx(program: Program, counts: Counts) -> Iterator[str]:
    """The differences from onnxruntime, with all values as outputs, and with the sizes alone."""
    models = [onnx_program.model_of(program, all_outputs=all_outputs) for all_outputs in (True, False)]
    anywhere = infer_shapes(models[0], mode="strict")
    runs = [onnx_program.run(model, program.bindings) for model in models]
    for sizes, everything, last in zip(program.bindings, *runs, strict=True):
        here = infer_shapes(models[0], mode="strict", inputs={"a": [sizes[0]], "b": [sizes[1]]})
        computed = {k: v.shape[0] if k[0] == "t" else v.reshape(-1)[0].item() for k, v in everything.items()}
        yield from _compare(program, anywhere, here, sizes, computed, counts)
        yield from _compare(program, anywhere, here, sizes, {k: v.shape[0] for k, v in last.items()}, Counts())


def check_tf(program: Program, counts: Counts, recorded: list[list[Any]] | None = None) -> Iterator[str]:
    """The differences from TensorFlow: a run now, or recorded values of all nodes at each binding."""
    anywhere = infer_shapes(tf_program.graph_of(program), mode="strict", registry=REGISTRY)
    for sizes, values in zip(program.bindings, recorded or tf_program.run(program), strict=True):
        here = infer_shapes(tf_program.graph_of(program, sizes), mode="strict", registry=REGISTRY)
        named = list(zip(program.nodes, values, strict=True))
        computed = {f"v{i}:0": v for i, (node, v) in enumerate(named) if node.op not in ("size", "constant")}
        computed |= {f"t{i}:0": v for i, (node, v) in enumerate(named) if node.op == "result"}
        yield from _compare(program, anywhere, here, sizes, computed, counts)


def _compare(
    program: Program, anywhere: Result, here: Result, sizes: tuple[int, int], computed: dict[str, Any], counts: Counts
) -> Iterator[str]:
    results = [name for name in computed if name.startswith("t")]
    if sizes == program.bindings[0]:
        counts.expressions += len(results)
    counts.sizes += len(results)
    counts.known += sum(isinstance(here.tensors[name].shape[0], int) for name in results)
    binding = {"A": sizes[0], "B": sizes[1]}
    for words, result, bound in (("any sizes", anywhere, binding), ("these sizes", here, {})):
        for text in differences(result, computed, bound):
            yield f"{words}, {sizes}: {text}\n{explain(program, text.split()[0])}"


def explain(program: Program, name: str) -> str:
    """The nodes that a value is computed from."""
    number = name.strip("tv").partition(":")[0]
    if not number.isdigit():
        return ""
    waiting, lines = [int(number)], {}
    while waiting:
        index = waiting.pop()
        node = program.nodes[index]
        value = "" if node.value is None else f" {node.value}"
        lines[index] = f"  v{index} = {node.op}{value}({', '.join(f'v{i}' for i in node.operands)}) {node.dtype}"
        waiting += [i for i in node.operands if i not in lines]
    return "\n".join(lines[index] for index in sorted(lines))
