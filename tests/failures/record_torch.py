"""The messages of torch for modules at sizes that they do not allow; the model is the exported program.

This module needs torch: `tools/make_runtime_messages.py` imports it. The failing call of each module stands alone in
its line, which the program has as the location of the node.
"""

from __future__ import annotations

import io
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch


class Case(NamedTuple):
    """A module, the shapes of its inputs, and shapes at which it fails in the node `op`."""

    name: str
    module: Callable[..., Any]
    legal: Mapping[str, Sequence[int]]
    illegal: Sequence[Mapping[str, Sequence[int]]]
    op: str


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 5)

    def forward(self, x: Any) -> Any:
        a = torch.relu(x)
        return torch.tanh(self.layer(a))


class Product(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        a = torch.relu(x)
        b = torch.matmul(a, y)
        return torch.tanh(b)


class Sum(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        a = torch.exp(x)
        b = torch.add(a, y)
        return torch.tanh(b)


class Joined(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        a = torch.exp(x)
        b = torch.cat([a, y], 1)
        return torch.tanh(b)


class Viewed(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        a = torch.exp(x)
        b = a.view(-1, 6)
        return torch.tanh(b)


class Convolution(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 6, 3)

    def forward(self, x: Any) -> Any:
        a = torch.exp(x)
        return torch.tanh(self.conv(a))


class Norm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x: Any) -> Any:
        a = torch.exp(x)
        return torch.tanh(self.norm(a))


class Parts(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        a = torch.exp(x)
        b = torch.split(a, [2, 3], 1)
        return torch.tanh(b[0])


CASES = [
    Case("linear", Linear, {"x": (2, 4)}, [{"x": (2, 3)}, {"x": (2, 7)}], "linear"),
    Case(
        "matmul",
        Product,
        {"x": (2, 4), "y": (4, 5)},
        [{"x": (2, 3), "y": (4, 5)}, {"x": (2, 4), "y": (6, 5)}],
        "matmul",
    ),
    Case("add", Sum, {"x": (3, 4), "y": (3, 4)}, [{"x": (3, 4), "y": (2, 4)}, {"x": (3, 4), "y": (3, 5)}], "add"),
    Case("cat", Joined, {"x": (3, 4), "y": (3, 2)}, [{"x": (3, 4), "y": (2, 2)}, {"x": (5, 4), "y": (3, 2)}], "cat"),
    Case("view", Viewed, {"x": (3, 4)}, [{"x": (3, 5)}, {"x": (1, 4)}], "view"),
    Case("conv", Convolution, {"x": (1, 3, 8, 8)}, [{"x": (1, 4, 8, 8)}, {"x": (1, 3, 2, 8)}], "conv2d"),
    Case("norm", Norm, {"x": (2, 8)}, [{"x": (2, 7)}, {"x": (2, 4)}], "layer_norm"),
    Case("split", Parts, {"x": (2, 5)}, [{"x": (2, 4)}, {"x": (2, 6)}], "split_with_sizes"),
]


def messages() -> Iterator[dict[str, Any]]:
    """The messages of the modules, then those of the exported programs, which check their guards."""
    for case in CASES:
        module = case.module().eval()
        arguments = {name: torch.ones(shape) for name, shape in case.legal.items()}
        axes = {name: dict.fromkeys(range(len(shape)), torch.export.Dim.AUTO) for name, shape in case.legal.items()}
        program = torch.export.export(module, (), arguments, dynamic_shapes=axes)
        stream = io.BytesIO()
        torch.export.save(program, stream)
        nodes = [n.name for n in program.graph.nodes if n.op == "call_function" and case.op in str(n.target)]
        for shapes in case.illegal:
            for run in (module, program.module()):
                try:
                    run(**{name: torch.ones(shape) for name, shape in shapes.items()})
                except Exception as error:  # guards raise AssertionError
                    yield {
                        "case": case.name,
                        "model": stream.getvalue(),
                        "sizes": None,
                        "shapes": {name: list(shape) for name, shape in shapes.items()},
                        "values": {},
                        "data": False,
                        "node": {"op": case.op, "name": nodes[0], "output": nodes[0]},
                        "runs": [],
                        "text": traceback_text(error),
                    }


def traceback_text(error: BaseException) -> str:
    """The traceback without the folders of this machine."""
    text = "".join(traceback.format_exception(error))
    return re.sub(r'File "[^"]*/', 'File "', text)
