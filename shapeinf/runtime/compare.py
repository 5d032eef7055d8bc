"""The inferred type of a tensor against the type that a run observes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension, DimSize, evaluate
from shapeinf.result import Result
from shapeinf.runtime.protocol import ObservedType

Verdict = Literal["exact", "bounded", "unknown", "wrong"]


class InferredTypes:
    """One inference, with the sizes of its symbols in a run.

    Sizes that depend on data are read from the run: a symbol has one size in all tensors, so the first tensor with it
    determines the size, and all others must agree.
    """

    def __init__(self, result: Result, inputs: Mapping[str, tuple[int, ...]], sizes: Mapping[str, int]) -> None:
        """`inputs`: the shapes of the inputs in the run; `sizes`: the sizes of named dims."""
        self.result = result
        self.sizes = dict(sizes)
        for name, shape in inputs.items():
            self._learn(result.tensors[name].shape.dims or (), shape)
        self.bound = frozenset(self.sizes)

    def learn(self, observed: Iterable[tuple[str, ObservedType]]) -> None:
        """Read the sizes of symbols from the types of tensors in the run, by name."""
        for name, type_ in observed:
            self._learn(self.result.tensors[name].shape.dims or (), type_.shape)

    def _learn(self, dims: Iterable[DimSize], shape: tuple[int, ...]) -> None:
        for dim, size in zip(dims, shape, strict=False):
            if isinstance(dim, Dimension) and dim.is_symbol:
                self.sizes.setdefault(dim.name, size)

    def verdict(self, info: TensorInfo, observed: ObservedType, *, item: bool = False) -> Verdict:
        """How an inferred type fits; in an `item` of a sequence, symbols that depend on data may have other sizes."""
        if info.dtype is not None and observed.dtype is not None and info.dtype != observed.dtype:
            return "wrong"
        dims = info.shape.dims
        if dims is None:
            return "unknown"
        if len(dims) != len(observed.shape):
            return "wrong"
        sizes = {name: self.sizes[name] for name in self.bound} if item else self.sizes
        if not all(self._fits(dim, size, sizes) for dim, size in zip(dims, observed.shape, strict=True)):
            return "wrong"
        if info.dtype is None:
            return "unknown"
        exact = all(isinstance(d, int) or all(s.name in self.bound for s in d.symbols()) for d in dims)
        return "exact" if exact else "bounded"

    def _fits(self, dim: DimSize, size: int, sizes: Mapping[str, int]) -> bool:
        if isinstance(dim, int):
            return dim == size
        if size not in self.result.interval(dim):
            return False
        if any(symbol.name not in sizes for symbol in dim.symbols()):
            return True
        try:
            return int(evaluate(dim, sizes)) == size
        except (ZeroDivisionError, OverflowError):
            return False

    def describe(self, info: TensorInfo) -> str:
        """An inferred type as text, with the sizes of its symbols in the run."""
        names = {symbol.name for symbol in info.shape.symbols() if symbol.name in self.sizes}
        sizes = ", ".join(f"{name} = {self.sizes[name]}" for name in sorted(names))
        return f"{info} with {sizes}" if sizes else str(info)
