"""`Result`: the inferred shapes of a model; contract, memory, cost and so on are computed from it on first use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Final, Literal, TextIO, cast, overload

import attrs

from shapeinf.diagnostics import Diagnostic, Diagnostics
from shapeinf.engine.cases import Cases, Ranges
from shapeinf.engine.diagnostics import collect_diagnostics
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.session import Engine
from shapeinf.engine.tensor_info import TensorInfo, annotation, has_unknowns, output_shapes, tensor_infos
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import DimSize, Interval
from shapeinf.expr.notations import NotationName
from shapeinf.formats import FORMATS, save
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import Annotate, ExternalData
from shapeinf.graph import Graph
from shapeinf.inputs.reader import SpecLike, input_names, key_by_input
from shapeinf.pickling import Reduced, reduce_record
from shapeinf.sharing import synchronized
from shapeinf.solver.budget import WORK

if TYPE_CHECKING:
    from shapeinf.contract import Contract, PickledContract
    from shapeinf.contract.stored import StoredContract
    from shapeinf.cost import Cost
    from shapeinf.explain.explanation import Step
    from shapeinf.explain.unknowns import UnknownGroups
    from shapeinf.failures import FailureReport
    from shapeinf.formats.minimized import MinimizedMemory
    from shapeinf.guards import GuardReport
    from shapeinf.memory import Memory
    from shapeinf.memory.layouts import Layouts
    from shapeinf.memory.runtimes.executorch.arena_memory import ArenaMemory
    from shapeinf.memory.runtimes.executorch.options import ExecuTorchOptions
    from shapeinf.memory.runtimes.litert.arena_memory import LiteRtMemory
    from shapeinf.memory.runtimes.litert.options import LiteRtOptions
    from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
    from shapeinf.memory.runtimes.onnxruntime.session_memory import SessionMemory
    from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
    from shapeinf.memory.runtimes.tflite_micro.arena_memory import TfliteMicroMemory
    from shapeinf.memory.runtimes.tflite_micro.options import TfliteMicroOptions
    from shapeinf.pickled_result import Coverage
    from shapeinf.program import ShapeProgram


MAX_CONSTRAINTS = 500
"""With more constraints, a `repr` does not compute the contract, which would take seconds."""


@synchronized
class Result:
    """The shapes of every tensor of a graph, the diagnostics, and the constraints on its dims."""

    engine: Final[Engine]
    """The internals: the inference, its constraint store, the lock. Any release may change them."""

    def __init__(self, engine: Engine) -> None:
        """Wraps a finished inference."""
        self.engine = engine
        self._tensors: dict[str, TensorInfo] | None = None
        self._body_tensors: dict[str, TensorInfo] | None = None
        self._diagnostics: list[Diagnostic] | None = None
        self._contract: Contract | None = None
        self._program: ShapeProgram | None = None
        self._other: tuple[Mapping[str, int], Result] | None = None
        self._cost: Cost | None = None

    @property
    def _lock(self) -> RLock:
        return self.engine.lock

    @property
    def graph(self) -> Graph:
        """The graph that was inferred."""
        return self.engine.inference.compiled.graph

    @property
    def source(self) -> str | None:
        """The path of the model; None for one that was not read from a file."""
        return self.graph.source

    @property
    def dialect(self) -> str:
        """The dialect of the operators of the graph: "onnx", "tf", "nnef" or "pnnx"."""
        return self.graph.dialect

    @property
    def dims(self) -> dict[str, Interval]:
        """The dims of the inputs by the name that users bind them by, with their bounds under all constraints."""
        return {label: self.interval(symbol) for symbol, label in input_symbols(self.engine.inference).items()}

    @property
    def policy(self) -> str:
        """The least size of named dims, the dims that the user allows to be smaller, and the assumptions."""
        assumed = f"; holds for {', '.join(self.assumptions)}" if self.assumptions else ""
        return f"{self.engine.store.policy}{assumed}"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user specifies besides dims of inputs, and the result holds for: `sr = 16000`, `nz.count in 1..9`.

        Relations that name only dims of inputs are constraints, with sources; they are not listed here.
        """
        return self.engine.inference.assumptions

    @property
    def values(self) -> Mapping[str, object]:
        """The user's values of inputs; none for a what-if run."""
        return {} if self.engine.session is None else self.engine.session.options.values

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """Every value of the graph by name: inputs, constants and the outputs of all nodes."""
        if self._tensors is None:
            self._tensors = tensor_infos(self.engine.inference)
        return self._tensors

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs by name, in the order of the graph, without those with a default value, which are constants."""
        return {name: self.tensors[name] for name in input_names(self.graph)}

    @property
    def outputs(self) -> dict[str, TensorInfo]:
        """The outputs by name, in the order of the graph."""
        return {name: self.tensors[name] for name in self.graph.outputs}

    @property
    def body_tensors(self) -> dict[str, TensorInfo]:
        """Every value inside the bodies and functions that ran, by path and name: `loop/body/x`, `call/x`.

        The type of a value in a body that runs several times is the join of its types in all iterations.
        """
        if self._body_tensors is None:
            from shapeinf.engine.body_tensors import body_tensors

            self._body_tensors = body_tensors(self.engine.inference)
        return self._body_tensors

    def tensor(self, name: str) -> TensorInfo:
        """A value of the graph, by its name or an alias, or one inside a body.

        Raises UnknownNameError for an unknown value.
        """
        name = self.graph.aliases.get(name, name)
        if name in self.tensors:
            return self.tensors[name]
        if name in self.body_tensors:
            return self.body_tensors[name]
        raise UnknownNameError("tensor", name, [*self.tensors, *self.body_tensors])

    @property
    def diagnostics(self) -> Diagnostics:
        """All diagnostics: those of packages, file and user first, then those of nodes in the order of the graph."""
        if self._diagnostics is None:
            self._diagnostics = collect_diagnostics(self.engine.inference)
        return Diagnostics([*self.engine.notes, *self._diagnostics])

    @property
    def coverage(self) -> Coverage:
        """How much of the graph is inferred."""
        from shapeinf.pickled_result import Coverage

        compiled = self.engine.inference.compiled
        missing: Counter[str] = Counter()
        unknown = {key: operation.kind.op for key, operation in compiled.operations.items() if not operation.known}
        for key in (row[0] for row in compiled.rows if row[0] in unknown) if unknown else ():
            missing[unknown[key]] += 1
        shapes = output_shapes(self.engine.inference)
        ranked = sum(count for shape, count in shapes if shape.dims is not None)
        known = sum(count for shape, count in shapes if not has_unknowns(shape))
        return Coverage(len(compiled.rows), sum(count for _, count in shapes), ranked, known, dict(missing))

    def interval(self, dim: DimSize) -> Interval:
        """The bounds of a dim under all constraints."""
        return self.engine.store.interval(dim)

    @property
    def contract(self) -> Contract:
        """The preconditions of the graph on the sizes of its inputs, each with the node that requires it."""
        if self._contract is None:
            from shapeinf.contract import Contract

            self._contract = Contract(self.engine.inference)
        return self._contract

    @property
    def guards(self) -> GuardReport:
        """The guards of a program of torch.export, and which of them its operators need.

        They are compared with the contract of the program in which every axis of an input is free: what the user
        specifies of this result has no influence. Raises ShapeInferenceError for a model without guards.
        """
        return self._examine_guards(None)

    def guards_in(self, other: Result) -> GuardReport:
        """The report `guards`, with those that another model, which was made of the program, keeps or loses.

        The inputs of both correspond by name, else by position. The sizes that the other model declares as numbers
        count as its own; what the user specifies has no influence. Raises ShapeInferenceError as `guards` does, and
        where the inputs do not correspond.
        """
        return self._examine_guards(other)

    def _examine_guards(self, other: Result | None) -> GuardReport:
        from shapeinf.guards import examine_guards

        session = self.engine.session
        others = None if other is None else other.engine.session
        if session is None or (other is not None and others is None):
            raise ShapeInferenceError("a what-if run has no guards: query the result that it was made from")
        return examine_guards(session, others)

    def why(
        self,
        message: str,
        *,
        at: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int | None]] | None = None,
        work: int = WORK,
    ) -> FailureReport:
        """Why a run of the model failed, from the error text of the runtime: a message, a traceback or a log.

        The report has the conditions of the contract that failed, with the nodes that require them and the nearest
        legal sizes. What the user specifies of this result holds for it.

        Args:
            message: the text of onnxruntime, OpenVINO, TensorRT, TensorFlow, torch or LiteRT.
            at: the sizes of dims in the run; else those that the text states, where it states any.
            shapes: the shapes of inputs in the run, also others than the declared ones.
            work: the budget of each query, in steps that are the same on every machine.

        Raises UnknownNameError for a dim or an input that the model does not have.
        """
        from shapeinf.failures import explain_failure

        if self.engine.session is None:
            raise ShapeInferenceError("a what-if run explains no failures: query the result that it was made from")
        with pause_garbage_collection():
            return explain_failure(self.engine.session, self.engine.inference, message, at, shapes, work)

    def explain(self, name: str, axis: int | None = None, *, work: int = WORK) -> list[str]:
        """The provenance of an axis of a tensor: a line for each step, from the tensor back to its first cause.

        Without an axis, that of each axis.

        A tensor inside a body has the name that it has in `body_tensors`; its last run is explained.
        `work` is the budget, in steps that are the same on every machine; if it is exhausted, the last line reports it.
        Raises UnknownNameError for an unknown tensor, ShapeInferenceError for an axis out of range.
        """
        rank = self.tensor(name).shape.rank if axis is None else None
        axes = [axis or 0] if rank is None else range(rank)  # any axis explains an unknown rank
        return [step.text for axis in axes for step in self.explain_steps(name, axis, work=work)]

    def explain_steps(self, name: str, axis: int, *, work: int = WORK) -> list[Step]:
        """The steps of `explain` as records, with the node, the operator and the parameters of each."""
        from shapeinf.explain.explanation import explain

        return explain(self.engine.inference, self.graph.aliases.get(name, name), axis, work)

    def program(self) -> ShapeProgram:
        """All shapes as one numpy program; call it with arrays of sizes."""
        if self._program is None:
            from shapeinf.program import ShapeProgram

            labels = input_symbols(self.engine.inference)
            with pause_garbage_collection():
                self._program = ShapeProgram(
                    self.engine.store, self.tensors, labels, lambda: self.memory().peak, self._program_for
                )
        return self._program

    def save_program(self, path: str | os.PathLike[str], *, model: str | None = None) -> None:
        """Write all shapes, bytes, the peak and the conditions as source text without libraries.

        The suffix selects the language: `.h` for C and C++, `.mjs` for JavaScript (with types for TypeScript in
        `.d.mts`), `.rs` for Rust, `.py` for Python. `model` is the name of the model in the text, by default that of
        the graph; names in C begin with it.

        Raises ExportError for another suffix, ShapeInferenceError for a model with errors, or whose shapes hold for
        the user's values of inputs only, LimitError when functions and bodies expand to too many nodes, OSError.
        """
        from shapeinf.codegen import module_files, save_module, shape_module

        module_files(path)
        save_module(shape_module(self, model), path)

    def _program_for(self, ranges: Ranges) -> ShapeProgram | None:
        result = self.result_for(ranges)
        return None if result is self else result.program()

    def unknowns(self, *, work: int = WORK) -> UnknownGroups:
        """All unknown axes and ranks, in groups by the node or input where they originate, the largest first.

        `work` is the budget, in steps that are the same on every machine. Unknowns whose cause is not found within it
        are one group, with a cause of kind `budget`.
        """
        from shapeinf.explain.unknowns import UnknownGroups, unknowns

        return UnknownGroups(unknowns(self.engine.inference, work))

    @overload
    def memory(
        self,
        *,
        order: Literal["file", "least"] = "file",
        aliases: bool = False,
        in_place: bool = False,
        layouts: Layouts | None = None,
        runtime: None = None,
        work: int = WORK,
    ) -> Memory: ...

    @overload
    def memory(
        self, *, runtime: Literal["onnxruntime"], options: OnnxRuntimeOptions | None = None, work: int = WORK
    ) -> SessionMemory: ...

    @overload
    def memory(
        self, *, runtime: Literal["executorch"], options: ExecuTorchOptions | None = None, work: int = WORK
    ) -> ArenaMemory: ...

    @overload
    def memory(
        self, *, runtime: Literal["litert", "litert-xnnpack"], options: LiteRtOptions | None = None, work: int = WORK
    ) -> LiteRtMemory: ...

    @overload
    def memory(
        self, *, runtime: Literal["tflite-micro"], options: TfliteMicroOptions | None = None, work: int = WORK
    ) -> TfliteMicroMemory: ...

    @overload
    def memory(self, *, runtime: str, options: object = None, work: int = WORK) -> RuntimeMemory: ...

    def memory(
        self,
        *,
        order: Literal["file", "least"] = "file",
        aliases: bool = False,
        in_place: bool = False,
        layouts: Layouts | None = None,
        runtime: str | None = None,
        options: object = None,
        work: int = WORK,
    ) -> Memory:
        """The blocks of memory that the graph uses, their live ranges and sizes in bytes.

        Temporaries of kernels, alignment and the arena of a runtime are counted with `runtime` only.

        Args:
            order: "file" for the order of the file, "least" for an order with a lower peak.
            aliases: views of other values, such as reshaped ones, have no memory of their own.
            in_place: outputs overwrite inputs with no later consumer, where the definitions of operators allow it. The
                kernels of a runtime overwrite less: those of ONNX Runtime for 19 operators.
            layouts: layouts of tensors (a `Layout`, or its text such as `{1,0:T(8,128)}`) by name and by rank, or a
                function of name, shape and element type; the bytes of such a tensor count its tiles and padding.
            runtime: "onnxruntime" for what it allocates: its order, shared buffers, and the temporaries of its kernels;
                "executorch" for the arena that it plans when a program is made; "litert", "litert-xnnpack" and
                "tflite-micro" for the arenas of a TensorFlow Lite file.
            options: the options of the runtime; `order`, `aliases`, `in_place` and `layouts` are its own.
            work: the budget of each peak query, in steps that are the same on every machine; an answer reports if it
                is exhausted.

        Raises UnknownNameError for another order or a layout of a tensor that the graph does not have, LayoutError for
        a layout whose rank is not that of its tensor, LimitError when functions and bodies expand to too many nodes.
        """
        if runtime is not None:
            from shapeinf.memory.runtimes.runtime_memory import runtime_memory

            if order != "file" or aliases or in_place or layouts is not None:
                raise ShapeInferenceError("a runtime has its own order, shared buffers and layouts: only options apply")
            return runtime_memory(self.engine.inference, self.engine.session, runtime, options, work)
        from shapeinf.memory.memory import Memory

        return Memory(self.engine.inference, order, aliases=aliases, in_place=in_place, layouts=layouts, work=work)

    def cost(self, *, work: int = WORK) -> Cost:
        """The cost of the graph: multiply-accumulates, operations, parameters and bytes moved, by node.

        `work` is the budget of each query about sizes that depend on data, in steps that are the same on every machine.
        Raises LimitError when functions and bodies expand to too many nodes.
        """
        if self._cost is None or self._cost.work != work:
            from shapeinf.cost import Cost

            self._cost = Cost(self.engine.inference, work=work)
        return self._cost

    def at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> Result:
        """The result at these sizes of dims; names that are no identifiers go into the mapping.

        It is a new inference of the same model. Dims without a size stay symbols; a node that cannot run at these sizes
        is an error in `diagnostics`.

        Raises UnknownNameError for a dim that the model does not have, ShapeInferenceError for a negative size,
        Contradiction for a size that contradicts what the user specifies.
        """
        if self.engine.session is None:
            raise ShapeInferenceError("a what-if run has no sizes of its own: infer the model again")
        return Result(self.engine.session.bind({**(sizes or {}), **more}).run())

    def result_for(self, ranges: Ranges) -> Result:
        """The result that holds for these ranges of symbols: this one, or one without assumptions."""
        least = Cases(self.engine.inference).smaller_dims(ranges)
        if least is None or self.engine.session is None:
            return self
        if self._other is None or self._other[0] != least:
            self._other = least, Result(self.engine.session.without_assumptions(least).run())
        return self._other[1]

    def without_assumptions(self, least: Mapping[str, int] | None = None) -> Result | None:
        """The result in which rules assume no sizes, such as that a window fits its input; None for a what-if run.

        Named dims of `least` may be that small in it, below `min_dim`.
        """
        session = self.engine.session
        return None if session is None else Result(session.without_assumptions(least or {}).run())

    def save(
        self,
        target: str | os.PathLike[str] | TextIO,
        *,
        external_data: ExternalData | None = None,
        annotate: Annotate | None = None,
        dim_text: NotationName | None = None,
        minimize_memory: str | None = None,
        sizes: Mapping[str, int] | None = None,
        contract: bool = False,
    ) -> MinimizedMemory | None:
        """Write the model annotated with the inferred shapes, in its own format.

        The target is a path; for an NNEF document or a network of PNNX it may be a stream, such as `sys.stdout`. A file
        is written completely or not at all.

        `external_data` is for ONNX models with weights in other files: "keep" (the default) refers to these from the
        target, "copy" copies them to one file, the target with `.data` appended, "embed" puts them into the model.

        `annotate` is for ONNX models, too: "chains" (the default) writes the types of all values so that a runtime
        needs no more memory than without them, with dims of inner values as `height//2@17`, where values with one
        number may share a buffer; "all" writes equal texts for equal dims; "io" writes the types of the outputs only.

        `dim_text` writes expressions of dims of an ONNX model in the notation of another tool: "sympy" (also for
        onnxruntime), "torch", "jax", or "onnx" for that of a proposal. A dim that the tool cannot read has a name of
        its own. Inner values have equal texts for equal dims, unless `annotate` is "io".

        `minimize_memory`, which may be "onnxruntime", chooses the types and the order of the nodes by prediction: with
        the file a first run needs no more memory than with the one that was read, at the `sizes` of dims and at others
        that are compared. The result is what both files need. Everything else of the model stays.

        `contract` stores the contract for `Contract.load`: in the metadata of an ONNX model, for other formats in a
        JSON file with the name of the target and `.contract.json` appended.

        Warns (MissingDataWarning) where files with weights do not exist. Raises ModelError where these cannot be
        referred to from the folder of the target, or not be read, and where a file cannot be written; LimitError for
        more than 2 GB in one file; ShapeInferenceError where the shapes hold for the user's values of inputs only: no
        file can state that. With `minimize_memory`: UnknownNameError for another runtime or dim, Contradiction for
        sizes that are not legal, ShapeInferenceError for a model of another format, `annotate` and `dim_text`.
        """
        if self.assumptions:
            only = ", ".join(self.assumptions)
            raise ShapeInferenceError(
                f"the shapes hold only for {only}: a model file cannot state that, nothing is saved"
            )
        types = annotation(self.engine.inference)
        if contract and (minimize_memory is not None or not isinstance(target, (str, os.PathLike))):
            raise ShapeInferenceError("a contract is stored with a model at a path, without minimize_memory")
        if minimize_memory is None:
            if sizes is not None:
                raise ShapeInferenceError("sizes have no effect without minimize_memory")
            self._save_annotated(types, target, external_data, annotate, dim_text, contract)
            return None
        if annotate is not None or dim_text is not None:
            option = "dim_text" if annotate is None else "annotate"
            raise ShapeInferenceError(f"{option} has no effect with minimize_memory, which chooses the types")
        if self.engine.session is None:
            raise ShapeInferenceError("a what-if run cannot be predicted: infer the model again")
        from shapeinf.memory.runtimes.onnxruntime.minimizing import minimize_memory as minimize

        choice, minimized = minimize(self.engine.session, types, minimize_memory, sizes or {})
        save(self.graph, choice.annotation(types), target, external_data, choice.annotate, order=choice.order)
        return minimized

    @property
    def stored_contract(self) -> StoredContract:
        """The contract as a file states it: texts, the sizes that it is about, and the digest of the graph.

        Raises ShapeInferenceError where it holds only for shapes, relations or values that the user specifies.
        """
        from shapeinf.contract.stored import store_contract

        if self.engine.session is None:
            raise ShapeInferenceError("the contract of a what-if run is not stored: infer the model again")
        contract = self.contract
        return store_contract(self.engine.inference, contract.preconditions, contract.cut, self.engine.session.options)

    def _save_annotated(
        self,
        types: Annotation,
        target: str | os.PathLike[str] | TextIO,
        external_data: ExternalData | None,
        annotate: Annotate | None,
        dim_text: NotationName | None,
        contract: bool,
    ) -> None:
        """Write the annotated model, and its contract: in the file, or where that has no place for one, in its own."""
        if not contract or not isinstance(target, (str, os.PathLike)):
            save(self.graph, types, target, external_data, annotate, dim_text)
            return
        from shapeinf.contract.stored import contract_text, write_companion

        stored, chosen = self.stored_contract, FORMATS.format_of(self.graph)
        inside = chosen is not None and chosen.stores_contract
        types = attrs.evolve(types, contract=contract_text(stored) if inside else "")
        save(self.graph, types, target, external_data, annotate, dim_text)
        if not inside:
            write_companion(stored, os.fspath(target))

    def update(self, inputs: Mapping[str, SpecLike]) -> Result:
        """The result for other shapes of some inputs; all other shapes and options stay.

        It equals a new inference with all shapes. Only nodes that depend on the changed inputs run again, unless
        constraints of nodes or shapes may not hold for the new shapes. This result must not be used any more.
        Raises UnknownNameError for an input that the graph does not have.
        """
        assert self.engine.session is not None, "a what-if run cannot be updated"
        return Result(self.engine.session.update(self.engine, key_by_input(inputs, self.graph)))

    # -- display, copies and pickles -----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """A few lines: inputs, outputs, coverage, number of preconditions, diagnostics."""
        from shapeinf.pickled_result import result_text

        return result_text("Result", self, self._cheap_contract())

    def _repr_html_(self) -> str:
        """The same as tables, with the preconditions and the diagnostics."""
        from shapeinf.pickled_result import result_html

        with self._lock:
            return result_html("Result", self, self._cheap_contract())

    def _cheap_contract(self) -> Contract | None:
        cheap = self._contract is not None or self.engine.store.count <= MAX_CONSTRAINTS
        return self.contract if cheap else None

    def __copy__(self) -> Result:
        """An independent result: the model is inferred again, since `update` changes the inference of this one."""
        return self if self.engine.session is None else Result(self.engine.session.run())

    def __deepcopy__(self, memo: object) -> Result:
        """As a copy."""
        return self.__copy__()

    def __reduce__(self) -> Reduced:
        """A pickle has the data only, and is loaded as a `PickledResult`."""
        from shapeinf.pickled_result import PickledResult

        return reduce_record(
            PickledResult(
                self.source,
                self.dialect,
                self.inputs,
                self.outputs,
                self.tensors,
                dict(self.graph.aliases),
                self.dims,
                cast("PickledContract", self.contract),  # loaded as one
                self.diagnostics,
                self.coverage,
                self.policy,
                self.assumptions,
            )
        )
