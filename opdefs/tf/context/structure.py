"""TensorFlow's methods for ranks, parts of shapes and arithmetic on dims, with its error messages.

Where TensorFlow returns an unrelated unknown (for `unknown + 1`) the results here are symbolic. See
`tensorflow/core/framework/shape_inference.h` for the names.
"""

from __future__ import annotations

from collections.abc import Iterable

from opdefs.rules.operands import is_unit
from shapeinf.errors import Contradiction, ShapeError
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Shape
from shapeinf.lattice.dtypes import INT64_MAX
from shapeinf.ops import InferenceContext

INT32_MAX = 2**31 - 1

MAX_UNKNOWN_RANK = 2**16
"""The largest rank of a shape of unknown sizes; a file with a larger one is damaged."""


class StructureContext(InferenceContext):
    """Construction, checks, slicing and concatenation of shapes; checked arithmetic."""

    # -- construction ------------------------------------------------------------------------------------------------

    def make_dim(self, value: DimSize | None) -> DimSize:
        """A dim with this value; -1 and None are unknown."""
        return self.unknown_dim() if value is None or (isinstance(value, int) and value == -1) else value

    def unknown_dim(self) -> DimSize:
        """A new unknown of at least 0."""
        return self.fresh("dim", 0)

    def make_shape(self, dims: Iterable[DimSize | None]) -> Shape:
        """A shape of these dims; -1 and None are unknown."""
        return Shape(self.make_dim(d) for d in dims)

    def scalar(self) -> Shape:
        """The shape of a scalar."""
        return Shape(())

    def vector(self, size: DimSize | None) -> Shape:
        """The shape of a vector."""
        return self.make_shape((size,))

    def matrix(self, rows: DimSize | None, columns: DimSize | None) -> Shape:
        """The shape of a matrix."""
        return self.make_shape((rows, columns))

    def unknown_shape_of_rank(self, rank: int) -> Shape:
        """Unknown dims; -1 is an unknown rank. Raises ShapeError below -1."""
        if not -1 <= rank <= MAX_UNKNOWN_RANK:
            raise ShapeError(f"a rank must lie in -1..{MAX_UNKNOWN_RANK}, but is {rank}")
        return self.unknown_shape() if rank == -1 else Shape(self.unknown_dim() for _ in range(rank))

    def dim(self, shape: Shape, index: int) -> DimSize:
        """One dim, unknown for an unknown rank. Raises IndexError out of range."""
        shape = self.store.canon_shape(shape)
        return self.unknown_dim() if shape.dims is None else shape.dims[index]

    def rank(self, shape: Shape) -> int | None:
        """The rank under the constraints, None when unknown."""
        return self.store.canon_shape(shape).rank

    def fully_defined(self, shape: Shape) -> bool:
        """Whether rank and all sizes are known."""
        return self.store.canon_shape(shape).is_concrete

    def num_elements(self, shape: Shape) -> DimSize:
        """The product of the dims. Raises ShapeError past 2**63 - 1 (TensorFlow wraps around silently)."""
        shape = self.store.canon_shape(shape)
        if shape.dims is None:
            return self.unknown_dim()
        total = self.numel(shape.dims)
        if isinstance(total, int) and total > INT64_MAX:
            raise ShapeError(f"the number of elements of {shape} is more than 2**63 - 1")
        return total

    # -- checks ------------------------------------------------------------------------------------------------------

    def with_rank(self, shape: Shape, rank: int) -> Shape:
        """The shape, which must have this rank; an unknown rank is bound to it."""
        _require_int32(rank)
        known = self.store.canon_shape(shape)
        if known.dims is None:
            return self.merge(known, self.unknown_shape_of_rank(rank))
        if len(known.dims) != rank:
            raise ShapeError(f"Shape must be rank {rank} but is rank {len(known.dims)}")
        return known

    def with_rank_at_least(self, shape: Shape, rank: int) -> Shape:
        """The shape, which must have this rank or more (an unknown rank stays unknown)."""
        _require_int32(rank)
        known = self.store.canon_shape(shape)
        if known.dims is not None and len(known.dims) < rank:
            raise ShapeError(f"Shape must be at least rank {rank} but is rank {len(known.dims)}")
        return known

    def with_rank_at_most(self, shape: Shape, rank: int) -> Shape:
        """The shape, which must have this rank or less (an unknown rank stays unknown)."""
        _require_int32(rank)
        known = self.store.canon_shape(shape)
        if known.dims is not None and len(known.dims) > rank:
            raise ShapeError(f"Shape must be at most rank {rank} but is rank {len(known.dims)}")
        return known

    def with_value(self, dim: DimSize, value: int) -> DimSize:
        """The dim, which must have this value; -1 allows any."""
        known = self.store.canon(dim)
        if isinstance(known, int) and known != value:
            raise ShapeError(f"Dimension must be {value} but is {known}")
        return known if value == -1 else self.merge(known, value)

    def merge_prefix(self, shape: Shape, prefix: Shape) -> tuple[Shape, Shape]:
        """Merge the first dims of a shape with a prefix; both with the merged dims."""
        full, part = self.store.canon_shape(shape), self.store.canon_shape(prefix)
        if full.dims is None or part.dims is None:
            return full, part
        self.with_rank_at_least(full, len(part.dims))
        merged = tuple(self.merge(a, b) for a, b in zip(full.dims, part.dims, strict=False))
        return Shape((*merged, *full.dims[len(merged) :])), Shape(merged)

    # -- slicing and concatenation -----------------------------------------------------------------------------------

    def subshape(self, shape: Shape, start: int = 0, end: int | None = None, stride: int = 1) -> Shape:
        """The dims `start:end:stride`; negative positions count from the end."""
        known = self.store.canon_shape(shape)
        last = INT64_MAX if end is None else end
        if start == 0 and stride == 1 and (last == INT64_MAX or (known.dims is not None and last >= len(known.dims))):
            return known
        if known.dims is None:
            return self.unknown_shape()
        if stride == 0:
            raise ShapeError("Subshape stride must not be 0")
        first, last = _subshape_ends(start, last, stride, len(known.dims))
        return Shape(known.dims[i] for i in range(first, last, stride))

    def concatenate(self, first: Shape, second: Shape) -> Shape:
        """The dims of both; unknown when either rank is."""
        a, b = self.store.canon_shape(first), self.store.canon_shape(second)
        return self.unknown_shape() if a.dims is None or b.dims is None else Shape((*a.dims, *b.dims))

    def replace_dim(self, shape: Shape, index: int, new: DimSize) -> Shape:
        """The shape with one dim replaced; negative indices count from the end."""
        known = self.store.canon_shape(shape)
        if known.dims is None:
            return self.unknown_shape()
        rank = len(known.dims)
        if not -rank <= index < rank:
            raise ShapeError(f"Out of range dim_index {index} for shape with {rank} dimensions")
        dims = list(known.dims)
        dims[index] = new
        return Shape(dims)

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def add(self, first: DimSize, second: DimSize | None) -> DimSize:
        """The sum. Raises ShapeError past 2**63 - 1."""
        a, b = self._operands(first, second)
        return _check_size(a + b, f"Dimension size overflow from adding {a} and {b}")

    def subtract(self, first: DimSize, second: DimSize | None) -> DimSize:
        """The difference; adds that it is at least 0. Raises ShapeError when it is known and negative."""
        a, b = self._operands(first, second)
        if isinstance(b, int) and b == 0:
            return a
        message = f"Negative dimension size caused by subtracting {b} from {a}"
        if isinstance(a, int) and isinstance(b, int):
            if a < b:
                raise ShapeError(message)
            return a - b
        try:
            self.at_least(a, b, message)
        except Contradiction:
            return self.unknown_dim()  # as TensorFlow: only known sizes are an error
        return a - b

    def multiply(self, first: DimSize, second: DimSize | None) -> DimSize:
        """The product. Raises ShapeError past 2**63 - 1."""
        a, b = self._operands(first, second)
        return _check_size(a * b, f"Negative dimension size caused by overflow when multiplying {a} and {b}")

    def divide(self, dividend: DimSize, divisor: DimSize | None, evenly_divisible: bool = False) -> DimSize:
        """The quotient, rounded down. Raises ShapeError where it must be exact and is not, and for divisors below 1."""
        a, b = self.store.canon(dividend), self.unknown_dim() if divisor is None else self.store.canon(divisor)
        if is_unit(b):
            return a
        if not isinstance(a, int) or not isinstance(b, int):
            return self._symbolic_quotient(a, b, evenly_divisible)
        if b <= 0:
            raise ShapeError(f"Divisor must be positive but is {b}")
        if evenly_divisible and a % b:
            raise ShapeError(f"Dimension size must be evenly divisible by {b} but is {a}")
        return a // b

    def min(self, first: DimSize, second: DimSize | None) -> DimSize:
        """The smaller; -1 and None are unknown."""
        return minimum(*self._operands(first, second))

    def max(self, first: DimSize, second: DimSize | None) -> DimSize:
        """The larger; -1 and None are unknown."""
        return maximum(*self._operands(first, second))

    def _symbolic_quotient(self, a: DimSize, b: DimSize, evenly: bool) -> DimSize:
        if isinstance(b, int):
            if b <= 0:
                return self.unknown_dim()  # as TensorFlow: an unknown size hides the bad divisor
            if evenly:
                self.divisible(a, b, f"Dimension size must be evenly divisible by {b}")
        return a // b

    def _operands(self, first: DimSize, second: DimSize | None) -> tuple[DimSize, DimSize]:
        return self.store.canon(first), self.store.canon(self.make_dim(second))


def _check_size(result: DimSize, message: str) -> DimSize:
    if isinstance(result, int) and result > INT64_MAX:
        raise ShapeError(message)
    return result


def _require_int32(rank: int) -> None:
    if rank > INT32_MAX:
        raise ShapeError("Rank cannot exceed kint32max")


def _subshape_ends(start: int, end: int, stride: int, rank: int) -> tuple[int, int]:
    """First and last position, as TensorFlow clamps and checks them."""
    first, last = min(start, rank), min(end, rank)
    if stride < 0 and first == rank:
        first -= 1
    first = first + rank if first < 0 else first
    last = last + rank if last < 0 else last
    for bound, position, argument in (("start", first, start), ("end", last, end)):
        if position < 0:
            raise ShapeError(f"Subshape {bound} out of bounds: {argument}, for shape with rank {rank}")
    computed = f"{first} and {last} (computed from start {start} and end {end} over shape with rank {rank}"
    if stride > 0 and first > last:
        raise ShapeError(f"Subshape must have computed start <= end, but is {computed})")
    if stride < 0 and first < last:
        message = "Subshape must have computed start >= end since stride is negative, but is"
        raise ShapeError(f"{message} {computed} and stride{stride})")
    return first, last
