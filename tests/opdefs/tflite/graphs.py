"""Models of a single operator as graphs, and what is inferred for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from opdefs.tflite import tflite
from shapeinf import Result, infer_shapes
from shapeinf.expr import Interval
from shapeinf.graph import DeclaredType, Graph, Node
from shapeinf.lattice import FloatInterval, PartialTensor, Shape
from shapeinf.ops import OpRegistry
from tests.opdefs.tflite.case import Case, Operand

REGISTRY = OpRegistry(tflite)


def infer_case(
    case: Case, *, symbolic: bool = False, feed: bool = True, fold: bool = False
) -> tuple[Result, dict[str, int]]:
    """The result for a case, and the sizes of its symbols: those of all inputs of the model with `symbolic`.

    With `feed`, the contents that are fed to inputs are constants, with `fold` all inputs.
    """
    names, declared, constants, sizes = [], {}, {}, {}
    for index, operand in enumerate(case.inputs):
        name = "" if operand is None else f"x{index}"
        names.append(name)
        if operand is None:
            continue
        known = fold or operand.constant or (feed and operand.values is not None)
        if known:
            constants[name] = PartialTensor(operand.dtype, Shape(operand.dims), contents(operand))
        else:
            dims = tuple(f"d{index}_{axis}" for axis in range(len(operand.dims))) if symbolic else operand.dims
            if symbolic:
                sizes.update(zip(dims, operand.dims, strict=True))
            declared[name] = DeclaredType(operand.dtype, dims)
    outputs = [f"y{index}" for index in range(len(case.outputs))]
    inputs = list(declared)
    for index, dtype in enumerate(case.outputs):
        declared[outputs[index]] = DeclaredType(dtype, case.declared[index] if case.declared else None)
    node = Node.make(
        case.op, tuple(names), tuple(outputs), {**case.options, "output_types": case.outputs}, "0", domain_of(case)
    )
    graph = Graph(
        "case", "tflite", inputs=inputs, outputs=outputs, nodes=[node], declared=declared, constants=constants
    )
    return infer_shapes(graph, registry=REGISTRY), sizes


def domain_of(case: Case) -> str:
    """The domain of an operator: that of custom ones, which are no names in capitals, is `custom`."""
    return "" if case.op == case.op.upper() else "custom"


def contents(operand: Operand) -> tuple[Any, ...] | None:
    """The contents of a constant, which are zeros by default; None for a large one."""
    if operand.count > 256:
        return None
    if operand.values is not None or operand.data is not None:
        return operand.data if operand.values is None else operand.values
    zero: Any = False if operand.dtype == "bool" else 0.0 if "float" in operand.dtype else 0
    return (zero,) * operand.count if "float" in operand.dtype or "int" in operand.dtype or zero is False else None


def errors(result: Result) -> list[str]:
    """The messages of the errors."""
    return [d.message for d in result.diagnostics if d.severity == "error"]


def compare(case: Case, truth: Mapping[str, Any]) -> list[str]:
    """The differences between what is inferred for a case and what LiteRT does; empty where they agree."""
    if "died" in truth:
        return []
    result, _ = infer_case(case)
    found = [f"concrete: {text}" for text in _differences(case, result, truth)]
    result, sizes = infer_case(case, symbolic=True)
    found += [f"symbolic: {text}" for text in _symbolic_differences(case, result, sizes, truth)]
    result, _ = infer_case(case, feed=False)
    found += [f"unfed: {text}" for text in _contradictions(result, truth)]
    return found + _wrong_contents(case, truth)


def _differences(case: Case, result: Result, truth: Mapping[str, Any]) -> list[str]:
    """The differences at the sizes of the case."""
    refused = errors(result)
    if "refused" in truth:
        return [] if refused else [f"LiteRT refuses: {truth['refused']}"]
    if refused:
        return [f"LiteRT accepts, but: {refused}"]
    found = []
    for index, dims in enumerate(truth["outputs"]):
        info = result.tensors[f"y{index}"]
        if info.shape.dims is None or list(info.shape.dims) != dims:
            found.append(f"output {index} is {info}, LiteRT's {dims}")
        if info.dtype != case.outputs[index]:
            found.append(f"output {index} is {info}, LiteRT's {case.outputs[index]}")
    return found


def folded(case: Case, index: int) -> Sequence[Any] | None:
    """The elements of an output where all inputs are constants; None where they are not known."""
    inference = infer_case(case, fold=True)[0].engine.inference
    type_ = inference.table.types[inference.numbers[inference.compiled.names.index(f"y{index}")]]
    return type_.elements if isinstance(type_, PartialTensor) else None


def _wrong_contents(case: Case, truth: Mapping[str, Any]) -> list[str]:
    """The known elements of outputs that differ from LiteRT's, where all inputs are constants."""
    found = []
    for index, values in enumerate(truth.get("values", ())):
        elements = folded(case, index)
        if values is None or elements is None:
            continue
        pairs = zip(elements, values, strict=True)
        wrong = [(a, b) for a, b in pairs if not _agrees(a, b)]
        found += [f"contents of output {index}: {wrong}"] if wrong else []
    return found


def _agrees(element: Any, number: Any) -> bool:
    if isinstance(element, FloatInterval):
        return isinstance(number, str) or element.low <= number <= element.high
    if isinstance(element, float) and not isfinite(element):
        return repr(element) == number
    return element is None or element == number


def _symbolic_differences(case: Case, result: Result, sizes: Mapping[str, int], truth: Mapping[str, Any]) -> list[str]:
    """The differences of the formulas and of the contract, for inputs whose sizes are symbols."""
    verdict = result.contract.check(sizes).verdict if sizes else None
    if sizes and verdict is not ("refused" not in truth):
        return [f"the contract's verdict is {verdict}, LiteRT: {truth.get('refused', 'accepts')}"]
    if not sizes or "refused" in truth or 0 in sizes.values():  # named dims are at least 1 by default
        return []
    shapes = result.program()(sizes)
    found = []
    for index, dims in enumerate(truth["outputs"]):
        name = f"y{index}"
        text = shapes[name].tolist() if name in shapes else None
        if text not in (None, [dims]):  # None is an unknown: its rank, or a size, depends on sizes
            found.append(f"output {index} is {result.tensors[name]}, {text}, LiteRT's {dims}")
    return found


def _contradictions(result: Result, truth: Mapping[str, Any]) -> list[str]:
    """What is wrong where the contents of inputs are unknown: sizes outside of bounds, errors of what runs."""
    if "refused" in truth:
        return []
    found = [f"LiteRT accepts, but: {text}" for text in errors(result)]
    for index, dims in enumerate(truth["outputs"]):
        shape = result.tensors[f"y{index}"].shape
        if shape.dims is None:
            continue
        if len(shape.dims) != len(dims) or not all(map(_may_be, map(result.interval, shape.dims), dims)):
            found.append(f"output {index} is {shape}, LiteRT's {dims}")
    return found


def _may_be(interval: Interval, size: int) -> bool:
    return (interval.lo is None or interval.lo <= size) and (interval.hi is None or size <= interval.hi)
