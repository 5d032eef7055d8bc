"""Views of tensors whose layout the program declares: results of `expand`, `unfold`, attention and others.

The oracle is torch: a program with a reshape is exported, the reshape is made a view, and eager torch runs that view.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from opdefs.torch.dialect import torch as dialect
from shapeinf import infer_shapes
from shapeinf.ops import OpRegistry
from tests.formats.torch_export.programs import graph, node, program, symbol, tensor

REGISTRY = OpRegistry(dialect)
Axes = Sequence[tuple[int, int]]
"""The axes that the view joins, from the first one to that before the second."""


def attention(x: Any) -> Any:
    import torch

    return torch.nn.functional.scaled_dot_product_attention(x, x, x)


FUNCTIONS: list[tuple[str, Callable[[Any], Any], list[int], Axes]] = [
    ("heads", lambda x: x[:, :, None].expand(-1, -1, 2, -1, -1), [2, 3, 4, 5], [(0, 1), (1, 3), (3, 4), (4, 5)]),
    ("heads", lambda x: x[:, None].expand(-1, 3, -1, -1, -1), [2, 3, 4, 5], [(0, 1), (1, 2), (2, 5)]),
    ("rows", lambda x: x.expand(5, *x.shape), [3, 4], [(0, 2), (2, 3)]),
    ("windows", lambda x: x.unfold(-1, 2, 2), [3, 6], [(0, 1), (1, 3)]),
    ("windows", lambda x: x.unfold(-1, 3, 1), [3, 6], [(0, 1), (1, 3)]),
    ("windows", lambda x: x.unfold(0, 2, 2).mT, [6, 4], [(0, 2), (2, 3)]),
    ("attention", lambda x: attention(x).transpose(1, 2), [2, 3, 4, 8], [(0, 1), (1, 2), (2, 4)]),
    ("attention", lambda x: attention(x.transpose(1, 2)), [2, 4, 3, 8], [(0, 1), (1, 3), (3, 4)]),
    ("diagonal", lambda x: x.diagonal(0, 0, 1), [3, 4, 5], [(0, 1), (1, 2)]),
    ("strided", lambda x: x.as_strided((x.shape[0], 2), (2, 1)), [4, 6], [(0, 2)]),
    ("strided", lambda x: x.as_strided((2, x.shape[0]), (1, 2)), [4, 6], [(0, 2)]),
    ("last", lambda x: x.contiguous(memory_format=_channels_last()), [2, 3, 4, 5], [(0, 1), (1, 2), (2, 4)]),
    ("last", lambda x: x.contiguous(memory_format=_channels_last()), [2, 3, 4, 5], [(0, 1), (1, 4)]),
    ("slice", lambda x: x[:, 1:].mT, [3, 5, 4], [(0, 1), (1, 2), (2, 3)]),
    ("slice", lambda x: x[:, :-1].relu(), [3, 5, 4], [(0, 3)]),
    ("column", lambda x: x[..., 0].abs().sin(), [3, 5, 4], [(0, 2)]),
    ("column", lambda x: x.softmax(-1)[..., 0], [3, 5, 4], [(0, 2)]),
]


def _channels_last() -> Any:
    import torch

    return torch.channels_last


def sizes(x: Any, axes: Axes) -> list[Any]:
    """The sizes of the view."""
    listed = []
    for first, end in axes:
        product = 1
        for size in x.shape[first:end]:
            product = product * size
        listed.append(product)
    return listed


def exported(function: Callable[[Any], Any], shape: list[int], axes: Axes) -> bytes:
    """The program of the function and a view of its result."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = function(x)
            return y.reshape(sizes(y, axes))

    free = [torch.export.Dim.AUTO] * len(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.export.export(Model(), (torch.zeros(shape),), dynamic_shapes=(free,))
    file = io.BytesIO()
    torch.export.save(made, file)
    with zipfile.ZipFile(file) as archive:
        data = json.loads(archive.read("archive/models/model.json"))
    last = data["graph_module"]["graph"]["nodes"][-1]
    last["target"] = "torch.ops.aten.view.default"
    last["inputs"][1]["name"] = "size"
    return json.dumps(data).encode()


@pytest.mark.parametrize(("name", "function", "shape", "axes"), FUNCTIONS)
def test_a_view_is_legal_where_torch_has_it(
    name: str, function: Callable[[Any], Any], shape: list[int], axes: Axes
) -> None:
    """The module may have a reshape in place of the view, so that no view is certain to fail."""
    torch = pytest.importorskip("torch", reason="torch is the oracle of this test")
    data = exported(function, shape, axes)
    for change in (0, 1, 3):
        other = [size + change for size in shape]
        result = function(torch.zeros(other))
        try:
            result.view(sizes(result, axes))
            legal = True
        except RuntimeError:
            legal = None
        assert infer_shapes(data, inputs={"x": other}, registry=REGISTRY).contract.check().verdict is legal, other


RECORDED = [
    ([2, symbol("s1"), 4], [0, 4, 1], [symbol("s1"), 4], {"x_0": 3}, [-1, 4], None),
    ([2, symbol("s1"), 4], [0, 4, 1], [symbol("s1"), 4], {"x_0": 3}, [2, -1], True),
    ([2, symbol("s1"), 4], [0, 4, 1], [symbol("s1"), 4], {"x_0": 1}, [2, 2, 2], True),
]
"""Declared sizes and strides of `expand(x, (2, -1, 4))` in torch 2.13, the input, its size, a view of the result."""


@pytest.mark.parametrize(("declared", "strides", "shape", "bound", "size", "legal"), RECORDED)
def test_the_declared_strides_decide_a_view(
    declared: list[Any], strides: list[Any], shape: list[Any], bound: dict[str, int], size: list[int], legal: bool
) -> None:
    nodes = [
        node("torch.ops.aten.expand.default", {"self": "x", "size": [2, -1, 4]}, "e"),
        node("torch.ops.aten.view.default", {"self": "e", "size": size}, "y"),
    ]
    types = {"x": tensor(*shape), "e": tensor(*declared, strides=strides)}
    data = json.dumps(program(graph(["x"], nodes, ["y"], tensors=types))).encode()
    assert infer_shapes(data, registry=REGISTRY).contract.check(**bound).verdict is legal
