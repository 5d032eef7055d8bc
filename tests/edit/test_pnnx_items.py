"""Axis rules of PNNX's operators: what `rebatch` accepts, torch runs as a batch and in parts.

The operators are those of the tables of layers and of raw operators; each axis of each input in turn becomes a batch,
alone and together with that axis of all inputs that have the same size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from shapeinf import RebatchError, ShapeInferenceError, rebatch
from shapeinf.expr import Dimension
from shapeinf.inputs.options import InferenceOptions
from tests.differential import test_pnnx_aten, test_pnnx_layers
from tests.differential.pnnx.record import tensor_of

RANDOM = ("ropout", "rrelu", "RReLU", "gumbel", "rand", "empty")
"""Parts of calls whose results differ from run to run."""

CASES = [
    case
    for case in (*test_pnnx_layers.ACCEPTED, *test_pnnx_aten.CALLS)
    if case.call and not any(name in case.call for name in RANDOM)
]


def choices(inputs: list[tuple[str, list[int]]]) -> Iterator[dict[str, int]]:
    """The axes that become a batch, by the name of the input."""
    seen = set()
    for index, (_, dims) in enumerate(inputs):
        for axis, size in enumerate(dims):
            same = {str(i): axis for i, (_, d) in enumerate(inputs) if axis < len(d) and d[axis] == size}
            for chosen in ({str(index): axis}, same):
                if size and tuple(chosen.items()) not in seen:
                    seen.add(tuple(chosen.items()))
                    yield chosen


def run(case: Any, tensors: list[Any]) -> list[Any]:
    """What torch returns, with equal random weights in all runs."""
    import torch
    from torch import nn
    from torch.nn import functional

    torch.manual_seed(0)
    names = {"torch": torch, "nn": nn, "F": functional, **dict(zip("xyzu", tensors, strict=False))}
    with torch.no_grad():
        result = eval(case.call, names)
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    return [part for value in values for part in (value if isinstance(value, (tuple, list)) else [value])]


def difference(case: Any, chosen: dict[str, int], rebatched: Any) -> str:
    """What differs between a batch of two parts and these; empty where nothing does."""
    import torch

    tensors = [tensor_of(dtype, dims) for dtype, dims in case.types[0]]
    others = [tensor.flip(chosen[str(i)]) if str(i) in chosen else tensor for i, tensor in enumerate(tensors)]
    others = [t + 1 if t.is_floating_point() and str(i) in chosen else t for i, t in enumerate(others)]
    pairs = list(zip(tensors, others, strict=True))
    joined = [torch.cat(pair, chosen[str(i)]) if str(i) in chosen else pair[0] for i, pair in enumerate(pairs)]
    parts, together = [run(case, tensors), run(case, others)], run(case, joined)
    symbol = rebatched.result.engine.scope.symbol("batch")
    for name, first, second, whole in zip(rebatched.result.graph.outputs, *parts, together, strict=False):
        dims = rebatched.result.tensors[name].shape.dims or ()
        axis = next((k for k, d in enumerate(dims) if isinstance(d, Dimension) and symbol in d.symbols()), None)
        if axis is not None and not torch.allclose(
            *(t.dequantize().to(torch.complex128) for t in (torch.cat([first, second], axis), whole)),
            rtol=1e-4,
            atol=1e-5,
            equal_nan=True,
        ):
            return f"{case} {chosen}: output {name}"
    return ""


def test_rows_of_a_batch_are_the_results_of_its_parts() -> None:
    pytest.importorskip("torch", reason="the oracle is torch")
    wrong, accepted = list[str](), Counter[str]()
    for case in CASES:
        specs = {str(i): list(dims) for i, (_, dims) in enumerate(case.types[0])}
        for chosen in choices(case.types[0]):
            try:
                rebatched = rebatch(
                    case.param, axes=chosen, inputs=list(chosen), spatial=False, options=InferenceOptions(inputs=specs)
                )
                text = difference(case, chosen, rebatched)
            except RebatchError:
                continue
            except (ShapeInferenceError, RuntimeError) as error:
                if not isinstance(error, RuntimeError):
                    continue  # no case of this test
                text = f"{case} {chosen}: {error}"
            accepted[next(line.split()[0] for line in case.param.splitlines() if " op " in line)] += 1
            wrong += [text] if text else []
    print(f"{accepted.total()} choices of {len(accepted)} operators")
    assert wrong == []
    assert len(accepted) > 20
