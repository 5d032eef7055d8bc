"""`verify`: run a model and compare all tensors; run it again with outputs in buffers of exactly the inferred sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from shapeinf.api import as_graph
from shapeinf.engine.body_tensors import body_producers
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.tensor_info import TensorInfo, item_infos
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import input_names
from shapeinf.result import Result
from shapeinf.runtime.buffers import BoundOutputs, max_bytes
from shapeinf.runtime.compare import InferredTypes
from shapeinf.runtime.model_runs import ModelRuns, choose_run, refuse_huge, run_feeds
from shapeinf.runtime.protocol import LoadedModel, Observation, ObservedType, Refusal, StoppedRun, choose_runtime
from shapeinf.runtime.records import Mismatch, Run, Skipped, Verification
from shapeinf.runtime.sizes import RunSizes

MAX_HELD = 1 << 29
"""The most bytes of tensors that one run returns; a model with more is run several times."""


def verify(
    model: Any,
    *,
    at: Iterable[Mapping[str, int]] = ({},),
    arrays: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    seed: int = 0,
    timeout: float | None = None,
    options: InferenceOptions = DEFAULT_OPTIONS,
) -> Verification:
    """Run a model and compare the type of every tensor with the inferred one.

    Two inferences are compared: one with the sizes bound, and one with symbols, evaluated at these sizes. A second run
    writes the outputs of the graph into buffers of exactly the inferred sizes.

    Args:
        model: a model of the format that the runtime runs. It is run in this process: run only models that you trust.
        at: the sizes of named dims, a mapping for every run. Other dims get small legal sizes.
        arrays: values of inputs by name; other inputs get random numbers, integer ones 0 or 1.
        runtime: a name in `RUNTIMES`; by default the first one that runs the format of the model.
        seed: of the random numbers.
        timeout: the most seconds that one run may take.
        options: as for `infer_shapes`; `bind` has the sizes that all runs share.

    Raises:
        MissingPackageError: the runtime is not installed.
        UnknownNameError: a dim or input that the model does not have, or an unknown runtime.
        ModelError: the model cannot be read, or is of a format that the runtime does not run.
        ShapeInferenceError: sizes that contradict each other or the model, or no small sizes are legal.
    """
    graph = as_graph(model, options)
    options = attrs.evolve(options, format_options=None)  # the graph is read
    backend = choose_runtime(graph, runtime)
    loaded = backend.open(graph, timeout)
    model_runs = ModelRuns.of_graph(graph, arrays, seed, options)
    runs = []
    for binding in at:
        verifiers = (_RunVerifier(loaded, model_runs, sizes) for sizes in model_runs.sizes(binding))
        runs.append(choose_run(verifier.attempt() for verifier in verifiers))
    return Verification(f"{backend.name} {backend.version}", tuple(runs), model_runs.symbolic.assumptions)


class _RunVerifier:
    """One run: the types of all tensors, then the outputs in buffers."""

    def __init__(self, model: LoadedModel, runs: ModelRuns, sizes: RunSizes) -> None:
        self.model = model
        self.runs = runs
        self.sizes = sizes
        self.symbolic = symbolic = runs.widen(sizes)
        self.bound = sizes.result
        self.producers = {name: node for node in symbolic.graph.nodes for name in node.outputs if name}
        self.skipped: list[Skipped] = []
        self.not_run: set[str] = set()
        self.observed: dict[str, ObservedType | list[ObservedType | None]] = {}
        self.outputs = BoundOutputs()
        self.feeds: Any = None
        self.values = ""
        self.loaded = False
        self.stopped = False

    def run(self) -> Run:
        """Run all steps; after a refusal, the record has its text and the results of the steps before."""
        refused = ""
        try:
            refuse_huge(self.bound)
            self.model.load()
            self.loaded = True
            self._observe()
            self._bind_outputs()
        except Refusal as refusal:
            refused, self.stopped = str(refusal), isinstance(refusal, StoppedRun)
        mismatches, counts = self._compare()
        types = {name: str(self.bound.tensors[name]) for name in input_names(self.bound.graph)}
        return Run(
            sizes=self.sizes.sizes,
            chosen=self.sizes.chosen,
            inputs=types,
            values=self.values,
            tensors=counts.total(),
            exact=counts["exact"],
            bounded=counts["bounded"],
            unknown=counts["unknown"],
            bound=len(self.outputs.written),
            bound_bytes=sum(self.outputs.written.values()),
            redeclared=tuple(self.outputs.redeclared),
            mismatches=tuple(mismatches),
            skipped=tuple(self.skipped),
            unbound=tuple(self.outputs.unbound),
            refused=refused,
        )

    def attempt(self) -> tuple[Run, str, bool]:
        """Run, for `choose_run`; a model that is not loaded, or takes too long, is not tried at other sizes."""
        run = self.run()
        return run, run.refused, self.loaded and not self.stopped and not self.observed and bool(run.chosen)

    def _observe(self) -> None:
        """Run with all tensors as outputs and record their types; inputs that the runtime refuses get other values."""
        exposed = self.model.tensor_names()
        named = dict.fromkeys([*self.producers, *self.bound.graph.outputs, *self.bound.body_tensors])
        groups = list(self._groups([name for name in named if name in exposed]))
        feeds = self.runs.feeds(self.sizes)
        self.values, (self.feeds, observed) = run_feeds(feeds, lambda arrays: self._run_exposed(groups, arrays))
        self.observed.update((name, type_) for name, type_ in observed.items() if not isinstance(type_, str))
        skipped = [Skipped(name, reason) for name, reason in observed.items() if isinstance(reason, str)]
        self.skipped += skipped
        self.not_run.update(self.producers[item.tensor].name for item in skipped if item.tensor in self.producers)
        self._observe_items([name for name in self.producers if name not in observed])

    def _run_exposed(
        self, groups: Sequence[Sequence[str]], arrays: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Observation]]:
        """The inputs as the runtime takes them, and the types of the tensors, in one run for each group."""
        inputs = self.model.prepare(arrays, {name: self.bound.tensors[name].dtype or "" for name in arrays})
        observed: dict[str, Observation] = {}
        for names in groups:
            types = self.model.observe(names, inputs)
            observed.update(zip(names, types, strict=True) if names else ())  # none: all outputs
        return inputs, observed

    def _groups(self, names: Sequence[str]) -> Iterator[list[str]]:
        """The tensors in groups of at most `MAX_HELD` bytes, at least one group; an unknown size counts as 0."""
        group: list[str] = []
        total = 0
        for name in names:
            size = max_bytes(self.bound, name) or 0 if name in self.bound.tensors else 0
            if group and total + size > MAX_HELD:
                yield group
                group, total = [], 0
            group.append(name)
            total += size
        yield group

    def _observe_items(self, names: Sequence[str]) -> None:
        """Record the types of the items of sequences, optionals and maps, in one run each."""
        for name in names:
            try:
                value = self.model.fetch(name, self.feeds)
            except Refusal as refusal:
                self.skipped.append(Skipped(name, str(refusal)))
                continue
            self.observed[name] = list(_item_types(value))

    def _compare(self) -> tuple[list[Mismatch], Counter[str]]:
        """The mismatches of both inferences, and the number of tensors by the verdict of that with the sizes bound."""
        mismatches, counts = list[Mismatch](), Counter[str]()
        for by, result in (("bound", self.bound), ("symbolic", self.symbolic)):
            if not self.observed:
                break
            mismatches += [m for m in _false_violations(result, by) if m.node not in self.not_run]
            inferred = self._inferred_types(result)
            for name, observed in self.observed.items():
                info = _find_info(result, name)
                if info is None:
                    continue  # of a body that this inference shows not to run
                verdict, text = _judge(inferred, name, info, observed)
                if by == "bound":
                    counts[verdict] += 1
                if verdict == "wrong":
                    mismatches.append(Mismatch(name, *self._producer(name), inferred.describe(info), text, by))
        return mismatches + self.outputs.mismatches, counts

    def _producer(self, name: str) -> tuple[str, str]:
        """The name and the operator of the node of a value; empty for an input."""
        node = self.producers.get(name)
        if node is not None:
            return node.name, node.op
        inner = body_producers(self.bound.engine.inference).get(name)
        return (inner.node, inner.op) if inner is not None else ("", "")

    def _inferred_types(self, result: Result) -> InferredTypes:
        """An inference, with the sizes of its symbols in this run."""
        named = {name: size for name, size in self.sizes.sizes.items() if result.engine.scope.has(name)}
        inferred = InferredTypes(result, self.sizes.shapes, named)
        tensors = [(name, type_) for name, type_ in self.observed.items() if isinstance(type_, ObservedType)]
        outer = ((name, type_) for name, type_ in tensors if name in result.tensors)
        inferred.learn((name, type_) for name, type_ in outer if result.tensors[name].kind == "tensor")
        return inferred

    def _bind_outputs(self) -> None:
        """Run the unchanged model with its outputs in buffers of the inferred sizes."""
        refusal = self.model.binding_refusal(self.feeds)
        if refusal:
            self.outputs.unbound += [Skipped(name, refusal) for name in self.bound.graph.outputs]
            return
        for name in dict.fromkeys(self.bound.graph.outputs):  # a value may be several outputs
            if name not in self.producers:
                self.outputs.unbound.append(Skipped(name, "it is an input or a constant, which no node writes"))
                continue
            most = max_bytes(self.bound, name)
            self.outputs.allocate(name, self.bound.tensors[name], most, self.observed.get(name))
        if self.outputs.buffers:
            self.outputs.run(self.model, self.feeds)


def _false_violations(result: Result, by: str) -> list[Mismatch]:
    """Mismatches for nodes that ran although the inference reports that they cannot run."""
    return [
        Mismatch("", d.node, d.op, f"cannot run ({d.message})", "runs", by)
        for d in certain_violations(result.engine.inference)
    ]


def _item_types(value: Any) -> Iterator[ObservedType | None]:
    """The types of the tensors in a Python value; None for a map or an empty optional."""
    if isinstance(value, (np.ndarray, np.generic)):
        yield ObservedType.from_array(np.asarray(value))
    elif isinstance(value, list):
        for item in value:
            yield from _item_types(item)
    else:
        yield None


def _find_info(result: Result, name: str) -> TensorInfo | None:
    """The type of a value, also of one inside a body."""
    return result.tensors.get(name) or result.body_tensors.get(name)


def _judge(
    inferred: InferredTypes, name: str, info: TensorInfo, observed: ObservedType | list[ObservedType | None]
) -> tuple[str, str]:
    """The verdict on one value, and its observed type as text."""
    if isinstance(observed, ObservedType):
        if info.kind != "tensor":
            return "wrong", str(observed)
        return inferred.verdict(info, observed), str(observed)
    text = "[" + ", ".join(str(item) if item is not None else "no tensor" for item in observed[:4]) + "]"
    if info.kind == "tensor":
        return ("unknown" if info.dtype is None and info.shape.dims is None else "wrong"), text
    items = item_infos(inferred.result.engine.inference, name) if name in inferred.result.tensors else None
    if items is not None and len(items) != len(observed):
        return "wrong", text
    if items is not None:
        pairs = [(i, o) for i, o in zip(items, observed, strict=True) if o is not None]
        verdicts = [inferred.verdict(item, type_) for item, type_ in pairs]
    else:
        verdicts = [inferred.verdict(info, item, item=True) for item in observed if item is not None]
    if "wrong" in verdicts:
        return "wrong", text
    return ("exact" if verdicts and set(verdicts) == {"exact"} else "bounded"), text
