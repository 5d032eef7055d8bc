"""What an inference says of a tensor against what a run made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs
import numpy as np

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dim, Dimension, evaluate
from shapeinf.formats.onnx.names import ONNX_NAMES
from shapeinf.result import Result

Verdict = Literal["exact", "bounded", "unknown", "wrong"]


@attrs.frozen
class Real:
    """The element type (None for an item without one) and the shape of a tensor in a run."""

    dtype: str | None
    shape: tuple[int, ...]

    @classmethod
    def of(cls, found: Any) -> Real:
        """Of a value of the runtime, or of an array."""
        if isinstance(found, np.ndarray):
            return cls("string" if found.dtype.kind in "OUS" else found.dtype.name, found.shape)
        return cls(ONNX_NAMES.get(found.element_type()), tuple(found.shape()))

    def __str__(self) -> str:
        """`float32[2, 3]`."""
        return f"{self.dtype or '?'}[{', '.join(map(str, self.shape))}]"


class Claims:
    """One inference, with the sizes that its symbols have in a run.

    Sizes that depend on data are learned from the run: a symbol is one number wherever it stands, so the first tensor
    that shows it gives its size, and every other one must agree.
    """

    def __init__(self, result: Result, inputs: Mapping[str, tuple[int, ...]], sizes: Mapping[str, int]) -> None:
        """`inputs`: the shapes of the inputs in the run; `sizes`: those of named dims."""
        self.result = result
        self.sizes = dict(sizes)
        for name, shape in inputs.items():
            self._learn(result.tensors[name].shape.dims or (), shape)
        self.given = frozenset(self.sizes)

    def learn(self, reals: Iterable[tuple[str, Real]]) -> None:
        """Learn the sizes of symbols from tensors of the run."""
        for name, real in reals:
            self._learn(self.result.tensors[name].shape.dims or (), real.shape)

    def _learn(self, dims: Iterable[Dim], shape: tuple[int, ...]) -> None:
        for dim, size in zip(dims, shape, strict=False):
            if isinstance(dim, Dimension) and dim.is_symbol:
                self.sizes.setdefault(dim.name, size)

    def verdict(self, info: TensorInfo, real: Real, *, item: bool = False) -> Verdict:
        """How what we say fits; of an `item` of a sequence a symbol may have another size than elsewhere."""
        if info.dtype is not None and real.dtype is not None and info.dtype != real.dtype:
            return "wrong"
        dims = info.shape.dims
        if dims is None:
            return "unknown"
        if len(dims) != len(real.shape):
            return "wrong"
        known = {name: self.sizes[name] for name in self.given} if item else self.sizes
        if not all(self._fits(dim, size, known) for dim, size in zip(dims, real.shape, strict=True)):
            return "wrong"
        if info.dtype is None:
            return "unknown"
        exact = all(isinstance(d, int) or all(s.name in self.given for s in d.symbols()) for d in dims)
        return "exact" if exact else "bounded"

    def _fits(self, dim: Dim, size: int, known: Mapping[str, int]) -> bool:
        if isinstance(dim, int):
            return dim == size
        if size not in self.result.interval(dim):
            return False
        if any(symbol.name not in known for symbol in dim.symbols()):
            return True
        try:
            return int(evaluate(dim, known)) == size
        except (ZeroDivisionError, OverflowError):
            return False

    def said(self, info: TensorInfo) -> str:
        """What we say, with the sizes of the run for its symbols where they give other text."""
        names = {symbol.name for symbol in info.shape.symbols() if symbol.name in self.sizes}
        shown = ", ".join(f"{name} = {self.sizes[name]}" for name in sorted(names))
        return f"{info} with {shown}" if shown else str(info)
