"""The kernels of a runtime: their temporaries, the inputs that they overwrite or share, the weights that they repack.

`RuntimeKernels` has the rules of one runtime, by (domain, operator, first version); it is also the decorator that
registers them. The rules are in packages of operators (`opdefs/RUNTIME`), and a dialect names the object of each
runtime: `Dialect(kernels={"onnxruntime": "opdefs.onnxruntime:onnxruntime"})`.

A kernel that was not measured has no rule, and its lookup raises NotKnown: it is never counted as 0.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

import attrs

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, ceildiv, maximum, minimum
from shapeinf.lattice import Shape, ShapeStore, TensorType, Type, element_bits
from shapeinf.memory.sizes import too_long
from shapeinf.ops import CostContext, Dialect, OpDef
from shapeinf.ops.entry_points import InstalledEntryPoint
from shapeinf.ops.versioned_rules import VersionedRules

L2_CACHE_BYTES = 512 * 1024
"""The second-level cache of one core where the system does not state its size."""
_SC_LEVEL2_CACHE_SIZE = 191
"""The number of the size in glibc, which Python has no name for."""


def machine_l2_cache_bytes() -> int:
    """The second-level cache of one core of this machine, as runtimes read it; else `L2_CACHE_BYTES`."""
    if sys.platform != "linux" or not platform.libc_ver()[0]:
        return L2_CACHE_BYTES
    try:
        size = os.sysconf(_SC_LEVEL2_CACHE_SIZE)
    except (OSError, ValueError):
        return L2_CACHE_BYTES
    return size if size > 0 else L2_CACHE_BYTES


Function = TypeVar("Function", bound=Callable[..., object])
Context = TypeVar("Context", bound="KernelContext")
Result = TypeVar("Result")


@attrs.frozen
class KernelOptions:
    """What decides the buffers of a kernel besides the shapes.

    Args:
        threads: the number of threads in one kernel.
        l2_cache_bytes: the second-level cache of one core, by default of this machine; attention is computed in blocks
            that fit into it.
        prepacking: whether a session repacks constant weights when it is created.
    """

    threads: int = 1
    l2_cache_bytes: int = attrs.field(factory=machine_l2_cache_bytes)
    prepacking: bool = True


@attrs.frozen
class Scratch:
    """The temporaries of one run of a kernel, in bytes that are not yet rounded to the alignment of the allocator.

    With `live` bytes of other values, all outputs included, and with `outputs` bytes in the outputs, the peak at the
    node is `max(live + sum(with_outputs), live - outputs + sum(before_outputs))`.

    Args:
        with_outputs: the temporaries that live together with the outputs, when the most bytes do.
        before_outputs: the temporaries that live together while no output is allocated yet, when the most bytes do.
        first: whether `with_outputs` are allocated before the outputs, which decides the regions of an arena.
        is_bound: whether the kernel may need less, because a choice between formulas is not decided by symbolic sizes.
    """

    with_outputs: Sequence[DimSize] = ()
    before_outputs: Sequence[DimSize] = ()
    first: bool = False
    is_bound: bool = False


NO_SCRATCH = Scratch()


class KernelContext(CostContext):
    """One call of a kernel: the types of inputs and outputs, the constant inputs, and the options of the session."""

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        outputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        version: int = 0,
        *,
        constants: Iterable[int] = (),
        options: KernelOptions | None = None,
        alignment: int = 64,
    ) -> None:
        """As for `CostContext`; `constants` are the positions of the inputs that are initializers."""
        super().__init__(op_def, inputs, outputs, attributes, store, version)
        self.alignment = alignment
        self.constants = frozenset(constants)
        self.options = options or KernelOptions()

    def dtype(self, index: int) -> str:
        """The element type of an input. Raises NotKnown if it is not known."""
        value = self.types[index] if index < len(self.types) else None
        if not isinstance(value, TensorType) or value.dtype is None:
            raise NotKnown(f"the element type of input {index} is not known")
        return value.dtype

    def width(self, index: int) -> int:
        """The bytes of one element of an input. Raises NotKnown for packed elements and for texts."""
        bits = element_bits(self.dtype(index))
        if bits is None or bits % 8:
            raise NotKnown(f"the elements of input {index} have no whole number of bytes")
        return bits // 8

    def input_bytes(self, index: int) -> DimSize:
        """The bytes of an input, not rounded."""
        return self.product(self.width(index), *self.input(index))

    def round_up(self, amount: DimSize, multiple: int) -> DimSize:
        """The least multiple that is not less than an amount."""
        return multiple * ceildiv(amount, multiple)

    def broadcast(self, *shapes: Shape) -> Shape:
        """The shape that operands of known rank broadcast to; exact for sizes of 1 or more, and never too small.

        Nothing is added to the constraints: which sizes are legal is known from the inference.
        """
        dims: list[DimSize] = []
        for axis in range(-max(map(len, shapes), default=0), 0):
            dims.append(maximum(*[shape[axis] for shape in shapes if len(shape) >= -axis]))
        return Shape(dims)

    def choose(self, small: DimSize, large: DimSize, then: DimSize, otherwise: DimSize) -> DimSize:
        """`then` for the sizes with `small <= large`, `otherwise` for all others; exact where it depends on symbols."""
        is_at_most = self.store.prove_le(small, large)
        if is_at_most is not None:
            return then if is_at_most else otherwise
        holds = minimum(maximum(large - small + 1, 0), 1)
        return self.sum(self.product(holds, then), self.product(1 - holds, otherwise))

    def exact_or(self, exact: Callable[[], DimSize], bound: DimSize) -> tuple[DimSize, bool]:
        """An exact formula, or an upper bound if it is too long; and whether it is the bound."""
        capped = len(self.store.scope.capped)
        try:
            amount = exact()
        except NotKnown:
            return bound, True
        return (amount, False) if len(self.store.scope.capped) == capped else (bound, True)

    def total(self, *amounts: DimSize) -> DimSize:
        """The sum of buffers, each rounded up to the alignment of the allocator."""
        return self.sum(*[self.round_up(amount, self.alignment) for amount in amounts])


ScratchRule = Callable[[KernelContext], Scratch]

PackingRule = Callable[[KernelContext], Mapping[int, Sequence[DimSize]]]
"""By position of a constant input that the kernel repacks, the bytes of each buffer that replaces it, not rounded."""


BodyKind = Literal["branches", "loop", "scan"]
"""How an operator runs its bodies: one of them, one again and again with carried values, or one for each slice."""


class RuntimeKernels:
    """The kernels of one runtime; also the decorators that register their rules.

    Args:
        name: the runtime.
        alignment: the multiple of bytes that each allocation is rounded up to.
        modules: the modules that register rules; they are imported at the first lookup.

    >>> kernels = RuntimeKernels("toy", alignment=64)
    >>> kernels.none("Same", "Twice")
    >>> @kernels.scratch("Sorted")
    ... def sorted_copy(c: KernelContext) -> Scratch:
    ...     return Scratch([c.input_bytes(0)])
    >>> sorted(name for _, name in kernels.measured())
    ['Same', 'Sorted', 'Twice']
    """

    def __init__(self, name: str, alignment: int, modules: Iterable[str] = ()) -> None:
        """Without rules; see above for the arguments."""
        self.name = name
        self.alignment = alignment
        self._scratch: VersionedRules[ScratchRule] = VersionedRules(modules)
        self._packing: VersionedRules[PackingRule] = VersionedRules()
        self._in_place: VersionedRules[int | None] = VersionedRules()
        self._aliases: VersionedRules[int | None] = VersionedRules()
        self._rewritten: dict[tuple[str, str], str] = {}
        self._types: dict[tuple[str, str], frozenset[str]] = {}
        self._emulated: frozenset[str] = frozenset()
        self._inferred_like: dict[tuple[str, str], str] = {}
        self._sized_by_machine: set[tuple[str, str]] = set()
        self._contents_inferred: set[tuple[str, str]] = set()
        self._passing: set[tuple[str, str]] = set()
        self._bodies: dict[tuple[str, str], BodyKind] = {}

    # -- rules -------------------------------------------------------------------------------------------------------

    def scratch(self, *names: str, domain: str = "", since: int = 1) -> Callable[[Function], Function]:
        """Register the decorated function as the rule for the temporaries of these operators, from a version on."""
        return self._scratch.decorator(domain, names, since)

    def none(self, *names: str, domain: str = "", since: int = 1) -> None:
        """Register operators whose kernels were measured to need no temporaries."""
        self._scratch.add(domain, names, since, _no_scratch)

    def in_place(self, *names: str, domain: str = "", since: int = 1, position: int = 0) -> None:
        """Register operators whose first output may overwrite the input at this position."""
        self._in_place.add(domain, names, since, position)

    def alias(self, *names: str, domain: str = "", since: int = 1, position: int = 0) -> None:
        """Register operators whose first output is always the buffer of the input at this position."""
        self._aliases.add(domain, names, since, position)

    def prepacked(self, *names: str, domain: str = "", since: int = 1) -> Callable[[Function], Function]:
        """Register the decorated function as the rule for constant weights that these operators repack."""
        return self._packing.decorator(domain, names, since)

    def rewritten(self, *names: str, domain: str = "", reason: str) -> None:
        """Register operators without a kernel, and what the runtime runs instead: the reason of their unknown bytes."""
        for name in names:
            self._rewritten[domain, name] = reason

    def emulated_types(self, *dtypes: str) -> None:
        """Register element types that a kernel supports only where `own_types` lists it."""
        self._emulated = frozenset(dtypes)

    def own_types(self, dtype: str, *names: str, domain: str = "") -> None:
        """Register operators with a kernel for an emulated element type."""
        for name in names:
            self._types[domain, name] = self._types.get((domain, name), frozenset()) | {dtype}

    def inferred_like(self, *names: str, domain: str = "", like: str) -> None:
        """Register operators for which a session infers the shapes of another operator, of the default domain."""
        self._inferred_like.update({(domain, name): like for name in names})

    def sized_by_machine(self, *names: str, domain: str = "") -> None:
        """Register operators with sizes that depend on the machine: a session knows them, a rule of shapes may not."""
        self._sized_by_machine.update((domain, name) for name in names)

    def passes_on(self, *names: str, domain: str = "") -> None:
        """Register operators that pass an input of a loop's body on as an output of it, without a copy."""
        self._passing.update((domain, name) for name in names)

    def contents_inferred(self, *names: str, domain: str = "") -> None:
        """Register operators whose contents a session computes from known shapes, for the shapes of their readers."""
        self._contents_inferred.update((domain, name) for name in names)

    def runs_bodies(self, *names: str, domain: str = "", kind: BodyKind) -> None:
        """Register operators that run bodies, and how the values of these are allocated."""
        self._bodies.update({(domain, name): kind for name in names})

    # -- lookups -----------------------------------------------------------------------------------------------------

    def find_scratch(self, c: KernelContext) -> Scratch:
        """The temporaries of a call. Raises NotKnown, with the reason, for a kernel that was not measured."""
        self._scratch.import_modules()
        self._require_kernel(c)
        rule = self._scratch.find(c.op_def.domain, c.op_def.name, c.version)
        if rule is None:
            raise NotKnown(f"the temporaries of this kernel of {self.name} were not measured")
        scratch = self._apply(rule, c)
        _require_formulas(c, [*scratch.with_outputs, *scratch.before_outputs])
        return scratch

    def find_prepacked(self, c: KernelContext) -> Mapping[int, Sequence[DimSize]]:
        """By position, the buffers that replace constant inputs, as in `PackingRule`.

        Raises NotKnown for a kernel that was not measured.
        """
        self._scratch.import_modules()
        rule = self._packing.find(c.op_def.domain, c.op_def.name, c.version)
        if not c.constants or (rule is not None and not c.options.prepacking):
            return {}
        if rule is not None:
            self._require_kernel(c)
            packed = self._apply(rule, c)
            _require_formulas(c, [size for sizes in packed.values() for size in sizes])
            return packed
        self.find_scratch(c)  # what it needs is known, and this includes that it repacks nothing
        return {}

    def find_in_place(self, domain: str, op: str, version: int) -> int | None:
        """The position of the input that the first output may overwrite; None if there is none."""
        self._scratch.import_modules()
        return self._in_place.find(domain, op, version)

    def find_alias(self, domain: str, op: str, version: int) -> int | None:
        """The position of the input that the first output always shares the buffer of; None if there is none."""
        self._scratch.import_modules()
        return self._aliases.find(domain, op, version)

    def find_inferred_like(self, domain: str, op: str) -> str:
        """The operator whose shapes a session infers for this one; empty for its own."""
        self._scratch.import_modules()
        return self._inferred_like.get((domain, op), "")

    def is_sized_by_machine(self, domain: str, op: str) -> bool:
        """Whether sizes of the outputs of an operator depend on the machine."""
        self._scratch.import_modules()
        return (domain, op) in self._sized_by_machine

    def has_contents_inferred(self, domain: str, op: str) -> bool:
        """Whether a session computes the contents of an operator from known shapes."""
        self._scratch.import_modules()
        return (domain, op) in self._contents_inferred

    def is_passing_on(self, domain: str, op: str) -> bool:
        """Whether an operator passes an input of a loop's body on as an output of it, without a copy."""
        self._scratch.import_modules()
        return (domain, op) in self._passing

    def find_bodies(self, domain: str, op: str) -> BodyKind | None:
        """How the bodies of an operator run; None for an operator without bodies."""
        self._scratch.import_modules()
        return self._bodies.get((domain, op))

    def measured(self) -> set[tuple[str, str]]:
        """(domain, operator) of every kernel with a rule for its temporaries."""
        self._scratch.import_modules()
        return self._scratch.operators()

    def replaced(self) -> set[tuple[str, str]]:
        """(domain, operator) of every operator that the runtime replaces by others."""
        self._scratch.import_modules()
        return set(self._rewritten)

    def supporting(self, dtype: str) -> set[tuple[str, str]]:
        """(domain, operator) of every operator with a kernel for an element type that most lack."""
        self._scratch.import_modules()
        return {key for key, dtypes in self._types.items() if dtype in dtypes}

    @property
    def problems(self) -> list[str]:
        """Messages about modules with rules that could not be imported."""
        self._scratch.import_modules()
        return self._scratch.problems

    def _apply(self, rule: Callable[[Context], Result], c: Context) -> Result:
        """What a rule returns. Raises NotKnown for any of its errors: attributes of a hostile file may be anything."""
        try:
            return rule(c)
        except NotKnown:
            raise
        except Exception as error:
            raise NotKnown(f"the rule for this kernel failed: {type(error).__name__}: {error}") from error

    def _require_kernel(self, c: KernelContext) -> None:
        """Raise NotKnown if the runtime has no kernel of its own for this call."""
        key = (c.op_def.domain, c.op_def.name)
        if key in self._rewritten:
            raise NotKnown(self._rewritten[key])
        used = {value.dtype for value in (*c.types, *c.output_types) if isinstance(value, TensorType)}
        for dtype in sorted((used & self._emulated) - self._types.get(key, frozenset()), key=str):
            raise NotKnown(f"{self.name} has no kernel for {dtype}: it converts operands, which the file does not show")


def _require_formulas(c: KernelContext, sizes: Sequence[DimSize]) -> None:
    """Raise NotKnown if a size is not a formula: a symbol stands for one that is too long."""
    for size in sizes:
        cause = "" if isinstance(size, int) else too_long(size.symbols())
        if cause:
            raise NotKnown(cause)


def _no_scratch(c: KernelContext) -> Scratch:
    return NO_SCRATCH


def find_kernels(dialect: Dialect | None, runtime: str) -> RuntimeKernels | None:
    """The kernels of a runtime for the operators of a dialect; None if the dialect names none."""
    target = "" if dialect is None else dialect.kernels.get(runtime, "")
    if not target:
        return None
    loaded = InstalledEntryPoint(runtime, target, "").load()
    assert isinstance(loaded, RuntimeKernels), f"{target} is not a RuntimeKernels"
    return loaded
