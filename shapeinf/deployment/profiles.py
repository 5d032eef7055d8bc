"""Optimization profiles of TensorRT, written from ranges of dims: only sizes with which the graph runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.checks import CheckedModel, Profile, check_profile
from shapeinf.checks.checked_model import precondition_diagnostic
from shapeinf.checks.equation_sizes import is_equation, solve_equations
from shapeinf.checks.numeric_runs import input_shapes_at
from shapeinf.checks.profile_files import CORNERS
from shapeinf.contract import Contract, Precondition
from shapeinf.deployment.boxes import BoxVerdict, judge_box, nearest_box, nearest_run
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.errors import BindError, ExportError, MissingSizeError, UnknownNameError
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import RangeLike, to_named_dim
from shapeinf.solver.sampling import Binding, Box

Corners = tuple[Binding, Binding, Binding]
"""The sizes of the min, opt and max shapes, by the names of symbols."""

MAX_SOLVED = 4096
"""The longest range of a dim whose legal sizes are solved for, for the nearest box."""

ILLEGAL = ("C150", "C151", "C152", "C153")
"""The codes of a profile that cannot be deployed."""


@attrs.frozen
class DimSizes:
    """The sizes of a dim in a profile; `chosen`: `opt` is the middle of the range, as the user specifies no size."""

    name: str
    min: int
    opt: int
    max: int
    chosen: bool

    def __str__(self) -> str:
        """`batch = 1..8, opt 4 (the middle)`."""
        if self.min == self.max:
            return f"{self.name} = {self.min}"
        middle = "the middle" if self.opt == (self.min + self.max) // 2 else "near the middle"
        return f"{self.name} = {self.min}..{self.max}, opt {self.opt}{f' ({middle})' if self.chosen else ''}"


@attrs.frozen
class CheckedProfile:
    """A profile with which the graph runs.

    Args:
        profile: its shapes.
        dims: the sizes of the dims of the inputs.
        proved: whether all preconditions are proved for every size between min and max; else they are tested.
        notes: diagnostics of other codes, such as a tensor whose size overflows.
    """

    profile: Profile
    dims: tuple[DimSizes, ...]
    proved: bool
    notes: tuple[Diagnostic, ...] = ()


def make_profile(
    model: Any,
    dims: Mapping[str, RangeLike] | None = None,
    opt: Mapping[str, int] | None = None,
    *,
    options: InferenceOptions = DEFAULT_OPTIONS,
) -> CheckedProfile:
    """An optimization profile: the min, opt and max shape of each dynamic input.

    Every size in it is legal: what `check --profile` refuses is an error here. Where equations limit the dims, such as
    `height % 32 == 0`, the min, opt and max shapes are solutions of them, and a note (C154) has the equation.

    Args:
        model: any model that `infer_shapes` takes.
        dims: the range of each dim, by the name that shapes show; a dim without one has the range that the graph
            requires.
        opt: the sizes to optimize for; by default the middle of the range.
        options: as for `infer_shapes`; declared shapes of node outputs are only compared.

    Raises:
        UnknownNameError: a dim that no input has.
        MissingSizeError: dims without an upper bound.
        ExportError: an input that a profile cannot describe, or a size in `opt` outside of its range.
        BindError: the graph cannot run with a size in the ranges or in `opt`; the help has the nearest legal sizes.

    >>> checked = make_profile("examples/decoder.onnx", {"batch": "1..8"}, {"batch": 4})
    >>> checked.profile.corners["opt"]["tokens"], checked.proved
    ((4, 256), True)
    """
    graph = as_graph(model, options)
    builder = _Builder(graph, dict(dims or {}), dict(opt or {}), options)
    return builder.make()


class _Builder:
    """Makes one profile of a graph."""

    def __init__(
        self, graph: Graph, ranges: Mapping[str, RangeLike], opt: Mapping[str, int], options: InferenceOptions
    ) -> None:
        merged = {**(options.dims if isinstance(options.dims, Mapping) else {}), **ranges}
        chosen = attrs.evolve(options, dims=merged, declared="check", mode="best", format_options=None)
        self.model = CheckedModel(infer(graph, chosen), merged)
        self.contract: Contract = self.model.result.contract
        self.labels = input_symbols(self.model.result.engine.inference)
        self.requested = {find_symbol(self.labels, name): to_named_dim(name, r) for name, r in merged.items()}
        self.opt = {find_symbol(self.labels, name): size for name, size in opt.items()}

    def make(self) -> CheckedProfile:
        """The profile. Raises as `make_profile`."""
        inputs = self._dynamic_inputs()
        box = self._box(inputs)
        center = self._center(box)
        equations = [precondition for precondition in self.model.preconditions if is_equation(precondition)]
        verdict = judge_box([p for p in self.model.preconditions if not is_equation(p)], box)
        corners = None if verdict.broken else self._solve_corners(equations, box)
        if corners is None:
            verdict, corners = judge_box(self.model.preconditions, box), _ends(box, center)
        profile = self._profile(inputs, corners)
        diagnostics = [] if verdict.broken else check_profile(self.model, profile)
        errors = tuple(d for d in diagnostics if d.code in ILLEGAL)
        if verdict.broken or errors:
            self._refuse(box, center, verdict, errors)
        least, usual, largest = corners
        dims = tuple(
            DimSizes(self.labels[s], least[s.name], usual[s.name], largest[s.name], s not in self.opt and low < high)
            for s, (low, high) in box.items()
        )
        proved = verdict.proved and self._is_complete()
        return CheckedProfile(profile, dims, proved, tuple(diagnostics))

    def _solve_corners(self, conditions: Sequence[Precondition], box: Box) -> Corners | None:
        """The sizes nearest to the ends and the middle of a box at which the conditions hold.

        None where there are none in this order, and where a range would become a single size.
        """
        low, _, high = _ends(box, {})
        least = solve_equations(conditions, box, low, "up")
        largest = solve_equations(conditions, box, high, "down")
        if least is None or largest is None or any(least[name] > largest[name] for name in least):
            return None
        inner = {symbol: (least[symbol.name], largest[symbol.name]) for symbol in box}
        if any(lo == hi and box[symbol][0] < box[symbol][1] for symbol, (lo, hi) in inner.items()):
            return None
        if any(not inner[symbol][0] <= size <= inner[symbol][1] for symbol, size in self.opt.items()):
            return None
        start = {symbol.name: self.opt.get(symbol, (lo + hi) // 2) for symbol, (lo, hi) in inner.items()}
        usual = solve_equations(conditions, inner, start, "nearest", self.opt)
        if usual is None:
            self._refuse_opt(conditions, inner, start)
            return None
        return least, usual, largest

    def _refuse_opt(self, equations: Sequence[Precondition], box: Box, start: Binding) -> None:
        """Raise BindError where only the sizes in `opt` of the user are illegal, with the nearest legal ones."""
        nearest = solve_equations(equations, box, start, "nearest")
        broken = next((equation for equation in equations if equation.holds(start) is False), None)
        if nearest is None or broken is None:
            return
        sizes = [", ".join(f"{self.labels[s]}={binding[s.name]}" for s in self.opt) for binding in (start, nearest)]
        message, advice = f"{broken.text} does not hold", f"opt {sizes[1]} is legal"
        diagnostic = precondition_diagnostic("error", "C152", message, broken, advice)
        raise BindError(f"the graph cannot run with opt {sizes[0]}", (diagnostic,))

    def _dynamic_inputs(self) -> dict[str, tuple[DimSize, ...]]:
        """The dims of the inputs that have a dim which is no number. Raises ExportError for an unknown rank."""
        for name, info in self.model.result.inputs.items():
            if info.kind != "tensor" or name not in self.model.input_dims:
                reason = f"is a {info.kind}" if info.kind != "tensor" else "has an unknown rank"
                raise ExportError(f"a profile cannot describe the input {name}, which {reason}")
        dims = {name: self.model.input_dims[name] for name in self.model.result.inputs}
        return {name: own for name, own in dims.items() if any(isinstance(d, Dimension) for d in own)}

    def _box(self, inputs: Mapping[str, tuple[DimSize, ...]]) -> dict[Dimension, tuple[int, int]]:
        """The range of each symbol of the inputs. Raises MissingSizeError."""
        symbols = {s for dims in inputs.values() for d in dims if isinstance(d, Dimension) for s in d.symbols()}
        box: dict[Dimension, tuple[int, int]] = {}
        missing = []
        for symbol in (symbol for symbol in self.labels if symbol in symbols):
            known, wanted = self.model.result.interval(symbol), self.requested.get(symbol)
            low = known.lo if wanted is None or wanted.min is None else wanted.min
            high = self.model.upper_bound(symbol) if wanted is None or wanted.max is None else wanted.max
            if high is None:
                missing.append(self.labels[symbol])
            else:
                box[symbol] = (low or 0, high)
        if missing:
            raise MissingSizeError(missing, "a profile has a largest size of every dim", bounds=True)
        unused = [self.labels[symbol] for symbol in self.opt if symbol not in box]
        if unused:
            raise UnknownNameError("dim of a dynamic input", unused[0], [self.labels[symbol] for symbol in box])
        return box

    def _center(self, box: Box) -> dict[str, int]:
        """The size of each symbol to optimize for. Raises ExportError for one outside of its range."""
        center = {}
        for symbol, (low, high) in box.items():
            size = center[symbol.name] = self.opt.get(symbol, (low + high) // 2)
            if not low <= size <= high:
                raise ExportError(f"opt {self.labels[symbol]}={size} is outside of its range {low}..{high}")
        return center

    def _profile(self, inputs: Mapping[str, object], corners: Corners) -> Profile:
        """The shapes at the corners. Raises ExportError where a dim has no size there."""
        named = {}
        for corner, binding in zip(CORNERS, corners, strict=True):
            shapes = input_shapes_at(self.model, inputs, binding)
            if shapes is None:
                text = self.model.binding_text(binding)
                raise ExportError(f"a shape of the inputs has no size at {text}")
            named[corner] = {name: tuple(shape) for name, shape in shapes.items()}
        return Profile(named)

    def _is_complete(self) -> bool:
        """Whether the contract is complete: no precondition depends on data, and every operator has a rule."""
        undecided = any(p.kind == "guard" or not p.clauses for p in self.contract.preconditions)
        return not undecided and not self.contract.cut and not self.model.result.coverage.unknown_ops

    def _refuse(self, box: Box, center: dict[str, int], verdict: BoxVerdict, errors: tuple[Diagnostic, ...]) -> None:
        """Raise BindError with the illegal sizes and the nearest legal box."""
        ranges = self._ranges_text(box)
        advice = self._advice(box, center)
        if verdict.broken is not None:
            precondition = verdict.broken.precondition
            message = f"at {self.model.binding_text(verdict.broken.binding)}: {precondition.text} does not hold"
            errors = (precondition_diagnostic("error", "C153", message, precondition),)
        errors = (attrs.evolve(errors[0], help=advice or errors[0].help), *errors[1:])
        raise BindError(f"the graph cannot run with all sizes of {ranges}", errors)

    def _advice(self, box: Box, center: dict[str, int]) -> str | None:
        """The nearest ranges of a profile: all sizes are legal, or those at the ends and the middle."""
        nearest, corners = self._nearest(box, center), self._solve_corners(self.model.preconditions, box)
        if corners is not None and (nearest is None or all(low == high for low, high in nearest.values())):
            least, _, largest = corners
            solved = {symbol: (least[symbol.name], largest[symbol.name]) for symbol in box}
            diagnostics = check_profile(self.model, self._profile(self._dynamic_inputs(), corners))
            if not any(diagnostic.code in ILLEGAL for diagnostic in diagnostics):
                return f"a profile of {self._ranges_text(solved)} is possible"
        return None if nearest is None else f"all sizes of {self._ranges_text(nearest)} are legal"

    def _nearest(self, box: Box, center: dict[str, int]) -> dict[Dimension, tuple[int, int]] | None:
        """The nearest box with which the checks find nothing; None where none is found."""
        smaller = nearest_box(self.model.preconditions, box, center)
        solved = self._solved(box if smaller is None else smaller, center)
        inputs = self._dynamic_inputs()
        for candidate in (smaller, solved):
            if candidate is not None:
                middle = {s.name: min(max(center[s.name], low), high) for s, (low, high) in candidate.items()}
                diagnostics = check_profile(self.model, self._profile(inputs, _ends(candidate, middle)))
                if not any(diagnostic.code in ILLEGAL for diagnostic in diagnostics):
                    return candidate
        return None

    def _solved(self, box: Box, center: Mapping[str, int]) -> dict[Dimension, tuple[int, int]] | None:
        """The box of the legal sizes of each dim alone; None where a dim has none, or too many to try."""
        smaller = {}
        for symbol, (low, high) in box.items():
            if high - low >= MAX_SOLVED:
                return None
            legal = self.contract.solve(self.labels[symbol], range(low, high + 1))
            run = nearest_run(list(legal), center[symbol.name])
            if run is None:
                return None
            smaller[symbol] = run
        return smaller

    def _ranges_text(self, box: Box) -> str:
        return ", ".join(
            f"{self.labels[symbol]}={low}" + (f"..{high}" if high > low else "") for symbol, (low, high) in box.items()
        )


def _ends(box: Box, center: Binding) -> Corners:
    """The ends of a box, and the sizes to optimize for."""
    return {s.name: low for s, (low, _) in box.items()}, dict(center), {s.name: high for s, (_, high) in box.items()}
