"""Optimization profiles: the min, opt and max shapes of inputs, and the shapes between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel, dim_spec, precondition_diagnostic
from shapeinf.checks.equation_sizes import is_equation, solve_equations
from shapeinf.checks.numeric_runs import explain_mismatch, input_shapes_at, run_at_shapes
from shapeinf.checks.profile_files import CORNERS, Profile
from shapeinf.checks.sizes import overflowing_sizes, unbounded_sizes
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dimension
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.reader import SpecLike, key_by_input
from shapeinf.solver.sampling import Binding, central_bindings, spread_bindings

C150 = register_code("C150", "error", "a profile that does not fit the inputs of the model")
C151 = register_code("C151", "error", "a profile whose min, opt and max shapes do not fit each other")
C152 = register_code("C152", "error", "requested shapes with which the graph cannot run")
C153 = register_code("C153", "error", "shapes between those of a profile with which the graph cannot run")

C154 = register_code(
    "C154",
    "warning",
    "a profile in which only some sizes are legal, such as multiples",
    "TensorRT builds an engine for the profile, and the graph fails at the other sizes: do not request them. No "
    "profile with these min and max shapes excludes them.",
)

MAX_BETWEEN = 24
"""The most bindings between the corners that are tested, each by a what-if run."""

MAX_SPREAD = 1 << 10
"""The most bindings between the corners at which an equation is evaluated."""


def check_profile(model: CheckedModel, profile: Profile) -> list[Diagnostic]:
    """All diagnostics of a profile. Shapes between its corners are tested only where the graph runs at the corners.

    Raises UnknownNameError for an input that the model does not have.
    """
    profile = attrs.evolve(
        profile, corners={c: key_by_input(shapes, model.graph) for c, shapes in profile.corners.items()}
    )
    for name in profile.corners["opt"]:
        if name not in model.input_dims:
            raise UnknownNameError("input", name, model.input_dims)
    diagnostics = [*_check_inputs(model, profile), *_check_order(profile), *_check_names(model, profile)]
    if diagnostics:
        return diagnostics
    for corner in CORNERS:
        for violation in run_at_shapes(model, profile.corners[corner]):
            message = f"at the {corner} shapes: {violation.message}"
            diagnostics.append(attrs.evolve(violation, code=C152, message=message))
    return diagnostics or [*_check_between(model, profile), *_check_sizes(model, profile)]


def _check_inputs(model: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    for name, dims in model.input_dims.items():
        if name not in profile.corners["opt"]:
            if any(isinstance(d, Dimension) for d in dims):
                yield Diagnostic("error", C150, f"the profile has no shape for {name}, which is dynamic", tensor=name)
            continue
        for corner in CORNERS:
            reason = explain_mismatch(model, dims, profile.corners[corner][name])
            if reason:
                yield Diagnostic("error", C150, f"the {corner} shape of {name} {reason}", tensor=name)


def _check_order(profile: Profile) -> Iterator[Diagnostic]:
    low, middle, high = (profile.corners[corner] for corner in CORNERS)
    for name in middle:
        for axis, (a, b, c) in enumerate(zip(low[name], middle[name], high[name], strict=False)):
            if not a <= b <= c:
                message = f"{name}.shape[{axis}] is {a}, {b}, {c}: min <= opt <= max is required"
                yield Diagnostic("error", C151, message, tensor=name, axis=axis)


def _check_names(model: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """Names with two sizes in the inputs of a corner."""
    for corner in CORNERS:
        first: dict[Dimension, tuple[str, int]] = {}
        for name, shape in profile.corners[corner].items():
            for axis, (dim, size) in enumerate(zip(model.input_dims[name], shape, strict=False)):
                if not isinstance(dim, Dimension) or not dim.is_symbol:
                    continue
                first_axis, other = first.setdefault(dim, (f"{name}.shape[{axis}]", size))
                if other != size:
                    sizes = f"{other} in {first_axis} but {size} in {name}.shape[{axis}]"
                    message = f"at the {corner} shapes {dim} is {sizes}"
                    yield Diagnostic("error", C151, message, tensor=name, axis=axis)


def _check_between(model: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """The first tested binding between the corners at which the graph fails, and the equations that hold only at some.

    A binding at which an equation does not hold is no failure of the graph.
    """
    box = _box(model, profile)
    if not box:
        return
    equations = [precondition for precondition in model.preconditions if is_equation(precondition)]
    yield from _excluding_equations(model, box, equations)
    for binding in itertools.islice(_solutions(model, box, equations), MAX_BETWEEN):
        shapes = input_shapes_at(model, profile.corners["opt"], binding)
        violation = next(iter(run_at_shapes(model, shapes)), None) if shapes is not None else None
        if violation is not None:
            message = f"between the min and max shapes, at {model.binding_text(binding)}: {violation.message}"
            yield attrs.evolve(violation, code=C153, message=message)
            return


def _excluding_equations(
    model: CheckedModel, box: Mapping[Dimension, tuple[int, int]], equations: Sequence[Precondition]
) -> Iterator[Diagnostic]:
    """C154 for each equation that does not hold for all sizes of a box."""
    for equation in equations:
        own = {symbol: ends for symbol, ends in box.items() if symbol in equation.free_symbols}
        bindings = itertools.islice(spread_bindings(own), MAX_SPREAD)
        broken = next((binding for binding in bindings if equation.holds(binding) is False), None)
        if broken is not None:
            message = f"between the min and max shapes, {equation.text} is required: not {model.binding_text(broken)}"
            yield precondition_diagnostic("warning", C154, message, equation)


def _solutions(
    model: CheckedModel, box: Mapping[Dimension, tuple[int, int]], equations: Sequence[Precondition]
) -> Iterator[Binding]:
    """The candidates, each moved to the nearest solution of the equations."""
    seen = []
    for binding in _candidates(model, box):
        solution = solve_equations(equations, box, binding, "nearest")
        if solution is not None and solution not in seen:
            seen.append(solution)
            yield solution


def _check_sizes(model: CheckedModel, profile: Profile) -> Iterator[Diagnostic]:
    """Tensors whose size overflows, or has no upper bound, within the ranges of the profile."""
    box = _box(model, profile)
    inputs: dict[str, SpecLike] = {
        name: [box[d] if isinstance(d, Dimension) and d in box and d.symbol.anonymous else dim_spec(d) for d in dims]
        for name, dims in model.input_dims.items()
    }
    dims = {symbol.name: ends for symbol, ends in box.items() if not symbol.symbol.anonymous}
    try:
        options = InferenceOptions(inputs=inputs, dims=dims, values=model.result.values, declared="ignore")
        result = infer(model.graph, options)
    except ShapeInferenceError:
        return
    ranged = CheckedModel(result)
    ranged.ranges = {symbol.name: box for symbol in ranged.axes}
    yield from overflowing_sizes(ranged)
    yield from unbounded_sizes(ranged)


def _box(model: CheckedModel, profile: Profile) -> dict[Dimension, tuple[int, int]]:
    """The least and the largest size of each symbol that is an axis of an input."""
    box: dict[Dimension, tuple[int, int]] = {}
    for name, dims in model.input_dims.items():
        if name in profile.corners["min"]:
            pairs = zip(profile.corners["min"][name], profile.corners["max"][name], strict=True)
            for dim, (low, high) in zip(dims, pairs, strict=True):
                if isinstance(dim, Dimension) and dim.is_symbol:
                    box[dim] = (low, high)
    return box


def _candidates(model: CheckedModel, box: Mapping[Dimension, tuple[int, int]]) -> Iterator[Binding]:
    """Bindings between the corners: some that violate a bound, then the middle, the ends and next to them."""
    bounds = [precondition for precondition in model.preconditions if not is_equation(precondition)]
    illegal = (
        binding
        for binding in spread_bindings(box)
        if any(precondition.holds(binding) is False for precondition in bounds)
    )
    yield from itertools.islice(illegal, MAX_BETWEEN // 2)
    yield from central_bindings(box)
