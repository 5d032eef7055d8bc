"""Operators with bodies in programs of torch.export, against runs of torch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from shapeinf import infer_shapes

torch = pytest.importorskip("torch", reason="needs torch")


def _mapped(x: Any) -> Any:
    from torch._higher_order_ops.map import map as map_rows

    return map_rows(lambda row, bias: row.sum(0) + bias, x, x[0, 0].clone())


def _without_gradients(x: Any) -> Any:
    y = x * 2
    with torch.no_grad():
        y = y.reshape(-1, 2)
    return y + 1


def _strict(x: Any) -> Any:
    from torch._higher_order_ops.strict_mode import strict_mode

    return strict_mode(lambda a: (a.flatten(1),), (x,))[0]


def _hinted(x: Any) -> Any:
    from torch._higher_order_ops.hints_wrap import hints_wrapper

    return hints_wrapper(lambda a: a.transpose(0, 1) * 2, (x,), {}, hints={"depth": 1})


def _cast(x: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.mT
        z = torch.relu(x) + 1
    return y, z


def _cast_both_ways(x: Any) -> Any:
    """Functions that take their floats in float32, in the lower type, or as they are."""
    functional = torch.nn.functional
    pad = functional.pad
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.mT
        listed = [functional.mse_loss(y, y), pad(y, (1, 1), "reflect"), pad(y, (1, 1)), y.prod(1), y.softmax(1)]
        summed, outer = torch.einsum("bij,bik->bjk", x, x), torch.einsum("bi,bj->bij", x[0], x[1])
        transformed, values = torch.fft.irfft2(y), torch.linalg.svdvals(y)
    return (*listed, summed, outer, transformed, values)


@pytest.mark.parametrize("function", [_mapped, _without_gradients, _strict, _hinted, _cast, _cast_both_ways])
def test_a_program_has_the_types_of_a_run(function: Callable[[Any], Any]) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    x = torch.randn(3, 4, 6)
    free = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(Model(), (x,), dynamic_shapes={"x": free})
        file = io.BytesIO()
        torch.export.save(exported, file)
    result = infer_shapes(file.getvalue(), declared="ignore")
    assert any(n.op.startswith("higher_order.") for n in result.graph.nodes)
    for sizes in ((3, 4, 6), (5, 8, 6)):
        values = function(torch.randn(sizes))
        listed = values if isinstance(values, tuple) else (values,)
        bound = infer_shapes(file.getvalue(), inputs={"x": list(sizes)}, declared="ignore")
        assert bound.contract.check().verdict is True
        for info, value in zip(bound.outputs.values(), listed, strict=True):
            assert (info.dtype, info.shape.dims) == (str(value.dtype).removeprefix("torch."), tuple(value.shape))
