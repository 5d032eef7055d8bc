"""Assertions about models: the shapes of their tensors, and that they pass all checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shapeinf.api import infer, infer_shapes
from shapeinf.checks import Selection, check
from shapeinf.diagnostics import Diagnostics
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import Contradiction, ShapeInferenceError, Source, UnknownNameError
from shapeinf.expr import DimSize, Scope
from shapeinf.inputs.options import DimRanges, InferenceOptions, InputSpecs
from shapeinf.inputs.spec import DimRange
from shapeinf.result import Result
from shapeinf.testing.type_text import TypeText, parse_type
from shapeinf.texts import escape_lines

MAX_STEPS = 12
"""The most steps of an explanation in a message."""

Expected = str | Sequence[int | str | None]
"""A type (`float32[batch, 3]`), a shape (`[batch, ?]`, `[1..8, 3]`), or a sequence of dims."""


def assert_shapes(
    model: Any,
    expected: Mapping[str, Expected],
    *,
    dims: DimRanges | None = None,
    bind: Mapping[str, int] | None = None,
    inputs: InputSpecs | None = None,
    assume: Iterable[str] | str = (),
    values: Mapping[str, object] | None = None,
) -> Result:
    """Assert that tensors of a model have these shapes, and the element types that are stated; returns the result.

    Args:
        model: what `infer_shapes` takes, or a `Result`.
        expected: by the name of the tensor, its shape in terms of the model's dims; `?` is any size, `1..8` any size
            within these bounds. A dim is as expected if it is proved to have that size at all sizes of the inputs.
        dims: ranges of dims, as for `infer_shapes`.
        bind: values of named dims.
        inputs: shapes of inputs.
        assume: relations of dims.
        values: values of small inputs.

    Raises:
        AssertionError: a tensor differs; the message has the expected and the inferred type, and explains the latter.
        UnknownNameError: a tensor, or a name in a shape, that the model does not have.
        SpecError: a shape with a syntax error.

    >>> result = assert_shapes("examples/decoder.onnx", {"logits": "[batch, seq, 100]"})
    """
    __tracebackhide__ = True
    result = model if isinstance(model, Result) else None
    if result is None:
        result = infer_shapes(model, dims=dims, bind=bind, inputs=inputs, assume=assume, values=values)
    elif dims or bind or inputs or assume or values:
        raise ShapeInferenceError(
            "dims, bind, inputs, assume and values have no effect: the result is inferred already"
        )
    with result.engine.lock:
        lines = [line for name, text in expected.items() for line in _differences(result, name, _as_text(text))]
    if lines:
        raise AssertionError(escape_lines([f"shapes of {result.source or 'the model'} differ", *lines]))
    return result


def _as_text(expected: Expected) -> str:
    if isinstance(expected, str):
        return expected
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in expected) + "]"


def _differences(result: Result, name: str, text: str) -> Iterator[str]:
    """Lines on a tensor that differs; none where it is as expected."""
    info = result.tensor(name)
    expected = _parse_expected(result, text)
    axes = _differing_axes(result, info, expected)
    other_type = expected.dtype not in (None, info.dtype) or info.kind != "tensor"
    if not (other_type or axes or info.shape.rank != _expected_rank(expected, info)):
        return
    yield f"{name}:"
    yield f"  expected  {text}"
    yield f"  inferred  {info}"
    if other_type:
        yield f"  it is a {info.kind} of element type {info.dtype or 'unknown'}"
    if info.shape.rank != _expected_rank(expected, info):
        yield f"  the rank is {'unknown' if info.shape.dims is None else len(info.shape)}"
        if info.shape.dims is None:
            yield from _explanation(result, name, 0)
    for axis, inferred, other in axes:
        yield f"  axis {axis} is {inferred}, not {_dim_text(other)}{_reason(result, inferred, other)}"
        yield from _explanation(result, name, axis)


def _parse_expected(result: Result, text: str) -> TypeText:
    """The expected type in the symbols of a result. Raises UnknownNameError for a name that it does not have."""
    for symbol in sorted(parse_type(text, Scope()).symbols, key=str):
        if not result.engine.scope.has(symbol.name):
            raise UnknownNameError("dim", symbol.name, result.engine.scope.names())
    return parse_type(text, result.engine.scope)


def _expected_rank(expected: TypeText, info: TensorInfo) -> int | None:
    return info.shape.rank if expected.dims is None else len(expected.dims)


def _differing_axes(
    result: Result, info: TensorInfo, expected: TypeText
) -> list[tuple[int, DimSize, DimSize | DimRange]]:
    if info.shape.dims is None or expected.dims is None or len(info.shape) != len(expected.dims):
        return []
    pairs = zip(info.shape.dims, expected.dims, strict=True)
    return [
        (axis, inferred, other)
        for axis, (inferred, other) in enumerate(pairs)
        if other is not None and not _is_as_expected(result, inferred, other)
    ]


def _is_as_expected(result: Result, inferred: DimSize, expected: DimSize | DimRange) -> bool:
    if not isinstance(expected, DimRange):
        return result.engine.store.prove_eq(inferred, expected) is True
    bounds = result.interval(inferred)
    above = expected.lo is None or (bounds.lo is not None and bounds.lo >= expected.lo)
    below = expected.hi is None or (bounds.hi is not None and bounds.hi <= expected.hi)
    return above and below


def _dim_text(expected: DimSize | DimRange) -> str:
    if not isinstance(expected, DimRange):
        return str(expected)
    return f"{'' if expected.lo is None else expected.lo}..{'' if expected.hi is None else expected.hi}"


def _reason(result: Result, inferred: DimSize, expected: DimSize | DimRange) -> str:
    """Why two dims differ, as a suffix: the violated constraint, or that no constraint makes them equal."""
    if isinstance(expected, DimRange):
        return f": it is within {result.interval(inferred)}"
    if isinstance(inferred, int) and isinstance(expected, int):
        return ""
    try:
        result.engine.store.copy().add_equal(inferred, expected, Source("", f"expected {inferred} == {expected}"))
    except Contradiction as error:
        return f": {error}"
    return ": no constraint of the model makes them equal"


def _explanation(result: Result, name: str, axis: int) -> Iterator[str]:
    steps = result.explain(name, axis)
    yield from (f"    {step}" for step in steps[:MAX_STEPS])
    if len(steps) > MAX_STEPS:
        yield f"    {len(steps) - MAX_STEPS} more steps: `shapeinf explain` prints them"


def shapeinf_check(
    model: Any,
    *,
    select: Iterable[str] = ("ALL",),
    ignore: Iterable[str] = (),
    dims: DimRanges | None = None,
    bind: Mapping[str, int] | None = None,
    inputs: InputSpecs | None = None,
    assume: Iterable[str] | str = (),
    values: Mapping[str, object] | None = None,
) -> Diagnostics:
    """Assert that a model passes `shapeinf check`: no errors and no warnings; returns the notes.

    Args:
        model: what `infer_shapes` takes.
        select: codes, or prefixes of codes, that fail the test.
        ignore: codes and prefixes that do not; the longest selector that matches a code decides.
        dims: ranges of dims, as for `infer_shapes`; a tensor that overflows within these is no mere note.
        bind: values of named dims.
        inputs: shapes of inputs.
        assume: relations of dims.
        values: values of small inputs.

    Raises:
        AssertionError: each error and warning, as the command prints it.
        ModelError: the model cannot be read.
        UnknownNameError: a selector of no code; a dim or an input that the model does not have.

    >>> shapeinf_check("examples/convnet.onnx", ignore=["C1"])
    []
    """
    __tracebackhide__ = True
    selection = Selection(select=tuple(select), ignore=tuple(ignore))
    options = InferenceOptions(dims=dims, bind=bind, inputs=inputs, assume=assume, values=values, declared="check")
    result = infer(model, options)
    named = options.dims if isinstance(options.dims, Mapping) else {dim.name: dim for dim in options.dims}
    diagnostics = check(result, {**named, **options.bind})
    selected = Diagnostics(d for d in diagnostics if selection.includes(d.code, result.source))
    if any(diagnostic.fails for diagnostic in selected):
        failures = "\n\n".join(diagnostic.render() for diagnostic in selected if diagnostic.fails)
        raise AssertionError(f"{escape_lines([result.source or 'the model'])}: {selected.counts}\n{failures}")
    return selected
