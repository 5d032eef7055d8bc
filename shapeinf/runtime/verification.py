"""Run a model and compare every tensor; then run it again into buffers of exactly our sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from shapeinf.api import as_graph, infer
from shapeinf.engine.inference import certain_violations
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import SpecLike, input_names
from shapeinf.result import Result
from shapeinf.runtime.buffers import Buffers
from shapeinf.runtime.compare import Claims, Real
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.records import Mismatch, Run, Skipped, Verification
from shapeinf.runtime.sessions import Feeds, Refusal, Sessions, numpy_type
from shapeinf.runtime.sizes import RunSizes, choose_sizes
from shapeinf.texts import exact_bytes

MAX_HELD = 1 << 29
"""Bytes of tensors that are fetched by one run; larger models are run several times."""
MAX_TENSOR = 1 << 32
"""A model that makes a larger tensor is not run: it would take the memory of this machine."""


def verify(
    model: Any,
    *,
    at: Iterable[Mapping[str, int]] = ({},),
    arrays: Mapping[str, Any] | None = None,
    runtime: Literal["onnxruntime"] = "onnxruntime",
    seed: int = 0,
    timeout: float | None = None,
    options: InferenceOptions = DEFAULT_OPTIONS,
) -> Verification:
    """Run a model and compare the type of every tensor with what is inferred.

    Two inferences are compared: one with the sizes put in, and one with symbols, evaluated at these sizes. A second run
    writes the outputs of the graph into buffers that are exactly as large as we say.

    Args:
        model: a path, bytes, or an `onnx.ModelProto`. It is run in this process: run only models that you trust.
        at: the sizes of named dims, a mapping for every run. Dims without one get small sizes that the graph can run
            with.
        arrays: values of inputs by name; other inputs get random numbers, and 0 or 1 where they are integers.
        runtime: what to run it in.
        seed: of the random numbers.
        timeout: the most seconds that one run may take.
        options: as for `infer_shapes`; `bind` has sizes that all runs share.

    Raises:
        MissingPackageError: the runtime is not installed.
        UnknownNameError: a dim or input that the model does not have.
        ModelError: the model cannot be read, or is no ONNX model.
        ShapeInferenceError: sizes that cannot be.
    """
    graph = as_graph(model, options)
    sessions = Sessions(graph, timeout)
    shapes = options.inputs_by_name(graph)

    def infer_at(bind: Mapping[str, int], inputs: Mapping[str, SpecLike], least: int = options.min_dim) -> Result:
        return infer(graph, attrs.evolve(options, bind=bind, inputs={**shapes, **inputs}, min_dim=least))

    given = {name: np.asarray(array, order="C") for name, array in (arrays or {}).items()}
    symbolic = infer_at({}, {})
    array_shapes = {name: array.shape for name, array in given.items()}
    runs = []
    for binding in at:
        sizes = choose_sizes(symbolic, infer_at, {**options.bind, **binding}, array_shapes)
        empty = any(0 in shape for shape in sizes.shapes.values())
        # claims of `symbolic` may be about larger sizes
        claims = (
            infer_at({}, {}, 0)
            if empty and options.min_dim
            else _without_assumptions(symbolic, sizes.sizes) or symbolic
        )
        runs.append(_Verifying(sessions, claims, sizes, given, seed).run())
    return Verification(f"{runtime} {sessions.runtime.__version__}", tuple(runs))


def _without_assumptions(symbolic: Result, sizes: Mapping[str, int]) -> Result | None:
    """The inference in which nodes assume nothing of sizes, where these break what they assume."""
    labels = input_symbols(symbolic.inference)
    named = {s.name: sizes.get(label, sizes.get(s.name)) for s, label in labels.items()}
    ranges = {name: (size, size) for name, size in named.items() if size is not None}
    return symbolic.allow_smaller({}) if symbolic.store.breaks_assumption(ranges) else None


class _Verifying:
    """One run: its tensors, then its outputs."""

    def __init__(
        self, sessions: Sessions, symbolic: Result, sizes: RunSizes, arrays: Mapping[str, Any], seed: int
    ) -> None:
        self.sessions = sessions
        self.sizes = sizes
        self.symbolic = symbolic
        self.bound = sizes.result
        self.arrays = arrays
        self.seed = seed
        self.makers = {name: node for node in symbolic.graph.nodes for name in node.outputs if name}
        self.skipped: list[Skipped] = []
        self.reals: dict[str, Real | list[Any]] = {}
        self.outputs = Buffers()
        self.feeds = Feeds({}, {})
        self.way = ""

    def run(self) -> Run:
        """All of it; what the runtime refuses is in the record, with what was found before."""
        refused = ""
        try:
            self._refuse_huge()
            self.sessions.plain()
            self._observe()
            self._bind_outputs()
        except Refusal as refusal:
            refused = str(refusal)
        found, counts = self._compare()
        types = {name: str(self.bound.tensors[name]) for name in input_names(self.bound.graph)}
        return Run(
            sizes=self.sizes.sizes,
            chosen=self.sizes.chosen,
            inputs=types,
            values=self.way,
            tensors=counts.total(),
            exact=counts["exact"],
            bounded=counts["bounded"],
            unknown=counts["unknown"],
            bound=len(self.outputs.written),
            bound_bytes=sum(self.outputs.written.values()),
            mismatches=tuple(found),
            skipped=tuple(self.skipped),
            unbound=tuple(self.outputs.unbound),
            refused=refused,
        )

    def _refuse_huge(self) -> None:
        for name in self.makers:
            if all(isinstance(dim, int) for dim in self.bound.tensors[name].shape.dims or [None]):
                size = _most_bytes(self.bound, name) or 0
                if size > MAX_TENSOR:
                    raise Refusal(f"{name} would take {exact_bytes(size)}: bind smaller sizes")

    def _observe(self) -> None:
        """Run with every tensor exposed, and keep their types; the first way of making inputs that runs is taken."""
        types = {output.name: output.type for output in self.sessions.exposed().get_outputs()}
        plain = [name for name in self.makers if types.get(name, "").startswith("tensor(")]
        groups = list(self._groups(plain))
        first: Refusal | None = None
        for way, arrays in feeds(self.bound, self.sizes.shapes, self.arrays, self.seed):
            values = self.sessions.feed(arrays, {name: self.bound.tensors[name].dtype or "" for name in arrays})
            try:
                for names in groups:
                    self.reals.update(zip(names, self.sessions.types_of(names, values), strict=True))
            except Refusal as refusal:
                first = first or refusal
                self.reals.clear()
                continue
            self.way, self.feeds = way, values
            self._observe_items([name for name in self.makers if name not in self.reals])
            return
        assert first is not None
        raise first

    def _groups(self, names: Sequence[str]) -> Iterator[list[str]]:
        """The tensors in groups that are not too large together; the size of one that is not known counts nothing."""
        held: list[str] = []
        size = 0
        for name in names:
            own = _most_bytes(self.bound, name) or 0
            if held and size + own > MAX_HELD:
                yield held
                held, size = [], 0
            held.append(name)
            size += own
        yield held

    def _observe_items(self, names: Sequence[str]) -> None:
        """The items of sequences, optionals and maps, one tensor at a time."""
        for name in names:
            try:
                found = self.sessions.fetch(name, self.feeds)
            except Refusal as refusal:
                self.skipped.append(Skipped(name, str(refusal)))
                continue
            self.reals[name] = list(_items(found))

    def _compare(self) -> tuple[list[Mismatch], Counter[str]]:
        """Every tensor of the run against both inferences, and how well we know them with the sizes put in."""
        found, counts = list[Mismatch](), Counter[str]()
        tensors = [(name, real) for name, real in self.reals.items() if isinstance(real, Real)]
        for by, result in (("bound", self.bound), ("symbolic", self.symbolic)):
            if not self.reals:
                break
            found += self._forbidden(result, by)
            claims = Claims(result, self.sizes.shapes, self._named(result))
            claims.learn((n, real) for n, real in tensors if result.tensors[n].kind == "tensor")
            for name, real in self.reals.items():
                verdict, shown = _judged(claims, name, real)
                if by == "bound":
                    counts[verdict] += 1
                if verdict == "wrong":
                    node = self.makers[name]
                    said = claims.said(result.tensors[name])
                    found.append(Mismatch(name, node.name, node.op, said, shown, by))
        return found + self.outputs.mismatches, counts

    def _forbidden(self, result: Result, by: str) -> list[Mismatch]:
        """Nodes of which we say that they cannot run, though they did."""
        return [
            Mismatch("", d.node, d.op, f"cannot run ({d.message})", "runs", by)
            for d in certain_violations(result.inference)
        ]

    def _named(self, result: Result) -> dict[str, int]:
        return {name: size for name, size in self.sizes.sizes.items() if result.scope.has(name)}

    def _bind_outputs(self) -> None:
        """Run the model as it is into buffers of our sizes."""
        for name in self.bound.graph.outputs:
            self.outputs.claim(name, self.bound.tensors[name], _most_bytes(self.bound, name), self.reals.get(name))
        if self.outputs.buffers:
            self.outputs.run(self.sessions, self.feeds, self.bound)


def _items(found: Any) -> Iterator[Any]:
    """The tensors inside a Python value; what is no tensor (a map, an empty optional) is None."""
    if isinstance(found, (np.ndarray, np.generic)):
        array = np.asarray(found)
        yield Real.of(array)
    elif isinstance(found, list):
        for item in found:
            yield from _items(item)
    else:
        yield None


def _judged(claims: Claims, name: str, real: Real | list[Any]) -> tuple[str, str]:
    """The verdict on one value, and what the run has in its place."""
    info = claims.result.tensors[name]
    if isinstance(real, Real):
        if info.kind != "tensor":
            return "wrong", str(real)
        return claims.verdict(info, real), str(real)
    shown = "[" + ", ".join(str(one) if one is not None else "no tensor" for one in real[:4]) + "]"
    if info.kind == "tensor":
        return ("unknown" if info.dtype is None and info.shape.dims is None else "wrong"), shown
    verdicts = [claims.verdict(info, one, item=True) for one in real if one is not None]
    if "wrong" in verdicts:
        return "wrong", shown
    return ("exact" if verdicts and set(verdicts) == {"exact"} else "bounded"), shown


def _most_bytes(result: Result, name: str) -> int | None:
    """The most bytes that a tensor may have; None where there is no bound, or no fixed size of an element."""
    info = result.tensors[name]
    if info.kind != "tensor" or info.shape.dims is None or info.dtype in (None, "string"):
        return None
    total = numpy_type(info.dtype).itemsize
    for dim in info.shape.dims:
        most = dim if isinstance(dim, int) else result.interval(dim).hi
        if most is None:
            return None
        total *= most
    return int(total)
