"""Cases of the rule of an operator, as rows of a table: types of inputs, and types of outputs or an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from shapeinf.api import infer_shapes
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import DimSize, Scope
from shapeinf.graph import DeclaredType, Graph, Node
from shapeinf.inputs.spec import DimRange
from shapeinf.lattice import PartialTensor
from shapeinf.ops import OpRegistry
from shapeinf.result import Result
from shapeinf.testing.type_text import parse_type
from shapeinf.texts import escape_lines

Operand = str | None | Sequence[Any] | np.ndarray[Any, Any] | int | float
"""The type of an input as text, or its contents (an array, or numbers: int64 or float32); None: it is absent."""

NEWEST = 1 << 20
"""A version after all others."""


def _as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values)


@frozen
class RuleCase:
    """One call of an operator: the types of its inputs, and the types of its outputs or the error of the rule.

    Args:
        op: the operator.
        inputs: the type of each, as `float32[n, 3]` (a shape alone is one of float32, `?` an unknown rank); the
            contents of a constant, as `[2, 3]` or a numpy array; None for an absent input.
        outputs: their exact types, `?` is an unknown rank or size; an empty text is an output that is not used.
        attrs: the attributes.
        error: a part of the error message that the rule reports.
        inferred: the types of inputs after the call, by position: constraints infer backwards.
        dialect: the dialect.
        domain: the domain of the operator.
        version: its version; the newest by default.
        sizes: legal sizes of the names, for the properties and for a run.
        registry: the operators; by default all that are installed.

    >>> print(RuleCase("Transpose", ["float32[n, 3]"], ["float32[3, n]"], {"perm": [1, 0]}).check())
    None
    """

    op: str
    inputs: Sequence[Operand] = field(converter=_as_tuple)
    outputs: Sequence[str] = field(default=(), converter=_as_tuple)
    attrs: Mapping[str, Any] = field(factory=dict)
    error: str = field(default="", kw_only=True)
    inferred: Mapping[int, str] = field(factory=dict, kw_only=True)
    dialect: str = field(default="onnx", kw_only=True)
    domain: str = field(default="", kw_only=True)
    version: int | None = field(default=None, kw_only=True)
    sizes: Mapping[str, int] = field(factory=dict, kw_only=True)
    registry: OpRegistry | None = field(default=None, kw_only=True, repr=False)

    def __str__(self) -> str:
        """The call in short: an id for pytest."""
        operands = ", ".join("_" if x is None else x if isinstance(x, str) else "const" for x in self.inputs)
        listed = "".join(f" {name}={value}" for name, value in self.attrs.items())
        return f"{self.op}({operands}){listed}" + (" is an error" if self.error else "")

    def __attrs_post_init__(self) -> None:
        """Raise ShapeInferenceError for a case that expects neither outputs nor an error."""
        if not self.outputs and not self.error:
            raise ShapeInferenceError(f"{self.op}: a case has the types of outputs, or the error")

    def check(self) -> None:
        """Infer the call. Raises AssertionError where an output, an input or the error differs."""
        __tracebackhide__ = True
        result = self.infer()
        lines = list(self._error_lines(result) if self.error else self._output_lines(result))
        if lines:
            raise AssertionError(escape_lines([str(self), *lines]))

    def infer(self, operands: Sequence[Operand] | None = None, min_dim: int = 1) -> Result:
        """The inference of the call, with these inputs or those of the case."""
        graph = self.graph(self.inputs if operands is None else operands)
        return infer_shapes(graph, registry=self.registry, min_dim=min_dim)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs in the graph: `y0`, `y1`; an unused one has none."""
        count = max(len(self.outputs), 1)
        return tuple(f"y{i}" if not self.outputs or self.outputs[i] else "" for i in range(count))

    def graph(self, operands: Sequence[Operand]) -> Graph:
        """The graph of this one call; input `i` is the value `x{i}`."""
        names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
        graph = Graph(self.op, self.dialect, {self.domain: self.version or NEWEST})
        attributes = {name: tuple(v) if isinstance(v, list) else v for name, v in self.attrs.items()}
        graph.nodes = [Node.make(self.op, tuple(names), self.output_names, attributes, "call", self.domain)]
        graph.outputs = [name for name in self.output_names if name]
        for name, operand in zip(names, operands, strict=True):
            if isinstance(operand, str):
                graph.inputs.append(name)
                graph.declared[name] = declared_type(operand)
            elif operand is not None:
                graph.constants[name] = PartialTensor.from_array(contents_of(operand))
        return graph

    def _error_lines(self, result: Result) -> Iterator[str]:
        errors = [d for d in result.diagnostics if d.severity == "error"]
        if not any(self.error in d.message for d in errors):
            yield f"  expected an error with: {self.error}"
            yield from (f"  instead: {d.message}" for d in result.diagnostics)
            yield from (f"  y{i} is {result.tensors[name]}" for i, name in enumerate(self.output_names) if name)

    def _output_lines(self, result: Result) -> Iterator[str]:
        expected = [(name, text) for name, text in zip(self.output_names, self.outputs, strict=True) if name]
        expected += [(f"x{position}", text) for position, text in self.inferred.items()]
        for name, text in expected:
            if not is_exactly(result, result.tensors[name], text):
                yield f"  {name} is {result.tensors[name]}, expected {text}"
        yield from (f"  {d.render()}" for d in result.diagnostics if d.severity == "error")


def contents_of(operand: Operand) -> np.ndarray[Any, Any]:
    """The array of an operand with contents; floats of Python are float32."""
    array = np.asarray(operand)
    return array.astype(np.float32) if array.dtype == np.float64 and not isinstance(operand, np.ndarray) else array


def declared_type(text: str) -> DeclaredType:
    """The declaration of an input of this type. Raises ShapeInferenceError for a range, which cannot be declared."""
    parsed = parse_type(text, Scope())
    dims = None if parsed.dims is None else tuple(_declared_dim(dim, text) for dim in parsed.dims)
    return DeclaredType(parsed.dtype or "float32", dims)


def _declared_dim(dim: DimSize | DimRange | None, text: str) -> int | str | None:
    if isinstance(dim, DimRange):
        raise ShapeInferenceError(f"{text!r}: the type of an input has sizes, names and ?, no ranges")
    return dim if dim is None or isinstance(dim, int) else str(dim)


def is_exactly(result: Result, info: TensorInfo, text: str) -> bool:
    """Whether a type is exactly that of a text; `?` stands for an unknown size or rank."""
    expected = parse_type(text, result.engine.scope)
    if expected.dtype not in (None, info.dtype):
        return False
    if expected.dims is None or info.shape.dims is None:
        return expected.dims is None and info.shape.dims is None
    return len(expected.dims) == len(info.shape.dims) and all(
        _is_exactly(result, inferred, dim) for inferred, dim in zip(info.shape.dims, expected.dims, strict=True)
    )


def _is_exactly(result: Result, inferred: DimSize, expected: DimSize | DimRange | None) -> bool:
    if expected is None:
        return not isinstance(inferred, int) and inferred.is_anonymous
    if isinstance(expected, DimRange):
        bounds = result.interval(inferred)
        return (bounds.lo, bounds.hi) == (expected.lo or 0, expected.hi)
    return result.engine.store.prove_eq(inferred, expected) is True
