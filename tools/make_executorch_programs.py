"""Write programs of ExecuTorch, and the arenas that it plans for them, into tests/memory/runtimes.

    python tools/make_executorch_programs.py

Needs the packages torch and executorch. A program is written as its graph before memory is planned: nodes by what they
read and write, with `view` for views of other tensors, and the element types and dims of all tensors. Constants are
left out. Dims are sizes, or texts of dims with ranges.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, memory, to_edge
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy, naive
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec
from torch import nn
from torch.export import Dim, export
from torch.utils._pytree import tree_leaves

FILE = Path(__file__).resolve().parent.parent / "tests" / "memory" / "runtimes" / "executorch_programs.json"
OPTIONS = [(True, True), (False, True), (True, False), (False, False)]
"""Whether inputs, and outputs, are in the arena."""


class Block(nn.Sequential):
    """Two convolutions."""

    def __init__(self, a: int, b: int) -> None:
        """From `a` to `b` channels."""
        layers = [(nn.Conv2d(i, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()) for i in (a, b)]
        super().__init__(*[layer for group in layers for layer in group])


class UNet(nn.Module):
    """Two levels down, and up again with what was computed on the way."""

    def __init__(self, width: int = 8) -> None:
        """`width` channels at the top."""
        super().__init__()
        self.top, self.middle, self.bottom = Block(3, width), Block(width, 2 * width), Block(2 * width, 4 * width)
        self.up, self.last = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.back, self.end = Block(4 * width, 2 * width), Block(2 * width, width)

    def forward(self, x: torch.Tensor) -> Any:
        """An image of the size of `x`."""
        a = self.top(x)
        b = self.middle(nn.functional.max_pool2d(a, 2))
        c = self.bottom(nn.functional.max_pool2d(b, 2))
        d = self.back(torch.cat([self.up(c), b], 1))
        return self.end(torch.cat([self.last(d), a], 1))


class Attention(nn.Module):
    """One layer of a transformer."""

    def __init__(self) -> None:
        """Of width 32, with 4 heads."""
        super().__init__()
        self.projections = nn.ModuleList([nn.Linear(32, 32) for _ in range(4)])
        self.norm = nn.LayerNorm(32)

    def forward(self, x: torch.Tensor) -> Any:
        """Values of the shape of `x`."""
        batch, tokens, _ = x.shape
        y = self.norm(x)
        q, k, v = (p(y).view(batch, tokens, 4, 8).transpose(1, 2) for p in list(self.projections)[:3])
        a = torch.softmax(q @ k.transpose(2, 3) / 8, -1) @ v
        return x + self.projections[3](a.transpose(1, 2).reshape(batch, tokens, 32))


class Branches(nn.Module):
    """Several outputs, one of them an input; an input and an output that nothing reads."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, unused: torch.Tensor) -> Any:
        """Outputs of several nodes."""
        values, _ = torch.topk(x, 2)
        a, b = torch.split(y, 2, 0)
        return torch.cat([a, b, x], 0), values, x.reshape(-1), torch.unsqueeze(y, 0).relu(), y


class Views(nn.Module):
    """Views of views, of an input, and as outputs."""

    def forward(self, x: torch.Tensor) -> Any:
        """Four outputs."""
        a = torch.relu(x).view(4, 4, 4)
        b = a.view(16, 4)
        return (b + 1).view(64), b.view(2, 32), torch.neg(a), x.view(64) * 2


class Types(nn.Module):
    """Elements of 1, 2, 4 and 8 bytes."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        """Three outputs."""
        return (x.half() * y.half()).float() + x, (x > y).long() + 1, x.to(torch.int32)


class Sequence(nn.Module):
    """Convolutions over time."""

    def __init__(self) -> None:
        """4 channels, then 8."""
        super().__init__()
        self.a, self.b = nn.Conv1d(4, 8, 3, padding=1), nn.Conv1d(8, 8, 5, padding=2)

    def forward(self, x: torch.Tensor) -> Any:
        """8 channels."""
        return torch.tanh(self.b(torch.relu(self.a(x)))) * torch.sigmoid(self.a(x))


def cases() -> Iterator[tuple[str, nn.Module, tuple[torch.Tensor, ...], Any]]:
    """The models, with inputs and dims that are not fixed."""
    batch, time = Dim("batch", min=1, max=8), Dim("time", min=2, max=48)
    layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8), nn.Softmax(-1))
    yield "layers", layers, (torch.randn(2, 16),), None
    yield "layers of any batch", layers, (torch.randn(3, 16),), {"input": {0: batch}}
    yield "unet", UNet(), (torch.randn(1, 3, 32, 32),), None
    yield "unet of any batch", UNet(), (torch.randn(3, 3, 32, 32),), ({0: batch},)
    yield "unet of 5 channels", UNet(5), (torch.randn(2, 3, 24, 40),), None
    yield "attention", Attention(), (torch.randn(2, 10, 32),), None
    yield "two layers of attention", nn.Sequential(Attention(), Attention()), (torch.randn(1, 7, 32),), None
    yield "branches", Branches(), (torch.randn(4, 5), torch.randn(4, 5), torch.randn(3)), None
    yield "views", Views(), (torch.randn(4, 16),), None
    yield "types", Types(), (torch.randn(3, 7), torch.randn(3, 7)), None
    yield "types of any batch", Types(), (torch.randn(3, 7), torch.randn(3, 7)), ({0: batch}, {0: batch})
    yield "sequence", Sequence(), (torch.randn(2, 4, 33),), None
    yield "sequence of any length", Sequence(), (torch.randn(3, 4, 33),), ({0: batch, 2: time},)
    yield "recurrent", nn.LSTM(8, 16, batch_first=True), (torch.randn(2, 4, 8),), None


def planned(exported: Any, algorithm: Any, inputs: bool, outputs: bool) -> Any:
    """The graph of the program, with its plan."""
    plan = MemoryPlanningPass(MemoryPlanningAlgorithmSuite([algorithm]), False, inputs, outputs)
    program = to_edge(exported).to_executorch(ExecutorchBackendConfig(memory_planning_pass=plan))
    return program.exported_program().graph_module


def describe(graph: Any) -> dict[str, Any]:
    """The tensors and nodes of a graph, and the offsets of its tensors."""
    tensors: dict[str, list[Any]] = {}
    offsets: dict[str, int] = {}
    nodes: list[list[Any]] = []
    names: dict[int, str] = {}
    inputs: list[str] = []

    def add(name: str, spec: TensorSpec, value: torch.Tensor) -> str:
        dims = [int(d) if isinstance(d, int) else str(d.node.expr) for d in value.shape]
        tensors[name] = [str(spec.dtype).removeprefix("torch."), dims]
        offsets[name] = spec.mem_offset
        return names.setdefault(id(spec), name)

    for node in graph.graph.nodes:
        specs = [s for s in tree_leaves(node.meta.get("spec")) if isinstance(s, TensorSpec)]
        values = tree_leaves(node.meta.get("val"))
        reads = [a for a in tree_leaves([node.args, node.kwargs]) if isinstance(a, torch.fx.Node)]
        specs_read = [s for a in reads if a.target is not memory.alloc for s in tree_leaves(a.meta.get("spec"))]
        read = [names[id(s)] for s in specs_read if id(s) in names]
        if node.op == "placeholder":
            inputs += [add(node.name, spec, values[0]) for spec in specs if not spec.const]
        elif node.op == "output":
            return {"inputs": inputs, "outputs": read, "tensors": tensors, "nodes": nodes, "offsets": offsets}
        elif node.target is memory.view and read:
            nodes.append(["view", read, [add(node.name, specs[0], values[0])]])
        elif specs and node.target not in (memory.alloc, memory.view, operator.getitem):
            several = len(specs) > 1
            pairs = enumerate(zip(specs, values, strict=True))
            written = [add(f"{node.name}.{i}" if several else node.name, s, v) for i, (s, v) in pairs]
            nodes.append(["kernel", read, written])
    raise ValueError("a graph without an output")


def main() -> None:
    programs = []
    for name, model, example, dims in cases():
        exported = export(model.eval(), example, dynamic_shapes=dims)
        ranges = {str(symbol): [int(r.lower), int(r.upper)] for symbol, r in exported.range_constraints.items()}
        program = {"name": name, "ranges": ranges, **describe(planned(exported, greedy, True, True))}
        program["arenas"] = {
            algorithm.__name__: [
                planned(exported, algorithm, *where).meta["non_const_buffer_sizes"][1] for where in OPTIONS
            ]
            for algorithm in (greedy, naive)
        }
        programs.append(program)
    lines = ",\n".join(json.dumps(program, separators=(",", ":")) for program in programs)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(programs)} programs in {FILE.name}")


if __name__ == "__main__":
    main()
