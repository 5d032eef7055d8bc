"""Small changes of one node: what it may have been before an edit broke it.

A change replaces an attribute of the node, a constant that it reads, or its list of inputs; or it makes a size that the
node computes unknown, and the what-if run infers the size that the rest of the graph requires there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import DimSize
from shapeinf.graph import MISSING, UNUSED, NodeKind
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

ATTRIBUTE, INPUT, NUMBERS, SOLVED, OUTLINE = range(5)
"""The weights of changes, most likely first: another attribute of a node, two axes of an input exchanged, other numbers
(of which there are many candidates), a size that the rest of the graph determines, an outline that fits."""
_MAX_RANK = 6
"""The highest rank for which an axis is added or removed."""
_MAX_NUMBERS = 8
"""The most numbers of a constant that are changed."""
_MAX_PERMUTED = 4
"""Up to this length all permutations are tried; of longer ones, those with two positions exchanged."""
_DISTANCE = 4
"""The largest difference of a near number."""
_OPEN_END = 2**63 - 1
"""The end of a slice that is open."""

Prepare = Callable[[Inference], None]
"""Sets an inference up before it runs."""


@attrs.frozen
class Change:
    """A change of one node.

    Args:
        text: the change as text: `perm (0, 2, 1) instead of (0, 1, 2)`.
        weight: the kind of change; a lower one is more likely.
        kind: the node with other attributes.
        inputs: other input slots.
        constant: a slot, and its contents for this node only.
        prepare: makes an inference replace outputs of the node, by unknowns or other dims.
        solution: with unknowns: describes the size that the rest of the graph requires after the run; None where it
            requires none, so that the change is no repair.
    """

    text: str
    weight: int
    kind: NodeKind | None = None
    inputs: tuple[int, ...] | None = None
    constant: tuple[int, Type] | None = None
    prepare: Prepare | None = None
    solution: Callable[[], str | None] | None = None


# -- attributes, inputs and constants of the node --------------------------------------------------------------------


def attribute_changes(step: NodeStep) -> Iterator[Change]:
    """Changes of one attribute of a node to a near value, and of all integers by one."""
    kind = step.operation.kind
    for name, value in kind.attrs.items():
        for other in other_values(value):
            edited = attrs.evolve(kind, attrs={**kind.attrs, name: other})
            yield Change(f"{name} {_value_text(other)} instead of {_value_text(value)}", ATTRIBUTE, kind=edited)
    numbers = {name: n for name, n in kind.attrs.items() if isinstance(n, int) and not isinstance(n, bool)}
    for offset in (1, -1) if len(numbers) > 1 else ():  # a range of axes that is off by one
        moved = {name: n + offset for name, n in numbers.items()}
        text = ", ".join(f"{name} {n} instead of {numbers[name]}" for name, n in moved.items())
        yield Change(text, NUMBERS, kind=attrs.evolve(kind, attrs={**kind.attrs, **moved}))


def _value_text(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def operand_changes(inference: Inference, step: NodeStep) -> Iterator[Change]:
    """The first two inputs exchanged, one of a list of inputs removed, other numbers in constants of the node."""
    call = step.operation.call
    if call is not None and not call.rule.variadic and len(step.arguments) > 1:
        yield Change("its first two inputs exchanged", ATTRIBUTE, inputs=(*step.inputs[1::-1], *step.inputs[2:]))
    if call is not None and call.rule.variadic and len(step.arguments) == len(step.inputs) > 2:
        for position, name in enumerate(step.node.inputs):
            rest = (*step.inputs[:position], *step.inputs[position + 1 :])
            yield Change(f"its input {position} ({name}) removed", ATTRIBUTE, inputs=rest)
    for name, slot in zip(step.node.inputs, step.arguments, strict=False):
        old = _small_constant(inference, slot)
        for numbers in () if old is None else other_numbers(old.elements or ()):
            assert old is not None
            new = PartialTensor(old.dtype, old.shape, numbers)
            text = f"{list(numbers)} instead of {list(old.elements or ())} in {name}"
            yield Change(text, NUMBERS, constant=(slot, new))


def _small_constant(inference: Inference, slot: int) -> PartialTensor | None:
    """The constant of at most `_MAX_NUMBERS` integers in a slot, also one that a node without inputs produces."""
    producer = None if slot == MISSING else inference.compiled.producers[slot]
    if slot == MISSING or (producer is not None and inference.compiled.rows[producer][1]):
        return None
    constant = integers_in(inference.table.types[inference.numbers[slot]])
    elements = () if constant is None else constant.elements or ()
    return constant if 0 < len(elements) <= _MAX_NUMBERS and all(isinstance(e, int) for e in elements) else None


# -- outputs of the node ---------------------------------------------------------------------------------------------


def size_changes(inference: Inference, step: NodeStep, own_sizes: bool, constants: set[int]) -> Iterator[Change]:
    """Unknown sizes on the axes of the output of a node: on each axis, then on all of them if all are numbers.

    For a node without `own_sizes`, only axes whose size a weight in one of the slots `constants` determines, and near
    numbers there too.
    """
    slot, dims = _single_output(inference, step)
    if dims is None:
        return
    if not own_sizes or preserves_shape(inference, step):
        for axis in _axes_of_weights(inference, step, dims, constants):
            yield _replace_axes_by_unknowns(slot, (axis,))
            for size in (near for near in near_numbers(dims[axis]) if near > 0):
                other = (*dims[:axis], size, *dims[axis + 1 :])
                text = f"{size} instead of {dims[axis]} on axis {axis} of its output"
                yield Change(text, SOLVED, prepare=_replace_dims(slot, dims, other))
        return
    choices: list[tuple[int, ...]] = [(axis,) for axis in range(len(dims))]
    if len(dims) > 1 and all(isinstance(dim, int) for dim in dims):
        choices.append(tuple(range(len(dims))))
    for axes in choices:
        yield _replace_axes_by_unknowns(slot, axes)


def _single_output(inference: Inference, step: NodeStep) -> tuple[int, tuple[DimSize, ...] | None]:
    """The slot and the dims of the only output of a node; no dims for several outputs or an unknown rank."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    if len(outputs) != 1:
        return UNUSED, None
    return outputs[0], outline(inference.table.types[inference.numbers[outputs[0]]])[1]


def preserves_shape(inference: Inference, step: NodeStep) -> bool:
    """Whether the only output of a node has the shape of one of its inputs, apart from axes of 1."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    dims = outline(inference.type_of(outputs[0]))[1] if len(outputs) == 1 else None
    inputs = (outline(inference.type_of(slot))[1] for slot in step.arguments if slot != MISSING)
    return dims is not None and any(_drop_unit_axes(shape) == _drop_unit_axes(dims) for shape in inputs)


def _axes_of_weights(
    inference: Inference, step: NodeStep, dims: tuple[DimSize, ...], constants: set[int]
) -> Iterator[int]:
    """The axes of the output with a size that an axis of a weight has, and no axis of another input."""
    sizes: dict[bool, set[DimSize]] = {True: set(), False: set()}
    for slot in step.arguments:
        if slot != MISSING:
            sizes[slot in constants].update(outline(inference.type_of(slot))[1] or ())
    for axis, dim in enumerate(dims):
        if dim != 1 and dim in sizes[True] - sizes[False]:
            yield axis


def has_own_sizes(inference: Inference, step: NodeStep, constants: set[int]) -> bool:
    """Whether a node reads a constant of integers, or takes any number of inputs: these decide sizes of its outputs."""
    types = [inference.table.types[inference.numbers[slot]] for slot in step.arguments if slot in constants]
    call = step.operation.call
    return any(integers_in(type_) is not None for type_ in types) or (call is not None and call.rule.variadic)


def _replace_axes_by_unknowns(slot: int, axes: tuple[int, ...]) -> Change:
    runs: list[tuple[Inference, list[DimSize], list[DimSize]]] = []

    def prepare(fresh: Inference) -> None:
        def replace(run: Inference, number: int, index: int) -> int:
            computed = fresh.table.get(number)
            if not isinstance(computed, TensorType) or computed.shape.dims is None:
                return number
            if max(axes) >= len(computed.shape.dims):
                return number
            dims = list(computed.shape.dims)
            for axis in axes:
                dims[axis] = fresh.store.assumable_size(f"{run.compiled.step(index).node_name}.{axis}")
            runs.append((fresh, dims, list(computed.shape.dims)))
            return fresh.table.add(PartialTensor(computed.dtype, Shape(dims), None))

        fresh.refiners[slot] = replace

    def solution() -> str | None:
        if not runs:
            return None
        fresh, dims, old = runs[-1]
        if len(axes) > 1:
            return f"other sizes instead of {Shape(old)}"
        return _required_size(fresh, axes[0], dims[axes[0]], old[axes[0]])

    return Change("", SOLVED, prepare=prepare, solution=solution)


def _required_size(fresh: Inference, axis: int, unknown: DimSize, old: DimSize) -> str | None:
    """The size that the graph requires of an unknown axis, as text; None where it requires none, or the old size."""
    size = fresh.store.canon(unknown)
    known = isinstance(size, int) or not any(s.is_anonymous for s in size.symbols())
    if not known or fresh.store.prove_eq(size, old) is True:
        return None
    return f"{size} instead of {old} on axis {axis} of its output"


def list_changes(inference: Inference, step: NodeStep, sizes: Iterable[DimSize]) -> Iterator[Change]:
    """A number added to the list that a node computes: one of `sizes`, or one that the rest of the graph determines."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    numbers = integers_in(inference.table.types[inference.numbers[outputs[0]]]) if len(outputs) == 1 else None
    if numbers is not None and numbers.shape.rank == 1 and len(numbers.elements or ()) <= _MAX_RANK:
        for index in range(len(numbers.elements or ()) + 1):
            for size in (None, *sizes):
                yield _insert_number(outputs[0], index, size)


def _insert_number(slot: int, index: int, number: DimSize | None) -> Change:
    runs: list[tuple[Inference, DimSize]] = []

    def prepare(fresh: Inference) -> None:
        def insert(run: Inference, type_number: int, row: int) -> int:
            computed = integers_in(fresh.table.get(type_number))
            if computed is None:
                return type_number
            node_name = run.compiled.step(row).node_name
            added = fresh.store.scope.fresh(f"{node_name}.{index}", 0) if number is None else number
            runs.append((fresh, added))
            elements = [*(computed.elements or ())[:index], added, *(computed.elements or ())[index:]]
            return fresh.table.add(PartialTensor(computed.dtype, Shape([len(elements)]), elements))

        fresh.refiners[slot] = insert

    def solution() -> str | None:
        size = runs[-1][0].store.canon(runs[-1][1]) if runs else None
        known = isinstance(size, int) or (size is not None and not size.is_anonymous)
        return f"an added number, {size}, at index {index} of its output" if known else None

    return Change("", SOLVED, prepare=prepare, solution=solution)


def outline_changes(inference: Inference, step: NodeStep) -> Iterator[Change]:
    """An axis of 1 added to or removed from the output of a node; its axes in another order."""
    slot, dims = _single_output(inference, step)
    if dims is None or len(dims) > _MAX_RANK:
        return
    others = [(*dims[:i], 1, *dims[i:]) for i in range(len(dims) + 1)]
    others += [(*dims[:i], *dims[i + 1 :]) for i, dim in enumerate(dims) if dim == 1]
    others += [tuple(dims[axis] for axis in order) for order in other_orders(len(dims))]
    for other in dict.fromkeys(others):
        if other != dims:
            yield Change(f"{Shape(other)} instead of {Shape(dims)}", OUTLINE, prepare=_replace_dims(slot, dims, other))


def _replace_dims(slot: int, old: tuple[DimSize, ...], new: tuple[DimSize, ...]) -> Prepare:
    """Makes an inference replace the dims of a value, where they are the old ones."""

    def prepare(fresh: Inference) -> None:
        def reshape(_: Inference, number: int, __: int) -> int:
            computed = fresh.table.get(number)
            if not isinstance(computed, TensorType) or computed.shape.dims != old:
                return number
            elements = computed.elements if _drop_unit_axes(old) == _drop_unit_axes(new) else None
            return fresh.table.add(PartialTensor(computed.dtype, Shape(new), elements))

        fresh.refiners[slot] = reshape

    return prepare


def integers_in(type_: Type | None) -> PartialTensor | None:
    """The type of a tensor whose contents are known integers; None for any other value."""
    known = isinstance(type_, PartialTensor) and type_.elements is not None and type_.dtype in ("int32", "int64")
    return type_ if known else None  # type: ignore[return-value]


def outline(type_: Type | None) -> tuple[str | None, tuple[DimSize, ...] | None]:
    """The element type and the dims of a tensor; None for each that is unknown."""
    return (type_.dtype, type_.shape.dims) if isinstance(type_, TensorType) else (None, None)


def _drop_unit_axes(dims: tuple[DimSize, ...] | None) -> list[DimSize] | None:
    return None if dims is None else [dim for dim in dims if dim != 1]


# -- near values -----------------------------------------------------------------------------------------------------


def other_values(value: object) -> Iterator[object]:
    """Near values of an attribute: numbers near an int or the ints of a tuple, other orders of a permutation."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        near = range(value - _DISTANCE, value + _DISTANCE + 1)
        yield from (n for n in near if n != value and (n >= 0) == (value >= 0))
    elif isinstance(value, tuple) and value and all(isinstance(n, int) for n in value):
        yield from _other_permutations(value) if _is_permutation(value) else _other_tuples(value)


def _is_permutation(value: tuple[int, ...]) -> bool:
    return sorted(value) == list(range(len(value))) and len(value) > 1


def _other_permutations(value: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    orders = itertools.permutations(range(len(value))) if len(value) <= _MAX_PERMUTED else _swaps(value)
    return (order for order in orders if order != value)


def _other_tuples(value: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Tuples with one number changed by one, or with all of them, where all are equal."""
    head = enumerate(value[: 2 * _MAX_PERMUTED])
    near = ((*value[:i], m, *value[i + 1 :]) for i, n in head for m in (n - 1, n + 1))
    uniform = len(value) > 1 and len(set(value)) == 1
    all_changed = [(value[0] + d,) * len(value) for d in (-1, 1)] if uniform else []
    for other in (*near, *all_changed):  # the sizes of a window are often equal on all axes: a repair preserves that
        if min(other) >= 0 and len(set(other)) <= len(set(value)):
            yield other


def other_numbers(numbers: tuple[object, ...]) -> Iterator[tuple[int, ...]]:
    """The numbers with one of them replaced by those of `near_numbers`.

    >>> list(other_numbers((1,)))
    [(0,), (2,), (3,), (4,), (5,)]
    """
    for index, number in enumerate(numbers):
        for other in near_numbers(number):
            changed = [n for n in numbers if isinstance(n, int)]
            changed[index] = other
            yield tuple(changed)


def near_numbers(number: object) -> Iterator[int]:
    """Numbers near an int, its double and its half; for a negative one, the open end of a slice."""
    if isinstance(number, int):
        near = [n for n in other_values(number) if isinstance(n, int)]
        more = [number * 2, number // 2] if number > _DISTANCE + 1 else [_OPEN_END] if number < 0 else []
        yield from dict.fromkeys(near + more)


def other_orders(length: int) -> Iterator[tuple[int, ...]]:
    """Other orders of `length` axes: those with two axes exchanged, then, for a few axes, all others."""
    identity = tuple(range(length))
    swaps = list(_swaps(identity))
    yield from swaps
    if length <= _MAX_PERMUTED:
        yield from (order for order in itertools.permutations(identity) if order != identity and order not in swaps)


def _swaps(value: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for a, b in itertools.combinations(range(len(value)), 2):
        swapped = list(value)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        yield tuple(swapped)
