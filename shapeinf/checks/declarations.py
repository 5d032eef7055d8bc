"""Checks of declared types, of outputs and of values inside the graph, against the inferred ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.numeric_runs import tested_bindings
from shapeinf.checks.registry import register_check
from shapeinf.constraints.records import try_evaluate
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.declarations import declared_size
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.formats.annotation import GENERATED
from shapeinf.graph import DeclaredType
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.solver.sampling import Binding, legal_bindings

C111 = register_code(
    "C111",
    "warning",
    "a declared output differs from the inferred output",
    "A declared number is reported too where the inferred size is a symbol.",
)
MAX_RUNS = 8
"""The most examples of a difference at which the graph is tried."""
COMPARISONS = ("C110", C111)
"""The codes of declarations that differ from the inferred type."""


# -- C110, C111: declared and computed shapes ------------------------------------------------------------------------


@register_check(
    "C110",
    "warning",
    "a declared shape or element type inside the graph differs from inference",
    "The declaration is stale, or the node was changed and is wrong.",
)
def stale_declarations(model: CheckedModel) -> Iterator[Diagnostic]:
    """The declarations of values that nodes produce; C111 for outputs of the graph."""
    reported = set()
    earlier, solved_by = compare_before_requirements(model)
    for tensor, declared in model.declared.items():
        computed = model.result.tensors.get(tensor)
        for diagnostic in () if computed is None else compare(model, tensor, declared, computed):
            reported.add(tensor)
            yield attrs.evolve(diagnostic, cause=solved_by.get(tensor, ""))
    for difference in earlier:
        if difference.tensor not in reported:
            reported.add(difference.tensor)
            yield _report(model, difference.tensor, str(difference), difference.axis)


def compare(model: CheckedModel, tensor: str, declared: DeclaredType, computed: TensorInfo) -> Iterator[Diagnostic]:
    """The differences of one declaration from the inferred type of its value."""
    if declared.dtype != computed.dtype and tensor in model.doubtful:
        computed = attrs.evolve(computed, dtype=None)
    is_loaded = _same_type(declared, computed) or not model.loads_only_right_types
    for message, axis in _differences(model, declared, computed):
        yield attrs.evolve(_report(model, tensor, message, axis), severity="warning" if is_loaded else "error")


def _same_type(declared: DeclaredType, computed: TensorInfo) -> bool:
    """Whether a declaration has the kind and the element type of its value, as far as both are known."""
    same = declared.kind == computed.kind.split("(")[0]
    return same and (declared.kind != "tensor" or declared.dtype == computed.dtype or not declared.dtype)


def _report(model: CheckedModel, tensor: str, message: str, axis: int | None = None) -> Diagnostic:
    node = model.producers[tensor]
    is_output = tensor in model.graph.outputs
    record = "annotation" if model.graph.traced else "value_info"
    stale = f"the {record} is stale (infer the shapes of the file again)"
    return Diagnostic(
        "warning",
        C111 if is_output else "C110",
        f"{'the output ' if is_output else ''}{tensor} {message}",
        node,
        model.op(node),
        tensor=tensor,
        axis=axis,
        help="declare what the graph computes" if is_output else f"{stale}, or {node} was changed and is wrong",
        location=model.location(node),
    )


def _differences(model: CheckedModel, declared: DeclaredType, computed: TensorInfo) -> Iterator[tuple[str, int | None]]:
    """Each difference as text, with its axis; None for one of the element type, the kind or the rank."""
    known = computed.dtype is not None or computed.shape.dims is not None
    if declared.kind != computed.kind.split("(")[0]:
        if known:
            yield f"is declared as a {declared.kind} but the graph computes a {computed.kind}", None
        return
    if declared.kind != "tensor":
        return
    if None not in (declared.dtype, computed.dtype) and declared.dtype != computed.dtype:
        yield f"is declared as {declared.dtype} but the graph computes {computed.dtype}", None
    if declared.dims is None or computed.shape.dims is None:
        return
    if len(declared.dims) != len(computed.shape.dims):
        text = "[" + ", ".join("?" if d is None else str(d) for d in declared.dims) + "]"
        yield f"is declared with {len(declared.dims)} axes, {text}, but the graph computes {computed.shape}", None
        return
    for axis, (declared_dim, size) in enumerate(zip(declared.dims, computed.shape.dims, strict=True)):
        size = model.store.canon(size)
        if is_alias(model, declared_size(model.store, declared_dim), size):
            continue
        example = _difference_example(model, declared_dim, size)
        if example is not None:
            yield f"is declared as {declared_dim} on axis {axis} but the graph computes {size}{example}", axis


def _difference_example(model: CheckedModel, declared_dim: int | str | None, size: DimSize) -> str | None:
    """A binding at which a declared size differs from the inferred one, as text; None where they may be equal.

    Empty where they differ and no binding is needed to show it.
    """
    declared = declared_size(model.store, declared_dim)
    if declared is None or model.store.prove_eq(declared, size) is True:
        return None
    if isinstance(declared, int) and isinstance(size, int):
        return ""
    if model.graph.traced or not (model.has_only_input_symbols(declared) and model.has_only_input_symbols(size)):
        return "" if model.store.prove_eq(declared, size) is False else None
    symbols = {s for d in (declared, size) if isinstance(d, Dimension) for s in d.symbols()}
    return _first_example(model, model.examples(symbols), declared, size)


def _first_example(model: CheckedModel, bindings: Iterable[Binding], declared: DimSize, size: DimSize) -> str | None:
    """The first of some bindings at which two sizes differ and the graph runs, as text; None where there is none."""
    different = (b for b in bindings if _differ_at(declared, size, b))
    for binding in itertools.islice(different, MAX_RUNS):
        if model.runs_at(binding):
            return f": {try_evaluate(size, binding)} for {model.binding_text(binding)}"
    return _generic_example(model, declared, size)


def _generic_example(model: CheckedModel, declared: DimSize, size: DimSize) -> str | None:
    """As `_first_example`, at sizes of all dims of the inputs: other dims may decide which are legal."""
    names = {s.name for d in (declared, size) if isinstance(d, Dimension) for s in d.symbols()}
    for binding in () if model.what_if else tested_bindings(model):
        if _differ_at(declared, size, binding) and model.runs_at(binding):
            relevant = {name: number for name, number in binding.items() if name in names}
            return f": {try_evaluate(size, binding)} for {model.binding_text(relevant)}"
    return None


def _differ_at(declared: DimSize, size: DimSize, binding: Binding) -> bool:
    a, b = try_evaluate(declared, binding), try_evaluate(size, binding)
    return a is not None and b is not None and a != b


def is_alias(model: CheckedModel, declared: DimSize | None, size: DimSize) -> bool:
    """Whether a declared dim may be a name for an expression of other names: `total` for `past + seq`.

    Axes of one input are independent: `batch` is no name for `width//4` where both are axes of an image.
    """
    if not isinstance(declared, Dimension) or not isinstance(size, Dimension) or size.is_symbol:
        return False
    return (
        declared.is_symbol and declared not in size.symbols() and not model.are_independent({declared, *size.symbols()})
    )


# -- C112, C103: declared names --------------------------------------------------------------------------------------


@register_check(
    "C112",
    "note",
    "a name of an input that is declared for an expression of other names",
    "Files of decoders declare `total` for `past + seq`.",
)
def aliases(model: CheckedModel) -> Iterator[Diagnostic]:
    """Each pair of a name and an expression once. In files of decoders, the declaration means that they are equal."""
    reported: set[tuple[str, DimSize]] = set()
    for tensor, axis, name, computed_size in _declared_names(model):
        size = model.store.canon(computed_size)
        if (name, size) in reported or not is_alias(model, declared_size(model.store, name), size):
            continue
        reported.add((name, size))
        if _difference_example(model, name, size) is not None:
            message = f"is declared as {name} on axis {axis}, which the graph computes as {size}"
            help = f"if they are equal, assume {name} == {size}"
            yield attrs.evolve(_report(model, tensor, message, axis), severity="note", code="C112", help=help)


@register_check(
    "C103",
    "warning",
    "one name for two sizes",
    "The graph computes two sizes for axes that are declared with one name.",
)
def overloaded_names(model: CheckedModel) -> Iterator[Diagnostic]:
    """Names that no input has, declared for axes with different inferred sizes."""
    first: dict[str, tuple[str, int, DimSize]] = {}
    input_names = {symbol.name for symbol in model.axes}
    for tensor, axis, name, size in _declared_names(model):
        if not name or GENERATED.fullmatch(name) or name in input_names:
            continue
        tensor0, axis0, size0 = first.setdefault(name, (tensor, axis, size))
        if model.store.prove_eq(size0, size) is False:
            message = f"is declared as {name} on axis {axis}, which is {size}, but {name} is {size0} in "
            diagnostic = _report(model, tensor, f"{message}{tensor0}.shape[{axis0}]", axis)
            yield attrs.evolve(diagnostic, code="C103", help="two sizes need two names")


def _declared_names(model: CheckedModel) -> Iterator[tuple[str, int, str, DimSize]]:
    """Each axis that is declared with a name: the tensor, the axis, the name and the inferred size."""
    for tensor, declared in model.declared.items():
        computed = model.result.tensors.get(tensor)
        if computed is None or computed.shape.dims is None or len(computed.shape.dims) != len(declared.dims or ()):
            continue
        for axis, (name, size) in enumerate(zip(declared.dims or (), computed.shape.dims, strict=True)):
            if isinstance(name, str):
                yield tensor, axis, name, size


# -- sizes before the requirements of later nodes --------------------------------------------------------------------
#
# A declaration holds for all sizes of the inputs. Where a later node requires `seq == 2*batch`, it is still wrong to
# declare `2*batch` for an axis that is `seq`. Of the requirements of later nodes, only those on single dims (multiples,
# bounds) apply to the declaration of an earlier value, and of the aliases in the file, those before it.


@attrs.frozen
class EarlyDifference:
    """An axis that is declared with another size than its node computes; `example` is a binding that proves it."""

    tensor: str
    axis: int
    declared: int | str
    size: DimSize
    example: str

    def __str__(self) -> str:
        """The difference as text."""
        return f"is declared as {self.declared} on axis {self.axis} but the graph computes {self.size}{self.example}"


def compare_before_requirements(model: CheckedModel) -> tuple[list[EarlyDifference], dict[str, str]]:
    """The declared sizes that differ until a later node requires equality; none where nodes require no equality.

    And the values that match their declaration when their node has run, each with the node whose requirement solves one
    of their dims later.
    """
    inference = model.result.engine.inference
    if model.what_if or model.graph.traced or inference.compiled.groups is not None or not _has_new_equalities(model):
        return [], {}
    observed: list[_ObservedSize] = []
    matching: dict[str, set[Dimension]] = {}

    def begin(fresh: Inference) -> None:
        snapshots = _Snapshots(model, fresh)
        for name, declared in model.declared.items():
            fresh.refiners[fresh.compiled.slots[name]] = _DeclarationObserver(
                snapshots, name, declared, observed, matching
            )

    rerun(inference, inference.initial_store.copy(), begin, model.budget)
    for size in observed:
        matching.pop(size.tensor, None)
    examples = [(size, _early_example(model, size)) for size in observed]
    different = [EarlyDifference(s.tensor, s.axis, s.declared, s.size, text) for s, text in examples if text]
    solved_by = {name: _first_solver(model, symbols) for name, symbols in matching.items()}
    return different, {name: node for name, node in solved_by.items() if node}


def _first_solver(model: CheckedModel, symbols: set[Dimension]) -> str:
    """The first node that solves one of these symbols; empty for none."""
    nodes = [model.store.sources[s].node for s in symbols if s in model.store.sources]
    return min((node for node in nodes if node in model.order), key=lambda node: model.order[node], default="")


def _has_new_equalities(model: CheckedModel) -> bool:
    """Whether nodes solve a dim of the inputs, or relate several of them."""
    store, before = model.store, model.initial_store
    if any(symbol in model.named_symbols and symbol not in before.solved for symbol in store.solved):
        return True
    return any(
        disjunction.equation is not None and disjunction not in before.disjunctions
        for disjunction in store.disjunctions
    )


@attrs.frozen
class _ObservedSize:
    """A declared size (as declared, and as a dim), the inferred one, and the constraints right after the node."""

    tensor: str
    axis: int
    declared: int | str
    declared_size: DimSize
    size: DimSize
    store: ShapeStore


class _Snapshots:
    """Copies of the constraints of a run, with the aliases of the file so far; a new copy after each change."""

    def __init__(self, model: CheckedModel, inference: Inference) -> None:
        self.model = model
        self.inference = inference
        self.version = -1
        self.store: ShapeStore = inference.store
        self.aliases: list[tuple[DimSize, DimSize]] = []

    def take(self) -> ShapeStore:
        """The current constraints with the aliases; do not change it."""
        version = self.inference.store.version + len(self.aliases)
        if self.version != version:
            self.version = version
            self.store = self.inference.store.copy()
            for name, size in self.aliases:
                with suppress(ShapeError):
                    self.store.add_equal(name, size, Source("", f"the file declares {size} as {name}"))
        return self.store


@attrs.frozen
class _DeclarationObserver:
    """Records the sizes of one declared value when its node has run."""

    snapshots: _Snapshots
    name: str
    declared: DeclaredType
    observed: list[_ObservedSize]
    matching: dict[str, set[Dimension]]

    def __call__(self, inference: Inference, number: int, index: int) -> int:
        """Compare, and return the unchanged number of the type."""
        computed = inference.table.get(number)
        dims = self.declared.dims
        if not isinstance(computed, TensorType) or computed.shape.dims is None:
            return number
        if len(dims or ()) != len(computed.shape.dims):
            return number
        store = self.snapshots.take()
        aliases_here = []
        symbols = self.matching.setdefault(self.name, set())
        for axis, (declared, size) in enumerate(zip(dims or (), computed.shape.dims, strict=True)):
            declared_dim, size = declared_size(store, declared), store.canon(size)
            symbols.update(s for dim in (declared_dim, size) if isinstance(dim, Dimension) for s in dim.symbols())
            if declared is None or declared_dim is None or declared_dim is size or declared_dim == size:
                continue
            if is_alias(self.snapshots.model, declared_dim, size):
                aliases_here.append((declared_dim, size))
            else:
                self.observed.append(_ObservedSize(self.name, axis, declared, declared_dim, size, store))
        self.snapshots.aliases += aliases_here
        return number


def _early_example(model: CheckedModel, observed: _ObservedSize) -> str | None:
    """What shows that the sizes differ before later requirements, as text; None where nothing does.

    A binding of named dims at which they differ and the graph runs; else the requirement that makes them equal. A
    number is no other size than one that must equal it.
    """
    dims = (observed.declared_size, observed.size)
    symbols = {s for d in dims if isinstance(d, Dimension) for s in d.symbols()}
    if not symbols <= model.named_symbols:
        return None
    bindings = [b for b in legal_bindings(observed.store, symbols, later=model.store) if _differ_at(*dims, b)]
    if not bindings:
        return None
    example = _first_example(model, bindings, *dims)
    if example is not None:
        return example
    if isinstance(observed.declared_size, int):
        return None
    node = _first_solver(model, symbols)
    return f": equal only because {node or 'a later node'} requires it"
