"""Small changes of one node: what it may have been before someone changed it.

A change is of what is written in the node (an attribute, a constant that it reads, its list of inputs), or it leaves
open what the node makes: then what the rest of the graph needs there is found out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from shapeinf.checks.variants import near_numbers, other_numbers, other_orders, other_values, text_of
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dim
from shapeinf.graph import MISSING, UNUSED, NodeKind
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

WRITTEN, INPUT, NUMBERS, OPENED, OUTLINE = range(5)
"""How well a change explains, the best first: another attribute of a node, two axes of an input exchanged, other
numbers (of which there are many to try), a size that the rest of the graph determines, axes that fit."""
_HIGHEST = 6
"""The highest rank of which an axis more or less is tried."""
_FEW = 8
"""So many numbers of a constant are looked at."""

Prepare = Callable[[Inference], None]


@attrs.frozen
class Change:
    """A change of one node, as text: `perm (0, 2, 1) in place of (0, 1, 2)`.

    Of `kind`, `inputs` (slots) and `constant` (a slot and what it holds for this node alone) those are used that are
    given; `prepare` leaves open what is made, and `needed` says then what the rest of the graph needs (None: nothing
    certain, so that it is no repair).
    """

    text: str
    weight: int
    kind: NodeKind | None = None
    inputs: tuple[int, ...] | None = None
    constant: tuple[int, Type] | None = None
    prepare: Prepare | None = None
    needed: Callable[[], str | None] | None = None


def attributes(step: NodeStep) -> Iterator[Change]:
    """Other attributes of a node."""
    kind = step.operation.kind
    for name, value in kind.attrs.items():
        for other in other_values(value):
            edited = attrs.evolve(kind, attrs={**kind.attrs, name: other})
            yield Change(f"{name} {text_of(other)} in place of {text_of(value)}", WRITTEN, kind=edited)
    yield from _moved(kind)


def operands(inference: Inference, step: NodeStep) -> Iterator[Change]:
    """Its first inputs exchanged; one less in the list of its inputs; other numbers in the constants that it reads."""
    call = step.operation.call
    if call is not None and not call.rule.variadic and len(step.arguments) > 1:
        yield Change("its first two inputs exchanged", WRITTEN, inputs=(*step.inputs[1::-1], *step.inputs[2:]))
    if call is not None and call.rule.variadic and len(step.arguments) == len(step.inputs) > 2:
        for position, name in enumerate(step.node.inputs):
            rest = (*step.inputs[:position], *step.inputs[position + 1 :])
            yield Change(f"its input {position} ({name}) left out", WRITTEN, inputs=rest)
    for name, slot in zip(step.node.inputs, step.arguments, strict=False):
        old = _own_numbers(inference, slot)
        for numbers in () if old is None else other_numbers(old.elements or ()):
            assert old is not None
            new = PartialTensor(old.dtype, old.shape, numbers)
            text = f"{list(numbers)} in place of {list(old.elements or ())} in {name}"
            yield Change(text, NUMBERS, constant=(slot, new))


def _moved(kind: NodeKind) -> Iterator[Change]:
    """All numbers of a node that are no lists moved by one: a range of axes elsewhere."""
    numbers = {name: n for name, n in kind.attrs.items() if isinstance(n, int) and not isinstance(n, bool)}
    for by in (1, -1) if len(numbers) > 1 else ():
        moved = {name: n + by for name, n in numbers.items()}
        text = ", ".join(f"{name} {n} in place of {numbers[name]}" for name, n in moved.items())
        yield Change(text, NUMBERS, kind=attrs.evolve(kind, attrs={**kind.attrs, **moved}))


def _own_numbers(inference: Inference, slot: int) -> PartialTensor | None:
    """The constant in a slot, if it has a few known integers; one that a node without inputs makes is one too."""
    producer = None if slot == MISSING else inference.compiled.producers[slot]
    if slot == MISSING or (producer is not None and inference.compiled.rows[producer][1]):
        return None
    found = numbers_in(inference.table.types[inference.numbers[slot]])
    elements = () if found is None else found.elements or ()
    return found if 0 < len(elements) <= _FEW and all(isinstance(one, int) for one in elements) else None


def opened(inference: Inference, step: NodeStep, sizes_of_its_own: bool, constants: set[int]) -> Iterator[Change]:
    """Other sizes of the axes of what a node makes: each axis, then all of them if none has a name.

    Where numbers do not decide what it makes, only those that a weight in one of these slots brings in.
    """
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    dims = outline(inference.table.types[inference.numbers[outputs[0]]])[1] if len(outputs) == 1 else None
    if dims is None:
        return
    if not sizes_of_its_own or hands_on(inference, step):
        for axis in _brought_in(inference, step, dims, constants):
            yield _with_open_axes(outputs[0], (axis,))
            for size in (near for near in near_numbers(dims[axis]) if near > 0):
                other = (*dims[:axis], size, *dims[axis + 1 :])
                text = f"{size} in place of {dims[axis]} on axis {axis} of what it makes"
                yield Change(text, OPENED, prepare=_making(outputs[0], dims, other))
        return
    axes = [(axis,) for axis in range(len(dims))]
    whole = [tuple(range(len(dims)))] if len(dims) > 1 and all(isinstance(dim, int) for dim in dims) else []
    for some in (*axes, *whole):
        yield _with_open_axes(outputs[0], some)


def hands_on(inference: Inference, step: NodeStep) -> bool:
    """Whether a node only hands on the shape of something it reads, with axes of 1 more or less."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    dims = outline(inference.current(outputs[0]))[1] if len(outputs) == 1 else None
    given = (outline(one)[1] for one in map(inference.current, _given(step)))
    return dims is not None and any(_but_ones(one) == _but_ones(dims) for one in given)


def _brought_in(inference: Inference, step: NodeStep, dims: tuple[Dim, ...], constants: set[int]) -> Iterator[int]:
    """The axes whose size a weight has, and nothing else that the node reads."""
    sizes: dict[bool, set[Dim]] = {True: set(), False: set()}
    for slot in _given(step):
        sizes[slot in constants].update(outline(inference.current(slot))[1] or ())
    for axis, dim in enumerate(dims):
        if dim != 1 and dim in sizes[True] - sizes[False]:
            yield axis


def has_sizes_of_its_own(inference: Inference, step: NodeStep, constants: set[int]) -> bool:
    """Whether constants or the number of its inputs decide what a node makes."""
    types = [inference.table.types[inference.numbers[slot]] for slot in step.arguments if slot in constants]
    call = step.operation.call
    return any(numbers_in(one) is not None for one in types) or (call is not None and call.rule.variadic)


def longer(inference: Inference, step: NodeStep, sizes: Iterable[Dim]) -> Iterator[Change]:
    """One number more in the list of numbers that a node makes: one that the rest determines, or one of these."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    found = numbers_in(inference.table.types[inference.numbers[outputs[0]]]) if len(outputs) == 1 else None
    if found is not None and found.shape.rank == 1 and len(found.elements or ()) <= _HIGHEST:
        for place in range(len(found.elements or ()) + 1):
            for size in (None, *sizes):
                yield _with_one_more(outputs[0], place, size)


def _with_one_more(slot: int, place: int, number: Dim | None) -> Change:
    seen: list[tuple[Inference, Dim]] = []

    def prepare(fresh: Inference) -> None:
        def insert(given: int, at: NodeStep) -> int:
            made = numbers_in(fresh.table.get(given))
            if made is None:
                return given
            new = fresh.store.scope.fresh(f"{at.site}.{place}", 0) if number is None else number
            seen.append((fresh, new))
            elements = [*(made.elements or ())[:place], new, *(made.elements or ())[place:]]
            return fresh.table.add(PartialTensor(made.dtype, Shape([len(elements)]), elements))

        fresh.declared[slot] = insert

    def needed() -> str | None:
        size = seen[-1][0].store.canon(seen[-1][1]) if seen else None
        known = isinstance(size, int) or (size is not None and not size.is_anonymous)
        return f"one number more, {size}, in place {place} of what it makes" if known else None

    return Change("", OPENED, prepare=prepare, needed=needed)


def _with_open_axes(slot: int, axes: tuple[int, ...]) -> Change:
    seen: list[tuple[Inference, list[Dim], list[Dim]]] = []

    def prepare(fresh: Inference) -> None:
        def opener(number: int, at: NodeStep) -> int:
            made = fresh.table.get(number)
            if not isinstance(made, TensorType) or made.shape.dims is None or max(axes) >= len(made.shape.dims):
                return number
            dims = list(made.shape.dims)
            for axis in axes:
                dims[axis] = fresh.store.presumed_size(f"{at.site}.{axis}")
            seen.append((fresh, dims, list(made.shape.dims)))
            return fresh.table.add(PartialTensor(made.dtype, Shape(dims), None))

        fresh.declared[slot] = opener

    def needed() -> str | None:
        if not seen:
            return None
        fresh, dims, was = seen[-1]
        if len(axes) > 1:
            return f"other sizes in place of {Shape(was)}"
        return _solved(fresh, axes[0], dims[axes[0]], was[axes[0]])

    return Change("", OPENED, prepare=prepare, needed=needed)


def _solved(fresh: Inference, axis: int, open_: Dim, was: Dim) -> str | None:
    """The size that the rest of the graph needs of an open axis, as text, if it needs a certain other one."""
    size = fresh.store.canon(open_)
    known = isinstance(size, int) or not any(s.is_anonymous for s in size.symbols())
    if not known or fresh.store.prove_eq(size, was) is True:
        return None
    return f"{size} in place of {was} on axis {axis} of what it makes"


def other_outlines(inference: Inference, step: NodeStep) -> Iterator[Change]:
    """An axis of 1 more or less in what a node makes; its axes in another order."""
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    dims = outline(inference.table.types[inference.numbers[outputs[0]]])[1] if len(outputs) == 1 else None
    if dims is None or len(dims) > _HIGHEST:
        return
    others = [(*dims[:i], 1, *dims[i:]) for i in range(len(dims) + 1)]
    others += [(*dims[:i], *dims[i + 1 :]) for i, dim in enumerate(dims) if dim == 1]
    others += [tuple(dims[axis] for axis in order) for order in other_orders(len(dims))]
    for other in dict.fromkeys(others):
        if other != dims:
            yield Change(f"{Shape(other)} in place of {Shape(dims)}", OUTLINE, prepare=_making(outputs[0], dims, other))


def _making(slot: int, old: tuple[Dim, ...], new: tuple[Dim, ...]) -> Prepare:
    """Gives a type other dims, if it still is what it was."""

    def prepare(fresh: Inference) -> None:
        def reshape(number: int, _: NodeStep) -> int:
            made = fresh.table.get(number)
            if not isinstance(made, TensorType) or made.shape.dims != old:
                return number
            elements = made.elements if _but_ones(old) == _but_ones(new) else None
            return fresh.table.add(PartialTensor(made.dtype, Shape(new), elements))

        fresh.declared[slot] = reshape

    return prepare


def numbers_in(found: Type | None) -> PartialTensor | None:
    """A tensor of which integers are known: sizes, axes, ends."""
    known = isinstance(found, PartialTensor) and found.elements is not None and found.dtype in ("int32", "int64")
    return found if known else None  # type: ignore[return-value]


def outline(found: Type | None) -> tuple[str | None, tuple[Dim, ...] | None]:
    """The element type and the dims of a tensor."""
    return (found.dtype, found.shape.dims) if isinstance(found, TensorType) else (None, None)


def _but_ones(dims: tuple[Dim, ...] | None) -> list[Dim] | None:
    return None if dims is None else [dim for dim in dims if dim != 1]


def _given(step: NodeStep) -> list[int]:
    return [slot for slot in step.arguments if slot != MISSING]
