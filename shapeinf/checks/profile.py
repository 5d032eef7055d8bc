"""Optimisation profiles: the smallest, usual and largest shapes of inputs, and everything between them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from shapeinf.api import infer_shapes
from shapeinf.checks.sampling import Binding
from shapeinf.checks.subject import CheckedModel
from shapeinf.checks.trial import as_shapes, misfit, shown, try_shapes
from shapeinf.checks.unbounded import unbounded
from shapeinf.checks.volumes import too_large
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dim, Dimension, Scope
from shapeinf.inputs.spec import SpecError, parse_shape_spec, split_specs

C150 = register_code("C150", "error", "a profile that does not fit the inputs of the model")
C151 = register_code("C151", "error", "a profile whose min, opt and max shapes do not fit each other")
C152 = register_code("C152", "error", "shapes of a profile with which the graph cannot run")
C153 = register_code("C153", "error", "shapes between those of a profile with which the graph cannot run")

CORNERS = ("min", "opt", "max")
MAX_BETWEEN = 24
"""Bindings between the corners that are tried by an inference of their own."""

Shapes = dict[str, tuple[int, ...]]


@attrs.frozen
class Profile:
    """The smallest, the usual and the largest shape of each input, by name."""

    corners: dict[str, Shapes]

    @classmethod
    def of(cls, least: Shapes, usual: Shapes, largest: Shapes) -> Profile:
        """A profile of what is given: for each input, a shape that is missing is that of its neighbour."""
        names = dict.fromkeys([*least, *usual, *largest])
        middle = {n: usual.get(n, largest.get(n, least.get(n, ()))) for n in names}
        low = {n: least.get(n, middle[n]) for n in names}
        return cls({"min": low, "opt": middle, "max": {n: largest.get(n, middle[n]) for n in names}})


def parse_shapes(text: str) -> Shapes:
    """Shapes as trtexec takes them. Raises SpecError.

    >>> parse_shapes("ids:1x128,mask:1x128")
    {'ids': (1, 128), 'mask': (1, 128)}
    """
    found: Shapes = {}
    for piece in split_specs(text):
        spec = parse_shape_spec(piece, Scope())
        dims = spec.dims or ()
        sizes = tuple(d for d in dims if isinstance(d, int))
        if spec.name is None or spec.dims is None or len(sizes) != len(dims):
            raise SpecError(text, text.find(piece), "NAME:SHAPE with numbers only, such as ids:1x128,")
        if spec.name in found:
            raise SpecError(text, text.find(piece), f"one shape for {spec.name}, not two")
        found[spec.name] = sizes
    return found


def read_profiles(path: str) -> list[Profile]:
    """The profiles of a JSON file: `{"ids": {"min": [1, 1], "opt": [1, 128], "max": [8, 512]}}`, or a list of such."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"is no JSON: {error}", node=path) from None
    return [_profile(one, path) for one in (data if isinstance(data, list) else [data])]


def _profile(data: object, path: str) -> Profile:
    corners: list[Shapes] = [{}, {}, {}]
    for name, given in (data if isinstance(data, dict) else {"": None}).items():
        if not isinstance(given, dict) or not given or not set(given) <= set(CORNERS):
            raise ModelError(f"expected the shapes min, opt, max of input {name!r}", node=path)
        for corner, shapes in zip(CORNERS, corners, strict=True):
            if corner in given:
                shapes[name] = _sizes(given[corner], f"{corner} of {name}", path)
    return Profile.of(*corners)


def _sizes(given: object, what: str, path: str) -> tuple[int, ...]:
    if not isinstance(given, list) or any(type(size) is not int or size < 0 for size in given):
        raise ModelError(f"{what}: expected a list of sizes", node=path)
    return tuple(given)


def check_profile(subject: CheckedModel, profile: Profile) -> list[Diagnostic]:
    """All findings about a profile; what lies between is looked at only when its corners fit.

    Raises UnknownNameError for an input that the model does not have.
    """
    for name in profile.corners["opt"]:
        if name not in subject.asked:
            raise UnknownNameError("input", name, subject.asked)
    found = [*_inputs(subject, profile), *_order(profile), *_one_size_a_name(subject, profile)]
    if found:
        return found
    for corner in CORNERS:
        shapes = profile.corners[corner]
        for broken in try_shapes(subject, shapes):
            found.append(attrs.evolve(broken, code=C152, message=f"at the {corner} shapes: {broken.message}"))
    return found or [*_between(subject, profile), *_volumes(subject, profile)]


def _inputs(subject: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    for name, dims in subject.asked.items():
        if name not in profile.corners["opt"]:
            if any(isinstance(d, Dimension) for d in dims):
                yield Diagnostic("error", C150, f"the profile has no shape for {name}, which is dynamic", tensor=name)
            continue
        for corner in CORNERS:
            reason = misfit(subject, dims, profile.corners[corner][name])
            if reason:
                yield Diagnostic("error", C150, f"the {corner} shape of {name} {reason}", tensor=name)


def _order(profile: Profile) -> Iterator[Diagnostic]:
    low, middle, high = (profile.corners[corner] for corner in CORNERS)
    for name in middle:
        for axis, (a, b, c) in enumerate(zip(low[name], middle[name], high[name], strict=False)):
            if not a <= b <= c:
                message = f"{name}.shape[{axis}] is {a}, {b}, {c}: min, opt and max must not fall"
                yield Diagnostic("error", C151, message, tensor=name)


def _one_size_a_name(subject: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """A name must have one size in all inputs of a corner."""
    for corner in CORNERS:
        first: dict[Dimension, tuple[str, int]] = {}
        for name, shape in profile.corners[corner].items():
            for axis, (dim, size) in enumerate(zip(subject.asked[name], shape, strict=False)):
                if not isinstance(dim, Dimension) or not dim.is_symbol:
                    continue
                where, other = first.setdefault(dim, (f"{name}.shape[{axis}]", size))
                if other != size:
                    message = f"at the {corner} shapes {dim} is {other} in {where} but {size} in {name}.shape[{axis}]"
                    yield Diagnostic("error", C151, message, tensor=name)


def _between(subject: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """The first binding between the corners that does not run, found by what is known and shown by a run."""
    box = _box(subject, profile)
    if not box:
        return
    for binding in itertools.islice(_candidates(subject, box), MAX_BETWEEN):
        shapes = as_shapes(subject, profile.corners["opt"], binding)
        broken = next(iter(try_shapes(subject, shapes)), None) if shapes is not None else None
        if broken is not None:
            message = f"between the min and max shapes, at {shown(subject, binding)}: {broken.message}"
            yield attrs.evolve(broken, code=C153, message=message)
            return


def _volumes(subject: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """What the ranges of the profile let grow too large, or leave without a bound."""
    box = _box(subject, profile)
    inputs: dict[str, list[object]] = {
        name: [box[d] if isinstance(d, Dimension) and d in box and d.symbol.anonymous else _as_asked(d) for d in dims]
        for name, dims in subject.asked.items()
    }
    dims = {symbol.name: ends for symbol, ends in box.items() if not symbol.symbol.anonymous}
    try:
        ranged = CheckedModel(infer_shapes(subject.graph, inputs=inputs, dims=dims, declared="ignore"))
    except ShapeInferenceError:
        return
    ranged.ranges = {symbol.name: box for symbol in ranged.axes}
    yield from too_large(ranged)
    yield from unbounded(ranged)


def _as_asked(dim: Dim) -> object:
    return dim if isinstance(dim, int) else None if dim.is_anonymous else str(dim)


def _box(subject: CheckedModel, profile: Profile) -> dict[Dimension, tuple[int, int]]:
    """The least and largest size of each symbol that is an axis of an input."""
    box: dict[Dimension, tuple[int, int]] = {}
    for name, dims in subject.asked.items():
        if name in profile.corners["min"]:
            pairs = zip(profile.corners["min"][name], profile.corners["max"][name], strict=True)
            for dim, (low, high) in zip(dims, pairs, strict=True):
                if isinstance(dim, Dimension) and dim.is_symbol:
                    box[dim] = (low, high)
    return box


def _candidates(subject: CheckedModel, box: Mapping[Dimension, tuple[int, int]]) -> Iterator[Binding]:
    """Bindings that what is known rules out first, then the middle and the neighbours of the corners."""
    sizes = {symbol: _spread(low, high) for symbol, (low, high) in box.items()}
    ruled_out = (one for one in _product(sizes) if _is_ruled_out(subject, one))
    yield from itertools.islice(ruled_out, MAX_BETWEEN // 2)
    middle = {symbol.name: sum(ends) // 2 for symbol, ends in box.items()}
    yield middle
    for symbol, (low, high) in box.items():
        for size in {min(low + 1, high), max(high - 1, low), low, high}:
            yield {**middle, symbol.name: size}


def _spread(low: int, high: int) -> list[int]:
    near = {low, low + 1, low + 2, low + 3, (low + high) // 2, high - 1, high}
    return sorted(size for size in near | {2, 3, 5, 7, 33, 65} if low <= size <= high)


def _product(sizes: Mapping[Dimension, Sequence[int]]) -> Iterator[Binding]:
    names = [symbol.name for symbol in sizes]
    for values in itertools.islice(itertools.product(*sizes.values()), 4096):
        yield dict(zip(names, values, strict=True))


def _is_ruled_out(subject: CheckedModel, binding: Binding) -> bool:
    """Whether something that nodes demand does not hold under a binding."""
    return any(condition.holds(binding) is False for condition in subject.demands)
