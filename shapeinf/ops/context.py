"""`InferenceContext`: what a rule reads of its node, and the methods by which it adds constraints and builds shapes.

A dialect may extend it by a vocabulary of its own: `Dialect(context=...)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Final, NoReturn, overload

from shapeinf.compilation import mypyc_attr
from shapeinf.constraints.conditions import excludes
from shapeinf.errors import Contradiction, NotKnown, ShapeError, Source
from shapeinf.expr import Dimension, DimSize, Interval
from shapeinf.expr.atoms import Symbol
from shapeinf.lattice import (
    Alternatives,
    Condition,
    OptionalAxes,
    PartialTensor,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    broadcast,
    broadcast_dim,
    drop_shape,
    map_dims,
    merge_shape,
    quick_broadcast,
    relax_type,
)
from shapeinf.lattice.truths import Truth, logical_not
from shapeinf.ops.bodies import Body
from shapeinf.ops.opdef import OpDef

MAX_RANK = 1000
"""The largest rank that a rule may require: a larger one is that of a damaged file."""


Terms = Mapping[str, "DimSize | str | tuple[int, int]"]
"""The parameters in the formula of a size, by name, such as the kernel and the stride of a window."""
SizeTerms = dict[DimSize, Terms]

_NO_BODIES: Final[Mapping[str, Body]] = MappingProxyType({})
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


@mypyc_attr(allow_interpreted_subclasses=True)  # vocabularies of dialects
class InferenceContext:
    """One call of a rule: its inputs, attributes, node and the store of constraints."""

    op_def: OpDef
    types: Sequence[Type | None]
    """The types of the inputs, None for an absent one."""
    attributes: Mapping[str, object]
    store: ShapeStore
    node_name: str
    """The node as the source of constraints and in the names of new unknowns."""
    version: int
    num_outputs: int
    created_unknowns = False
    wanted: tuple[bool, ...] = ()
    """For each output that the node lists, whether it has a name."""
    warnings: tuple[ShapeError, ...] = ()
    violations: tuple[ShapeError, ...] = ()
    bodies: Mapping[str, Body] = _NO_BODIES
    written: Mapping[str, object] = _NOTHING
    """The attributes of the node as the file has them, with `InputContents` where they are contents of inputs."""
    conditions: Sequence[Truth] = ()
    """For a join of branches, what holds where each input has a value."""
    size_terms: SizeTerms | None = None
    """A table for an explanation, which collects the parameters of sizes; see `describe_size`."""
    _relaxed = 0
    _stated: tuple[Type | str | None, ...] | None = None
    """The types of the outputs if the rule fails, where the definition of the operator does not state them."""

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        node_name: str = "",
        version: int = 0,
        num_outputs: int = 1,
    ) -> None:
        """`node_name` is used in sources of constraints and in new unknowns."""
        self.op_def = op_def
        self.types = inputs
        self.attributes = attributes
        self.store = store
        self.node_name = node_name
        self.version = version
        self.num_outputs = num_outputs

    def collect_outputs(self) -> Sequence[Shape | Type | None] | None:
        """The outputs that a rule without parameters set by methods of the context; None where rules return them."""
        return None

    # -- constraints -------------------------------------------------------------------------------------------------

    def source(self, message: str) -> Source:
        """This node as the source of a constraint."""
        return Source(self.node_name, message)

    @overload
    def merge(self, a: DimSize, b: DimSize, message: str | None = None) -> DimSize: ...
    @overload
    def merge(self, a: Shape, b: Shape, message: str | None = None) -> Shape: ...
    def merge(self, a: DimSize | Shape, b: DimSize | Shape, message: str | None = None) -> DimSize | Shape:
        """Add that two dims or shapes are equal; the merged one. Raises ShapeError where they cannot be equal.

        The error has `message`, by default TensorFlow's text.
        """
        if a is b:
            return a
        if isinstance(a, Shape) and isinstance(b, Shape):
            return self._merge_shapes(a, b, message)
        if isinstance(a, Shape) or isinstance(b, Shape):
            raise TypeError("merge takes two dims or two shapes")
        if a == b:
            return a
        try:
            return self.store.add_equal(a, b, self.source(message or "dimensions must be equal"))
        except Contradiction as error:
            text = message or f"Dimensions must be equal, but are {a} and {b}"
            operands = (str(a), str(b)) if message else ()
            raise Contradiction(text, error.first, error.second, operands) from None

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

    def at_least(self, d: DimSize, bound: DimSize, message: str) -> None:
        """Add `d >= bound`. Raises Contradiction."""
        self._add_le(bound, d, message)

    def at_most(self, d: DimSize, bound: DimSize, message: str) -> None:
        """Add `d <= bound`. Raises Contradiction."""
        self._add_le(d, bound, message)

    def assume_at_most(self, d: DimSize, bound: DimSize, message: str, *, include_user_sizes: bool = False) -> bool:
        """Assume `d <= bound`, without which the node runs but has another output; returns whether it is assumed.

        Only sizes without a least size of the user are assumed, with `include_user_sizes` also those with one, for
        cases in which no useful graph runs otherwise. Where it is not assumed, the output must be right without it.
        """
        return self.store.assume_le(
            d, bound, Source(self.node_name, message, assumed=True), include_user_sizes=include_user_sizes
        )

    def assume_small(self, d: DimSize, limit: int, message: str) -> bool:
        """Assume `d <= limit` of a size without an upper bound; returns whether it is assumed."""
        return self.store.assume_small(d, limit, Source(self.node_name, message, assumed=True))

    def advise_at_most(self, d: DimSize, bound: DimSize, message: str) -> None:
        """Record `d <= bound` as a requirement of some runtimes that is not in the operator's definition."""
        self.store.advise_le(d, bound, Source(self.node_name, message, assumed=True))

    def _add_le(self, a: DimSize, b: DimSize, message: str) -> None:
        if self.store.bounds(a)[1] <= self.store.bounds(b)[0]:
            return
        try:
            self.store.add_le(a, b, self.source(message))
        except Contradiction as error:
            raise Contradiction(message, error.first, error.second, (str(a), str(b))) from None

    def require_condition(self, condition: Condition, message: str) -> None:
        """Add that a condition holds. Raises Contradiction."""
        self.store.add_condition(condition.expression, self.source(message))

    def decide(self, truth: Truth) -> Truth:
        """A truth that is decided where the constraints prove or exclude it."""
        if not isinstance(truth, Condition):
            return truth
        if excludes(self.store, truth.expression):
            return False
        return True if excludes(self.store, -truth.expression - 1) else truth

    def store_under(self, condition: Truth) -> ShapeStore:
        """The constraints where a condition holds."""
        if not isinstance(condition, Condition):
            return self.store
        return self.store.under(condition.expression, self.source("the condition of the branch"))

    def select(self, condition: Condition, a: DimSize, b: DimSize) -> DimSize | None:
        """A dim that is `a` where an undecided condition holds, and `b` where it does not; None where none is found."""
        sides = condition, logical_not(condition)
        if any(isinstance(side, Condition) and excludes(self.store, side.expression) for side in sides):
            return None
        first, second = map(self.store_under, sides)
        return Alternatives((first,), (second,), lambda symbol: False).common(a, b)

    def divisible(self, d: DimSize, divisor: int, message: str) -> None:
        """Add that `divisor` divides `d`. Raises Contradiction."""
        try:
            self.store.add_divisible(d, divisor, self.source(message))
        except Contradiction as error:
            raise Contradiction(message, error.first, error.second, (str(d), str(divisor))) from None

    def expect(self, a: DimSize | Shape, b: DimSize | Shape, message: str) -> None:
        """Add the equality of two sizes or shapes on which the outputs do not depend.

        Where they cannot be equal, the node fails at run time: that is a warning, and the outputs stay known.
        """
        try:
            if isinstance(a, Shape) and isinstance(b, Shape):
                self._merge_shapes(a, b, message)
            elif isinstance(a, (int, Dimension)) and isinstance(b, (int, Dimension)):
                self.merge(a, b, message)
        except ShapeError as error:
            self.warnings = (*self.warnings, error)

    def report(self, error: ShapeError) -> None:
        """Report a violation for which a runtime does not load the model; the rule still returns the outputs."""
        self.violations = (*self.violations, error)

    def state_types(self, *types: Type | str | None) -> None:
        """State the types of the outputs, in order, as they are even where the rule fails; a name is an element type.

        Shapes and lengths are dropped. For types that depend on more than the operator's definition.
        """
        self._stated = types

    @property
    def outputs_of_error(self) -> list[Type] | None:
        """The stated types of the outputs; None where the rule stated none."""
        if self._stated is None:
            return None
        return [
            PartialTensor(t, Shape.unknown(), None) if t is None or isinstance(t, str) else drop_shape(t)
            for t in self._stated
        ]

    def same_count(self, total: DimSize, known: DimSize, message: str) -> None:
        """Add that the number of elements (`total`) is the one that the node requires (`known`).

        Named dims are at least 1 by policy only: a node that requires a symbolic number to be 0 violates the policy
        alone, which is a warning.
        """
        if known == 0 and isinstance(total, Dimension):
            self.expect(total, 0, f"{message}: the count must be 0, but named dims are at least 1")
        else:
            self.merge(total, known, message)

    def describe_size(self, size: DimSize, **terms: DimSize | str | tuple[int, int]) -> None:
        """Record the parameters in the formula of an output size, if an explanation requests them."""
        if self.size_terms is not None:
            self.size_terms[size] = terms

    def fail(self, message: str, *operands: object) -> NoReturn:
        """Raise ShapeError: the model violates a requirement of the operator."""
        raise ShapeError(message, operands=tuple(map(str, operands)))

    # -- shapes ------------------------------------------------------------------------------------------------------

    def broadcast(self, *shapes: Shape) -> Shape:
        """Numpy broadcasting of shapes; unknown where a rank is unknown."""
        quick = quick_broadcast(shapes)
        if quick is not None:
            return quick
        first_atom = len(self.store.scope.atoms)
        shape = broadcast(self.store, *shapes, source=self.source("operands must broadcast"))
        self._note_unknowns(first_atom)
        return shape

    def broadcast_dim(self, a: DimSize, b: DimSize) -> DimSize:
        """Numpy broadcasting of two sizes."""
        first_atom = len(self.store.scope.atoms)
        size = broadcast_dim(self.store, a, b, self.source("operands must broadcast"))
        self._note_unknowns(first_atom)
        return size

    def _note_unknowns(self, first_atom: int) -> None:
        """Note whether there are new unknowns, as of sizes that may be 0 and may have to be equal."""
        if any([isinstance(atom, Symbol) for atom in self.store.scope.atoms[first_atom:]]):
            self.created_unknowns = True

    def relax(self, old: Shape, new: Shape) -> Shape:
        """The join of two shapes of which either may be true."""
        self.created_unknowns = True
        return self.store.relaxer.shape(old, new, self._join_label())

    def relax_dim(self, old: DimSize, new: DimSize) -> DimSize:
        """The join of two sizes of which either may be true."""
        self.created_unknowns = True
        return self.store.relaxer.dim(old, new, self._join_label())

    def _join_label(self) -> str:
        """The label of the next join point of this node."""
        self._relaxed += 1
        return f"{self.node_name}.relax{self._relaxed}"

    def relax_type(self, a: Type, b: Type, label: str, *, alternatives: Alternatives | None = None) -> Type:
        """The join of two types at a label of this node; unknown for types of different kinds.

        `alternatives`: where each of them is true; by default everywhere, in any iteration of all loops.
        """
        if a == b:
            return a
        self.created_unknowns = True
        tensors = isinstance(a, TensorType), isinstance(b, TensorType)
        if tensors[0] != tensors[1] or (not tensors[0] and type(a) is not type(b)):
            return PartialTensor(None, Shape.unknown(), None)
        return relax_type(self.store.relaxer, a, b, f"{self.node_name}.{label}", alternatives=alternatives)

    @property
    def widenings(self) -> int:
        """The number of times that bounds of join points have widened; constant at a fixpoint."""
        return self.store.relaxer.widenings

    def leave_cycle(self, value: TensorType) -> Type:
        """A value after the last iteration of a cycle of the graph; see `Relaxer.last`."""
        last = map_dims(value, self.store.relaxer.leave_cycle)
        self.created_unknowns = self.created_unknowns or last is not value
        return last

    def joined_symbols(self) -> set[Dimension]:
        """The symbols of joins at this node and inside its bodies, whose values differ between iterations."""
        return self.store.relaxer.symbols_below(self.node_name)

    def same_rank(self, *shapes: Shape) -> int:
        """The common rank. Raises ShapeError where ranks differ, NotKnown where one is unknown."""
        ranks = {len(s) for s in shapes}
        if len(ranks) > 1:
            self.fail("inputs must be of equal rank", *shapes)
        return ranks.pop()

    def require_rank(self, shape: Shape, rank: int, name: str = "input") -> Shape:
        """The shape, which must have this rank; an unknown rank is bound to it."""
        if not 0 <= rank <= MAX_RANK:
            self.fail(f"the rank of {name} must lie in 0..{MAX_RANK}", rank)
        if shape.dims is None:
            unknown = Shape(tuple(self.fresh(f"{name}.{i}") for i in range(rank)))
            return self.store.bind_shape(shape, unknown, self.source(f"{name} must be of rank {rank}"))
        if len(shape.dims) != rank:
            self.fail(f"{name} must be of rank {rank} but is of rank {len(shape.dims)}", shape)
        return shape

    def axis(self, axis: int, rank: int) -> int:
        """The axis counted from the front. Raises ShapeError where it is out of range."""
        if not -rank <= axis < rank:
            self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Iterable[int], rank: int) -> tuple[int, ...]:
        """Axes counted from the front. Raises ShapeError where one is out of range or listed twice."""
        normalized = tuple([self.axis(a, rank) for a in axes])
        if len(normalized) > 1 and len(set(normalized)) != len(normalized):
            self.fail("axes must be distinct", normalized)
        return normalized

    # -- queries and unknowns ----------------------------------------------------------------------------------------

    def numel(self, dims: Iterable[DimSize]) -> DimSize:
        """The number of elements."""
        return prod(dims)

    def unknown_shape(self) -> Shape:
        """A new unknown rank."""
        self.created_unknowns = True
        return Shape.unknown()

    def fresh(self, hint: str = "", lo: int | None = 0, hi: int | None = None) -> Dimension:
        """A new unknown, named by this node."""
        self.created_unknowns = True
        return self.store.new_size(f"{self.node_name}.{hint}" if hint else self.node_name, lo, hi)

    def fresh_at_most(self, most: DimSize, hint: str, lo: int = 0) -> Dimension:
        """A new unknown with the symbolic upper limit `most`, which holds by definition and is no constraint."""
        symbol = self.fresh(hint, lo, self.interval(most).hi)
        self.store.set_limit(symbol, most)
        return symbol

    def limit(self, unknown: Dimension, most: DimSize) -> None:
        """Set the upper limit of an unknown of this call, unless the limit contains unknowns itself."""
        if isinstance(most, int):
            low, high = self.store.bounds(unknown)
            self.store.set_bounds(unknown, (low, min(high, most)), self.source("by definition"))
        if isinstance(most, int) or not any(s.symbol.anonymous for s in most.symbols()):
            self.store.set_limit(unknown, most)

    def limit_of(self, unknown: Dimension) -> DimSize | None:
        """The symbolic upper limit of an unknown; None where it has none."""
        return self.store.scope.limits.get(unknown)

    def unknowable(self, reason: str, dtype: str | None = None) -> NotKnown:
        """The exception for outputs that cannot be inferred, with the reason in the message to the user.

        `dtype` is the element type of outputs whose definition has none.
        """
        return NotKnown(reason, dtype)

    def unknowable_rank(self, reason: str, shape: OptionalAxes) -> NotKnown:
        """The exception for an output of unknown rank: `shape` is resolved once the rank is inferred."""
        return NotKnown(reason, shape=shape)

    def interval(self, d: DimSize) -> Interval:
        """The bounds of a dim."""
        return self.store.interval(d)

    def prove_le(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a <= b`: always (True), never (False) or undecided (None)."""
        return self.store.prove_le(a, b)

    def prove_within_limits(self, d: DimSize, most: DimSize) -> bool:
        """Whether `d <= most` is proved, also by symbolic limits of unknowns in `d`, such as the number of a trip."""
        if self.prove_le(d, most) is True:
            return True
        if isinstance(d, int):
            return False
        for unknown in d.symbols():
            limit = self.limit_of(unknown)
            if limit is None or self.store.relaxer.is_joined(unknown):  # whose limits may still grow
                continue
            rest = d - unknown
            if (isinstance(rest, int) or unknown not in rest.symbols()) and self.prove_le(rest + limit, most) is True:
                return True
        return False

    def prove_eq(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a == b`: always (True), never (False) or undecided (None)."""
        return self.store.prove_eq(a, b)

    def concrete(self, d: DimSize) -> int | None:
        """The value of a dim; None where it is not a known number."""
        form = self.store.canon(d)
        return form if isinstance(form, int) else None

    def dtype(self, index: int) -> str | None:
        """The element type of an input; None where the input is absent, no tensor, or of unknown element type."""
        tensor = self.types[index] if index < len(self.types) else None
        return tensor.dtype if isinstance(tensor, TensorType) else None

    def value(self, index: int) -> PartialTensor | None:
        """An input whose contents are known, at least in part; else None."""
        tensor = self.types[index] if index < len(self.types) else None
        return tensor if isinstance(tensor, PartialTensor) and tensor.elements is not None else None


def tf_shape(shape: Shape) -> str:
    """A shape as in TensorFlow's messages: `[1,?,3]`, with `?` for each symbolic size."""
    if shape.dims is None:
        return "?"
    return "[" + ",".join(str(d) if isinstance(d, int) else "?" for d in shape.dims) + "]"
