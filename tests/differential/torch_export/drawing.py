"""Draws modules of 3 to 30 operators, with inputs whose axes have names or numbers. Needs torch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import attrs
import torch
from torch import nn

from tests.differential.torch_export.kinds import KINDS, NoOperandError, Pool, Step

LARGE_RANK, LARGE_TENSOR = 6, 20_000
TRIES = 200
EXAMPLES = (5, 6, 7, 9, 10, 12, 14, 16)
"""Sizes of named axes in the example: neither 0 nor 1, which torch.export makes constants."""
FORMS: tuple[tuple[str, tuple[str | int, ...]], ...] = (
    ("float32", ("a", 4, "h", "w")),
    ("float32", ("a", 3, "h", "h")),
    ("float32", ("a", "t", 8)),
    ("float32", ("a", 6, "t")),
    ("float32", ("t", 8)),
    ("float32", ("a", "c")),
    ("float32", ("t",)),
    ("float32", ("a", 1, "t")),
    ("float32", (1, "t", 8)),
    ("int64", ("a", "t")),
    ("int64", ("t",)),
    ("bool", ("a", "t")),
)


@attrs.frozen
class Input:
    """An input of a program: its element type, and a name or a number for each axis."""

    name: str
    dtype: str
    dims: tuple[str | int, ...]

    def tensor(self, sizes: list[int]) -> torch.Tensor:
        """A tensor of these sizes: the same elements in each run."""
        contents = torch.Generator().manual_seed(0)
        if self.dtype == "float32":
            return torch.rand(sizes, generator=contents) - 0.4
        return torch.randint(0, 4 if self.dtype == "int64" else 2, sizes, generator=contents).to(
            getattr(torch, self.dtype)
        )


class Drawn(nn.Module):
    """A module that runs its steps in order and returns the last values."""

    def __init__(self, inputs: list[Input], example: dict[str, int], steps: list[Step]) -> None:
        """`example`: the sizes of the named axes of the inputs that the program is exported with."""
        super().__init__()
        self.inputs = inputs
        self.example = example
        self.steps = steps
        self.parts = nn.ModuleList([step.module for step in steps if step.module is not None])

    def forward(self, *arguments: torch.Tensor) -> tuple[Any, ...]:
        """The values that no step reads, and that of the last step."""
        values: list[Any] = list(arguments)
        for step in self.steps:
            values += step(values)
        read = {number for step in self.steps for number in step.operands}
        unread = [v for i, v in enumerate(values) if i not in read and i >= len(arguments)]
        return tuple(v for v in [*unread, values[-1]] if isinstance(v, torch.Tensor))

    def arguments(self, sizes: list[int]) -> list[torch.Tensor]:
        """The inputs for sizes of all their axes in order."""
        left = list(sizes)
        return [item.tensor([left.pop(0) for _ in item.dims]) for item in self.inputs]

    def sizes(self, binding: dict[str, int]) -> list[int]:
        """The sizes of all axes of the inputs."""
        return [binding[dim] if isinstance(dim, str) else dim for item in self.inputs for dim in item.dims]

    def axes(self) -> list[str]:
        """All axes of the inputs, as `arguments_0:1`."""
        return [f"{item.name}:{axis}" for item in self.inputs for axis in range(len(item.dims))]

    def prefix(self, count: int) -> Drawn:
        """The program of the first steps."""
        return Drawn(self.inputs, self.example, self.steps[:count])


def draw(seed: int) -> Drawn:
    """A program all of whose steps run in the example."""
    source = random.Random(seed)
    torch.manual_seed(seed)
    count = source.choice((1, 1, 2, 2, 3))
    inputs = [Input(f"arguments_{i}", *_form(source)) for i in range(count)]
    names = sorted({dim for item in inputs for dim in item.dims if isinstance(dim, str)})
    example = dict(zip(names, source.sample(EXAMPLES, len(names)), strict=True))
    module = Drawn(inputs, example, [])
    values: list[Any] = list(module.arguments(module.sizes(example)))
    length = source.choice((3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8, 10, 12, 15, 20, 30))
    steps: list[Step] = []
    for _ in range(TRIES):
        if len(steps) >= length:
            break
        new = _try(source.choice(KINDS), Pool(source, values))
        if new is not None:
            steps.append(new[0])
            values += new[1]
    return Drawn(inputs, example, steps)


def _form(source: random.Random) -> tuple[str, tuple[str | int, ...]]:
    dtype, dims = source.choice(FORMS)
    return dtype, tuple(dim if source.random() < 0.95 else source.choice((1, 2, 4)) for dim in dims)


def _try(kind: Callable[[Pool], Step], pool: Pool) -> tuple[Step, list[Any]] | None:
    """A step with its results in the example; None where it does not run, or returns large tensors."""
    try:
        step = kind(pool)
        results = step(pool.values)
    except NoOperandError:
        return None
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        return None
    tensors = [result for result in results if isinstance(result, torch.Tensor)]
    if any(t.dim() > LARGE_RANK or t.numel() > LARGE_TENSOR or t.numel() == 0 for t in tensors):
        return None
    return step, results
