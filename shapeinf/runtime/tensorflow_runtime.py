"""TensorFlow: a session of the GraphDef, with a trace of the types of all outputs of nodes.

The trace (`RunOptions.FULL_TRACE`) has step statistics with the type of each output of each kernel that ran, also in
loops and branches of version 1; nothing is fetched. All rewrites of graphs are off, so that each node exists.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from shapeinf.errors import MissingPackageError
from shapeinf.formats.tf.source import open_message
from shapeinf.formats.tf.types import dtype_name
from shapeinf.graph import Graph
from shapeinf.runtime.protocol import Buffer, ObservedType, Refusal, StoppedRun, WrittenOutput, refusals

_INITIALIZERS = frozenset({"LookupTableImportV2", "InitializeTableV2", "InitializeTable", "MakeIterator"})
"""The operators that fill tables and iterators."""

_KERNEL_MESSAGE = re.compile(
    r"^Node: '(?P<node>[^']*)'\n(?P<text>.*?)\s*(?:\[\[\{\{node|$(?!.))", re.DOTALL | re.MULTILINE
)
"""The message of a kernel in that of a run, where stack traces follow."""

_INIT_SIGNATURE = "__saved_model_init_op"
_VARIABLES = {"VarHandleOp": "AssignVariableOp", "VariableV2": "Assign", "Variable": "Assign"}
"""The operators that create variables, and those that assign to them."""


def runtime() -> TensorFlow:
    """The installed TensorFlow. Raises MissingPackageError."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its pass fuses nodes, whatever the config of the session
    try:
        import tensorflow
    except ImportError as error:
        raise MissingPackageError("verify --runtime tensorflow", "tensorflow-cpu", "tensorflow") from error
    return TensorFlow(tensorflow)


@attrs.frozen
class TensorFlow:
    """The package, on the CPU."""

    package: Any
    name: str = "tensorflow"

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(self.package.__version__)

    def open(self, graph: Graph, timeout: float | None) -> TensorFlowSession:
        """A model, imported when a method needs it."""
        return TensorFlowSession(self.package, graph, timeout)


class TensorFlowSession:
    """One imported graph and its session; only nodes that the outputs of the graph need are run.

    Variables have random values of their declared shapes: the file of a graph has no values of them.
    """

    def __init__(self, package: Any, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take."""
        self.package = package
        self.graph = graph
        self.timeout = timeout
        self._session: Any = None
        self._traced: tuple[Any, dict[str, set[ObservedType]]] | None = None

    def load(self) -> None:
        """Import the graph, and initialize its tables and variables."""
        self.session()

    def session(self) -> Any:
        """The session of the imported graph."""
        if self._session is None:
            with open_message(self.graph) as message:
                data, signatures = message.graph_def(), message.signatures()
            v1 = self.package.compat.v1
            with refusals():
                graph_def = v1.GraphDef.FromString(data)
                imported = self.package.Graph()
                with imported.as_default():
                    v1.import_graph_def(graph_def, name="")
                session = v1.Session(graph=imported, config=self._config())
            initializer = signatures.get(_INIT_SIGNATURE)
            self._initialize(session, [tensor.value for tensor in initializer.outputs] if initializer else [])
            self._session = session
        return self._session

    def _config(self) -> Any:
        """One thread on the CPU, no rewrites of the graph."""
        v1 = self.package.compat.v1
        config = v1.ConfigProto(device_count={"GPU": 0}, intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        return config

    def _initialize(self, session: Any, initializers: Iterable[str]) -> None:
        """Run the initializers of tables and iterators, and assign random values to variables."""
        operations = session.graph.get_operations()
        others = [op.name for op in operations if op.type in _INITIALIZERS]
        for name in [*(value.partition(":")[0] for value in initializers), *others]:
            with contextlib.suppress(self.package.errors.OpError):  # it needs a file or an input that does not exist
                session.run(session.graph.get_operation_by_name(name))
        with refusals(), session.graph.as_default():
            rng = np.random.default_rng(0)
            for variable in [op for op in operations if op.type in _VARIABLES]:
                self._assign(session, variable, rng)

    def _assign(self, session: Any, variable: Any, rng: np.random.Generator) -> None:
        """Assign a random value to a variable. Raises Refusal for one of an unknown shape."""
        raw, dtype = self.package.raw_ops, variable.get_attr("dtype")
        shape = self.package.TensorShape(variable.get_attr("shape"))
        if not shape.is_fully_defined():
            raise Refusal(f"the variable {variable.name} has no value, and its shape is not declared")
        if dtype == self.package.string:
            array = np.full(shape.as_list(), b"", object)
        else:
            numbers = rng.standard_normal(shape.as_list()) * 0.1 if dtype.is_floating or dtype.is_complex else 0
            array = np.broadcast_to(numbers, shape.as_list()).astype(dtype.as_numpy_dtype)
        value = self.package.compat.v1.placeholder(dtype, shape)
        if _VARIABLES[variable.type] == "Assign":
            assignment = raw.Assign(ref=variable.outputs[0], value=value).op
        else:
            assignment = raw.AssignVariableOp(resource=variable.outputs[0], value=value)
        session.run(assignment, {value: array})

    def tensor_names(self) -> frozenset[str]:
        """The outputs of all nodes; `observe` has a reason for those of nodes that a run does not execute."""
        return frozenset(name for node in self.graph.nodes for name in node.outputs)

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """The arrays themselves."""
        return dict(arrays)

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[ObservedType | str]:
        """The types of these tensors in a traced run; all calls with the same feeds share one run."""
        if self._traced is None or self._traced[0] is not feeds:
            self._traced = feeds, self._trace(feeds)
        return [_unique_type(self._traced[1].get(name, set())) for name in names]

    def _trace(self, feeds: Mapping[str, Any]) -> dict[str, set[ObservedType]]:
        """The types of each output of each node in one run; a node in a loop may have several."""
        v1, session = self.package.compat.v1, self.session()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        if self.timeout:
            options.timeout_in_ms = max(1, round(self.timeout * 1000))
        metadata = v1.RunMetadata()
        with refusals(), self._node_refusals():
            targets = {name.partition(":")[0]: None for name in self.graph.outputs}
            operations = [session.graph.get_operation_by_name(name) for name in targets]
            session.run(operations, feeds, options=options, run_metadata=metadata)
        types: dict[str, set[ObservedType]] = {}
        for device in metadata.step_stats.dev_stats:
            for node in device.node_stats:
                for output in node.output:
                    type_ = _described_type(output.tensor_description)
                    types.setdefault(f"{node.node_name}:{output.slot}", set()).add(type_)
        return types

    @contextlib.contextmanager
    def _node_refusals(self) -> Iterator[None]:
        """Turn errors of nodes into Refusals with the message of the kernel."""
        errors = self.package.errors
        try:
            yield
        except errors.DeadlineExceededError as error:
            raise StoppedRun(self.timeout) from error
        except errors.OpError as error:
            match = _KERNEL_MESSAGE.search(str(error))
            if match is None:
                raise
            raise Refusal(f"{' '.join(match['text'].split())} (node '{match['node']}')") from error

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """A graph has no sequences, optionals or maps."""
        raise Refusal("the graph has no node of this name")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound: TensorFlow allocates them."""
        return "TensorFlow writes no outputs into buffers"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("TensorFlow writes no outputs into buffers")


def _described_type(description: Any) -> ObservedType:
    """The type in a TensorDescription."""
    return ObservedType(dtype_name(description.dtype), tuple(dim.size for dim in description.shape.dim))


def _unique_type(types: set[ObservedType]) -> ObservedType | str:
    """The only type of a tensor, or the reason why it has none."""
    if len(types) == 1:
        return next(iter(types))
    return "its node has several shapes in one run" if types else "the run does not execute its node"
