"""`verify --runtime torch` compares the values inside the bodies of nodes. Needs the extra `torch`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from shapeinf.formats import load
from shapeinf.graph import Node, NodeKind, subgraphs
from shapeinf.runtime import verify

torch = pytest.importorskip("torch", reason="torch is not installed: no runtime runs programs of torch.export")


def branches(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda v: (v.relu() * 2).sum(0), lambda v: v.sin().mean(0), (x,))


def nested(x: Any) -> Any:
    def inner(v: Any) -> Any:
        return torch.cond(v.mean() > 9, lambda w: w.relu(), lambda w: w.cos() * 2, (v,))

    return torch.cond(x.sum() > 0, inner, lambda v: v.sin(), (x,))


def loop(x: Any) -> Any:
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, (v @ v.mT).relu() @ v), (torch.tensor(0), x))


def rows(x: Any) -> Any:
    from torch._higher_order_ops.map import map as map_rows

    return map_rows(lambda row, bias: (row * 2 + bias).sum(0), x, x[0].sum(0))


def scanned(x: Any) -> Any:
    from torch._higher_order_ops.scan import scan

    return scan(lambda carry, row: (carry + row, (carry * row).relu()), torch.zeros(x.shape[1]), x)


def cast(x: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.mT
    with torch.no_grad():
        return (y + 1).reshape(-1, 2)


FUNCTIONS: list[tuple[Callable[[Any], Any], list[str], list[str]]] = [
    (branches, ["cond/true_graph/mul"], ["cond/false_graph/sin", "cond/false_graph/mean"]),
    (nested, ["cond/true_graph/cond/false_graph/cos"], ["cond/true_graph/cond/true_graph/relu"]),
    (loop, ["while_loop/cond_fn/lt", "while_loop/body_fn/matmul"], []),
    (rows, ["map_impl/add"], []),
    (scanned, ["scan/relu"], []),
    (cast, ["wrap_with_autocast/matmul"], []),
]
"""Functions, some values inside bodies that run, and some inside bodies that do not."""


def saved(function: Callable[[Any], Any]) -> bytes:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    free = torch.export.Dim.AUTO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Model(), (torch.ones(4, 6),), dynamic_shapes=({0: free},), strict=False)
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


@pytest.mark.parametrize(("function", "inside", "idle"), FUNCTIONS)
def test_values_inside_bodies_are_compared(function: Callable[[Any], Any], inside: list[str], idle: list[str]) -> None:
    verification = verify(saved(function), arrays={"x": torch.ones(4, 6).numpy()})
    assert verification.ok, str(verification)
    (run,) = verification.runs
    skipped = {item.tensor: item.reason for item in run.skipped}
    assert [skipped.get(name) for name in inside] == [None] * len(inside)
    assert {skipped[name] for name in idle} <= {"its body does not run with these inputs"}
    assert run.exact == run.tensors > len(inside)


def test_a_difference_inside_a_body_is_found() -> None:
    graph = load(saved(branches))
    (node,) = [node for node in graph.nodes if node.name == "cond"]
    _, body = next(subgraphs(node.kind))
    relu = body.nodes[0]
    body.nodes[0] = Node(NodeKind("aten.t.default", "", relu.kind.attrs), relu.inputs, relu.outputs, relu.name)
    verification = verify(graph, arrays={"x": torch.ones(4, 6).numpy()})
    (first, *_) = verification.runs[0].mismatches
    assert (first.tensor, first.node, first.op) == ("cond/true_graph/relu", "cond/true_graph/relu", "aten.t.default")
