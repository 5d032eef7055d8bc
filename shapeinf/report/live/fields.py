"""The sizes that a reader of the page sets: their ranges, the stops of their sliders, and the first values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from shapeinf.contract import Answer, Contract, LegalSizes
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.program.bindings import Binder
from shapeinf.report.usual_sizes import TYPICAL
from shapeinf.solver.budget import Budget
from shapeinf.solver.sampling import legal_bindings

ALL_STOPS = 128
"""A slider has every size of a range with at most this many."""

FAR = 1 << 16
"""The last stop of a range without an upper bound, in multiples of its step."""

MAX_STOP = 1 << 24
"""A range with a larger upper bound counts as one without: such bounds come from limits on formulas."""

TRIED = 512
"""The number of sizes of a dim that are solved for at once."""

TRIED_ALONE = 48
"""The number of sizes that are tried where each needs an inference of its own."""

SOLVE_WORK = 2_000_000
"""The budget of the legal sizes of one dim."""

MAX_SOLVED = 16
"""Dims whose legal sizes are computed."""

MAX_SAMPLED = 4096
"""Sampled bindings that are searched for one with the user's sizes."""

MAX_CHECKED = 12
"""Sizes that are checked by an inference each, until some are legal."""


@attrs.frozen
class Field:
    """A size that a reader of the page may set.

    Args:
        label: its name for users.
        low: the least size.
        high: the largest size; None without one.
        step: the congruence `size % step == rest`; 1 without one.
        rest: its remainder.
        stops: the sizes on the slider, in order; none for a size that depends on data.
        legal: the legal sizes as text, as far as they are known.
        least: the least size that nodes require; sizes below `low` are assumed away, and need another report.
        initial: the first size; None for one that depends on data, which is then counted with its bound.
    """

    label: str
    low: int
    high: int | None
    step: int = 1
    rest: int = 0
    stops: tuple[int, ...] = ()
    legal: str = ""
    least: int | None = None
    initial: int | None = None


def read_field(store: ShapeStore, symbol: Dimension, label: str) -> Field:
    """The range and the congruence of a symbol under the constraints."""
    bounds = store.interval(symbol)
    congruence = store.congruences.find(symbol)
    step, rest = (1, 0) if congruence is None else (congruence.modulus, congruence.rest)
    return Field(label, max(bounds.lo or 0, 0), bounds.hi, step, rest)


def slider_stops(field: Field) -> tuple[int, ...]:
    """The stops of a slider: all sizes of a short range, else four per doubling, and the ends.

    >>> slider_stops(Field("n", 1, 6))
    (1, 2, 3, 4, 5, 6)
    >>> slider_stops(Field("n", 1, None))[:14]
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24)
    >>> slider_stops(Field("n", 30, 300, step=32, rest=1))
    (33, 65, 97, 129, 161, 193, 225, 257, 289)
    """
    first = field.low + (field.rest - field.low) % field.step
    far = field.rest + field.step * max(FAR, 4 * first)
    high = far if field.high is None or field.high > max(MAX_STOP, far) else field.high
    last = high - (high - field.rest) % field.step
    if last < first:
        return ()
    if (last - first) // field.step < ALL_STOPS:
        return tuple(range(first, last + 1, field.step))
    between = (field.rest + field.step * unit for unit in _four_per_doubling((last - field.rest) // field.step))
    return tuple(sorted({first, last, *(size for size in between if first <= size <= last)}))


def _four_per_doubling(last: int) -> Iterator[int]:
    size = 0
    while size <= last:
        yield size
        size += max(1, 1 << (size.bit_length() - 3)) if size >= 8 else 1


def add_legal_sizes(contract: Contract, field: Field) -> Field:
    """The field with its legal sizes of the first few, and without stops that are not legal.

    >>> from shapeinf import infer_shapes
    >>> field = Field("n", 1, 9, stops=tuple(range(1, 10)))
    >>> contract = infer_shapes("examples/convnet.onnx").contract
    >>> add_legal_sizes(contract, attrs.evolve(field, label="batch")).legal
    'all of 1..9'
    """
    legal, count = _solve(contract, field, TRIED_ALONE), TRIED_ALONE
    if legal is not None and legal.engine == "solved":
        more = _solve(contract, field, TRIED)
        legal, count = (legal, count) if more is None else (more, TRIED)
    if legal is None:
        return field
    last = _last_tried_size(field, count)
    stops = tuple(stop for stop in field.stops if stop > last or stop in legal.values)
    text = str(legal).removeprefix(f"{field.label} in ")
    tried = "" if last == field.high else f" (of {field.low}..{last})"
    complete = len(legal) == last + 1 - field.low
    return attrs.evolve(field, stops=stops or field.stops, legal=f"all of {text}" if complete else text + tried)


def _solve(contract: Contract, field: Field, count: int) -> LegalSizes | None:
    """The legal sizes among the first few of a field; None where not all of these are decided."""
    sizes = range(field.low, _last_tried_size(field, count) + 1)
    try:
        legal = contract.solve(field.label, sizes, work=SOLVE_WORK)
    except ShapeInferenceError:
        return None
    return None if legal.untried else legal


def _last_tried_size(field: Field, count: int) -> int:
    last = field.low + count - 1
    return last if field.high is None else min(field.high, last)


def choose_sizes(
    binder: Binder,
    fields: Mapping[Dimension, Field],
    leading: Iterable[Dimension],
    sizes: Mapping[str, int],
    check: Callable[[Mapping[str, int]], Answer],
) -> tuple[dict[str, int], Answer]:
    """Sizes to start with, by label: those of the user, and for other dims legal sizes of a usual magnitude.

    They come with the answer of `check`: the first of a few sizes for which it is "yes", else the first for which it is
    open. `leading` are the symbols of first axes of inputs, mostly batches: 1 where possible. Raises UnknownNameError,
    and IllegalSizeError where the user specifies all sizes and they are not legal.
    """
    user = _symbols(binder, sizes)

    def sizes_of(binding: Mapping[Dimension, int]) -> dict[str, int]:
        labels = {fields[symbol].label: size for symbol, size in binding.items()}
        return {**labels, **{binder.labels[binder.symbol(name)]: size for name, size in sizes.items()}}

    open_answer: tuple[dict[str, int], Answer] | None = None
    tried: set[tuple[int, ...]] = set()
    for binding in _candidates(binder, fields, set(leading), user):
        candidate, key = sizes_of(binding), tuple(binding.values())
        if key in tried or binder.violations(candidate):
            continue
        tried.add(key)
        answer = check(candidate)
        if answer.verdict:
            return candidate, answer
        if answer.verdict is None and open_answer is None:
            open_answer = candidate, answer
        if len(tried) == MAX_CHECKED or not Budget().remaining:
            break
    if open_answer is not None:
        return open_answer
    binding = {symbol: user.get(symbol, min(field.stops, default=field.low)) for symbol, field in fields.items()}
    if fields.keys() <= user.keys() and not tried:
        raise binder.violations(sizes_of(binding))[0]
    return sizes_of(binding), check(sizes_of(binding))


def _symbols(binder: Binder, sizes: Mapping[str, int]) -> dict[Dimension, int]:
    """The user's sizes by symbol; for a dim that equals another one, by the symbol of that."""
    user: dict[Dimension, int] = {}
    for name, size in sizes.items():
        symbol = binder.symbol(name)
        value = binder.store.canon(symbol)
        user[value if isinstance(value, Dimension) and value.is_symbol else symbol] = size
    return user


def _candidates(
    binder: Binder, fields: Mapping[Dimension, Field], leading: set[Dimension], user: Mapping[Dimension, int]
) -> Iterator[dict[Dimension, int]]:
    for ones in (leading, set[Dimension]()):
        for size in TYPICAL:
            yield {
                symbol: user.get(symbol, _nearest(field, 1 if symbol in ones else size))
                for symbol, field in fields.items()
            }
    for binding in islice(legal_bindings(binder.store, list(fields)), MAX_SAMPLED):
        yield {symbol: user.get(symbol, binding[symbol.name]) for symbol in fields}


def _nearest(field: Field, size: int) -> int:
    """The largest stop that is no larger, else the least one."""
    return max((stop for stop in field.stops if stop <= size), default=min(field.stops, default=field.low))


def with_initial(fields: Sequence[Field], sizes: Mapping[str, int]) -> list[Field]:
    """The fields with their first sizes."""
    return [attrs.evolve(field, initial=sizes.get(field.label)) for field in fields]
