"""A program of torch.export with its runs: what is recorded, so that it is compared without torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from opdefs.torch.dialect import torch
from shapeinf import Result, infer_shapes
from shapeinf.ops import OpRegistry
from shapeinf.runtime.compare import InferredTypes
from shapeinf.runtime.protocol import ObservedType

REGISTRY = OpRegistry(torch)


@attrs.frozen
class Run:
    """A run of the module and of its exported graph, without torch's guards.

    Args:
        sizes: the sizes of all axes of the inputs.
        eager: why the module does not run; empty where it runs.
        graph: how the exported graph is another program than the module at these sizes; empty where it is the same.
        types: the types of the values of the exported graph.
    """

    sizes: list[int]
    eager: str
    graph: str
    types: dict[str, str]


@attrs.frozen
class Case:
    """A program: its form, its JSON, the axes of its inputs as `x:0`, and its runs."""

    seed: int
    form: str
    program: str
    axes: list[str]
    runs: list[Run]


@attrs.define
class Counts:
    """Numbers of compared runs and tensors, and of the verdicts on sizes."""

    runs: int = 0
    tensors: int = 0
    exact: int = 0
    yes: int = 0
    no: int = 0
    undecided: int = 0
    other_path: int = 0


def problems(case: Case, counts: Counts) -> Iterator[str]:
    """The contradictions between the runs of a program, and inference and its contract."""
    model = case.program.encode()
    anywhere = infer_shapes(model, declared="ignore", registry=REGISTRY)
    for run in case.runs:
        sizes = dict(zip(case.axes, run.sizes, strict=True))
        label = f"seed {case.seed} ({case.form}) at {sizes}"
        shapes = _shapes(sizes)
        inputs = {name: list(shape) for name, shape in shapes.items()}
        here = infer_shapes(model, inputs=inputs, declared="ignore", registry=REGISTRY)
        verdict = here.contract.check().verdict
        counts.runs += 1
        counts.yes += verdict is True
        counts.no += verdict is False
        counts.undecided += verdict is None
        if run.graph:
            counts.other_path += 1
        elif verdict and run.eager:
            yield f"{label}: the contract says yes, eager torch: {run.eager}"
        elif verdict is False and not run.eager:
            yield f"{label}: the contract says no, eager torch runs: {_reasons(here)}"
        if run.types:
            yield from (f"{label}: {text}" for text in _wrong_types(here, shapes, run.types, counts))
            if _follows(anywhere, shapes):
                symbolic = _wrong_types(anywhere, shapes, run.types, Counts())
                yield from (f"{label} by symbols: {text}" for text in symbolic)


def _shapes(sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for axis, size in sizes.items():
        name = axis.partition(":")[0]
        shapes[name] = (*shapes.get(name, ()), size)
    return shapes


def _follows(result: Result, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the sizes are those that the symbols of the declared inputs have."""
    inferred = InferredTypes(result, shapes, {})
    return all(
        inferred.verdict(result.tensors[name], ObservedType(None, shape)) != "wrong" for name, shape in shapes.items()
    )


def _wrong_types(
    result: Result, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, str], counts: Counts
) -> Iterator[str]:
    inferred = InferredTypes(result, shapes, {})
    observed = {name: _parse(text) for name, text in types.items() if name in result.tensors}
    inferred.learn((n, t) for n, t in observed.items() if result.tensors[n].kind == "tensor")
    for name, type_ in observed.items():
        verdict = inferred.verdict(result.tensors[name], type_)
        counts.tensors += 1
        counts.exact += verdict == "exact"
        if verdict == "wrong":
            yield f"{name} is {type_}, inferred {inferred.describe(result.tensors[name])}"
            return  # values computed from it are wrong as well


def _parse(text: str) -> ObservedType:
    dtype, _, dims = text.partition("[")
    sizes: Any = ast.literal_eval("[" + dims)
    return ObservedType(dtype, tuple(sizes))


def _reasons(result: Result) -> str:
    return "; ".join(d.message for d in result.diagnostics if d.severity == "error")[:300]
