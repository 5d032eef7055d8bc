"""What a rule says to its context: merge, tell, ask; TensorFlow's own vocabulary is in `context`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import NoReturn, overload

from shapeinf.errors import Contradiction, NotKnown, ShapeError, Source
from shapeinf.expr import Dim, Dimension, Interval
from shapeinf.lattice import (
    OptionalAxes,
    PartialTensor,
    RankNotKnown,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    broadcast,
    broadcast_dim,
    merge_shape,
    quick_broadcast,
    relax_type,
)
from shapeinf.ops.bodies import Body
from shapeinf.ops.opdef import OpDef

MAX_RANK = 1000
"""No tensor has more axes: attributes that ask for more are damaged."""


class RuleContext:
    """One call of a rule: its inputs, attributes, site and the facts it may tell and ask."""

    created_unknowns = False
    wanted: tuple[bool, ...] = ()
    """Of each output that the node lists, whether it has a name."""
    warnings: tuple[ShapeError, ...] = ()
    bodies: Mapping[str, Body] = MappingProxyType({})
    written: Mapping[str, object] = MappingProxyType({})
    """The attributes as the node has them, where some are contents of inputs: with `InputContents` in their places."""
    _relaxed = 0

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        site: str,
        version: int = 0,
        num_outputs: int = 1,
    ) -> None:
        """`site` names the node in facts and in the unknowns made here."""
        self.op_def = op_def
        self.types = inputs
        self.attributes = attributes
        self.store = store
        self.site = site
        self.version = version
        self.num_outputs = num_outputs

    # -- telling -----------------------------------------------------------------------------------------------------

    def source(self, message: str) -> Source:
        """This node, saying a law."""
        return Source(self.site, message)

    @overload
    def merge(self, a: Dim, b: Dim, message: str | None = None) -> Dim: ...
    @overload
    def merge(self, a: Shape, b: Shape, message: str | None = None) -> Shape: ...
    def merge(self, a: Dim | Shape, b: Dim | Shape, message: str | None = None) -> Dim | Shape:
        """Both are true: tell that they are equal. Raises ShapeError when they cannot be: the law, else TF's text."""
        if a is b:
            return a
        if isinstance(a, Shape) and isinstance(b, Shape):
            return self._merge_shapes(a, b, message)
        if isinstance(a, Shape) or isinstance(b, Shape):
            raise TypeError("merge takes two dims or two shapes")
        if a == b:
            return a
        told = message or f"Dimensions must be equal, but are {a} and {b}"
        try:
            return self.store.add_equal(a, b, self.source(told))
        except Contradiction as error:
            operands = (str(a), str(b)) if message else ()
            raise Contradiction(told, error.first, error.second, operands) from None

    def _merge_shapes(self, a: Shape, b: Shape, message: str | None) -> Shape:
        if message is not None:
            return merge_shape(self.store, a, b, self.source(message))
        left, right = self.store.canon_shape(a).dims, self.store.canon_shape(b).dims
        if left is not None and right is not None:
            if len(left) != len(right):
                raise ShapeError(f"Shapes must be equal rank, but are {len(left)} and {len(right)}")
            for i, (x, y) in enumerate(zip(left, right, strict=True)):
                if isinstance(x, int) and isinstance(y, int) and x != y:
                    where = f"Shapes are {tf_shape(a)} and {tf_shape(b)}."
                    raise ShapeError(f"Dimension {i} in both shapes must be equal, but are {x} and {y}. {where}")
        return merge_shape(self.store, a, b, self.source("shapes must be equal"))

    def at_least(self, d: Dim, bound: Dim, message: str) -> None:
        """Tell `d >= bound`."""
        self._tell_le(bound, d, message)

    def at_most(self, d: Dim, bound: Dim, message: str) -> None:
        """Tell `d <= bound`."""
        self._tell_le(d, bound, message)

    def assume_at_most(self, d: Dim, bound: Dim, message: str, *, include_user_sizes: bool = False) -> bool:
        """Assume `d <= bound` of presumed sizes, without which the node runs but has another output.

        With `include_user_sizes` also of sizes of the user: where no useful graph runs otherwise. False where it must
        not be assumed: then the output must be right without it.
        """
        return self.store.assume_le(
            d, bound, Source(self.site, message, assumed=True), include_user_sizes=include_user_sizes
        )

    def assume_small(self, d: Dim, limit: int, message: str) -> bool:
        """Assume `d <= limit` of sizes of which nobody gave an upper end; False where it must not be assumed."""
        return self.store.assume_small(d, limit, Source(self.site, message, assumed=True))

    def advise_at_most(self, d: Dim, bound: Dim, message: str) -> None:
        """Note `d <= bound` as what some runtimes want and the operator's definition does not; nothing follows."""
        self.store.advise_le(d, bound, Source(self.site, message, assumed=True))

    def _tell_le(self, a: Dim, b: Dim, message: str) -> None:
        try:
            self.store.add_le(a, b, self.source(message))
        except Contradiction as error:
            raise Contradiction(message, error.first, error.second, (str(a), str(b))) from None

    def divisible(self, d: Dim, divisor: int, message: str) -> None:
        """Tell that `divisor` divides `d`."""
        try:
            self.store.add_divisible(d, divisor, self.source(message))
        except Contradiction as error:
            raise Contradiction(message, error.first, error.second, (str(d), str(divisor))) from None

    def expect(self, a: Dim | Shape, b: Dim | Shape, message: str) -> None:
        """Tell that two sizes or shapes are equal which the outputs do not depend on.

        Where they cannot be equal the node will fail when it runs; that is a warning, and inference goes on.
        """
        try:
            if isinstance(a, Shape) and isinstance(b, Shape):
                self._merge_shapes(a, b, message)
            elif isinstance(a, (int, Dimension)) and isinstance(b, (int, Dimension)):
                self.merge(a, b, message)
        except ShapeError as error:
            self.warnings = (*self.warnings, error)

    def same_count(self, total: Dim, known: Dim, message: str) -> None:
        """Tell that what is there (`total`) and what the node asks for (`known`) are equally many.

        That dims are at least 1 is an assumption, no law of a model: a node that asks for nothing of a symbolic size
        breaks only the assumption, which is a warning.
        """
        if known == 0 and isinstance(total, Dimension):
            self.expect(total, 0, f"{message}: there must be none, yet sizes are taken to be at least 1")
        else:
            self.merge(total, known, message)

    def fail(self, message: str, *operands: object) -> NoReturn:
        """The model breaks a law."""
        raise ShapeError(message, operands=tuple(map(str, operands)))

    # -- shapes ------------------------------------------------------------------------------------------------------

    def broadcast(self, *shapes: Shape) -> Shape:
        """Numpy broadcasting; unknown when any rank is."""
        quick = quick_broadcast(shapes)
        if quick is not None:
            return quick
        return broadcast(self.store, *shapes, source=self.source("operands must broadcast"))

    def broadcast_dim(self, a: Dim, b: Dim) -> Dim:
        """Numpy broadcasting of two sizes."""
        return broadcast_dim(self.store, a, b, self.source("operands must broadcast"))

    def join(self, *shapes: Shape | None) -> Shape:
        """Any of them may be true: relaxed at this site; shapes that are not there yet (None) do not count."""
        there = [s for s in shapes if s is not None]
        self.created_unknowns = True
        result = there[0]
        for shape in there[1:]:
            result = self.store.relaxer.shape(result, shape, self.site)
        return result

    def relax_type(self, a: Type, b: Type, place: str, *, same_iteration: bool = False) -> Type:
        """Either type may be true at a place of this site: what is equal in both stays, nothing of different kinds.

        `same_iteration` says that both are of the same trip of all loops around the node, as the branches of an If are.
        """
        if a == b:
            return a
        self.created_unknowns = True
        tensors = isinstance(a, TensorType), isinstance(b, TensorType)
        if tensors[0] != tensors[1] or (not tensors[0] and type(a) is not type(b)):
            return PartialTensor(None, Shape.unknown(), None)
        return relax_type(self.store.relaxer, a, b, f"{self.site}.{place}", same_iteration=same_iteration)

    @property
    def widenings(self) -> int:
        """How often the bounds of join sites have grown; a fixpoint is reached when they do not."""
        return self.store.relaxer.widenings

    def same_rank(self, *shapes: Shape) -> int:
        """The common rank; ShapeError when the ranks differ, NotKnown when one is unknown."""
        ranks = {len(s) for s in shapes}
        if len(ranks) > 1:
            self.fail("inputs must be of equal rank", *shapes)
        return ranks.pop()

    def require_rank(self, shape: Shape, rank: int, what: str = "input") -> Shape:
        """The shape, which must have this rank; an unknown rank is learned."""
        if not 0 <= rank <= MAX_RANK:
            self.fail(f"the rank of {what} must lie in 0..{MAX_RANK}", rank)
        if shape.dims is None:
            unknown = Shape(tuple(self.fresh(f"{what}.{i}") for i in range(rank)))
            return self.store.bind_shape(shape, unknown, self.source(f"{what} must be of rank {rank}"))
        if len(shape.dims) != rank:
            self.fail(f"{what} must be of rank {rank} but is of rank {len(shape.dims)}", shape)
        return shape

    def axis(self, axis: int, rank: int) -> int:
        """The axis counted from the front; ShapeError when it is out of range."""
        if not -rank <= axis < rank:
            self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Iterable[int], rank: int) -> tuple[int, ...]:
        """Several axes counted from the front; ShapeError when one is out of range or named twice."""
        found = tuple(self.axis(a, rank) for a in axes)
        if len(set(found)) != len(found):
            self.fail("no axis may be named twice", found)
        return found

    # -- asking ------------------------------------------------------------------------------------------------------

    def numel(self, dims: Iterable[Dim]) -> Dim:
        """The number of elements."""
        return prod(dims)

    def fresh(self, hint: str = "", lo: int | None = 0, hi: int | None = None) -> Dimension:
        """A new unknown, named by this site."""
        self.created_unknowns = True
        return self.store.scope.fresh(f"{self.site}.{hint}" if hint else self.site, lo, hi)

    def fresh_at_most(self, most: Dim, hint: str, lo: int = 0) -> Dimension:
        """A new unknown that is never more than `most`: nothing is demanded, it follows from what the node does."""
        found = self.fresh(hint, lo, self.interval(most).hi)
        self.store.scope.limits[found] = most
        return found

    def limit(self, made: Dimension, most: Dim) -> None:
        """An unknown that was made here turns out to be never more than `most`, a dim without other unknowns."""
        if isinstance(most, int) or not any(s.symbol.anonymous for s in most.symbols()):
            self.store.scope.limits[made] = most

    def limit_of(self, made: Dimension) -> Dim | None:
        """What an unknown is never more than, as a dim, where that was said when it was made."""
        return self.store.scope.limits.get(made)

    def unknowable(self, reason: str, dtype: str | None = None) -> NotKnown:
        """What to raise when the outputs cannot be known; the reason is shown to the user.

        `dtype` is the element type of outputs whose definition does not say it.
        """
        return NotKnown(reason, dtype)

    def unknowable_rank(self, reason: str, shape: OptionalAxes) -> NotKnown:
        """What to raise when only the rank of the output cannot be known: it is found once something tells the rank."""
        return RankNotKnown(reason, shape)

    def interval(self, d: Dim) -> Interval:
        """The bounds of a dim."""
        return self.store.interval(d)

    def prove_le(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a <= b` always, never, or not decided."""
        return self.store.prove_le(a, b)

    def prove_eq(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a == b` always, never, or not decided."""
        return self.store.prove_eq(a, b)

    def concrete(self, d: Dim) -> int | None:
        """The value of a dim when it is known."""
        found = self.store.canon(d)
        return found if isinstance(found, int) else None

    def dtype(self, index: int) -> str | None:
        """The element type of an input, None when it is missing or not known."""
        found = self.types[index] if index < len(self.types) else None
        return found.dtype if isinstance(found, TensorType) else None

    def value(self, index: int) -> PartialTensor | None:
        """The known contents of an input, None when there are none."""
        found = self.types[index] if index < len(self.types) else None
        return found if isinstance(found, PartialTensor) and found.elements is not None else None


def tf_shape(shape: Shape) -> str:
    """A shape as TensorFlow's messages write it: `[1,?,3]`, `?` for every size that is not known."""
    if shape.dims is None:
        return "?"
    return "[" + ",".join(str(d) if isinstance(d, int) else "?" for d in shape.dims) + "]"
