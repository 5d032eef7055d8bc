"""Equal nodes of several graphs share an operation, but never one of a rule that is no longer in force."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.engine.compiled import compile_graph
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import ArgDef, Call, Dialect, InferenceContext, OpDef, OpRegistry, Rule

KIND = NodeKind("Pad")


def toy(added: int) -> Dialect:
    """A dialect whose operator adds a number to the first size."""
    dialect = Dialect("toy")

    @dialect("Pad")
    def pad(c: InferenceContext, x: Shape) -> Shape:
        return Shape((x[0] + added, *x[1:]))

    return dialect


def graph(kind: NodeKind = KIND, outputs: tuple[str, ...] = ("y",)) -> Graph:
    node = Node(kind, ("x",), outputs)
    return Graph(
        dialect="toy", nodes=[node], inputs=["x"], outputs=["y"], declared={"x": DeclaredType("float32", ("n", 4))}
    )


def test_equal_nodes_of_two_graphs_share_an_operation() -> None:
    registry = OpRegistry(toy(1))
    first, second = (compile_graph(graph(), registry).step(0).operation for _ in range(2))
    assert first is second


@pytest.mark.parametrize("other", [graph(NodeKind("Pad")), graph(outputs=("y", "z"))], ids=["kind", "outputs"])
def test_different_nodes_do_not(other: Graph) -> None:
    registry = OpRegistry(toy(1))
    assert compile_graph(graph(), registry).step(0).operation is not compile_graph(other, registry).step(0).operation


def test_a_dialect_that_replaces_another_one_is_used_at_once() -> None:
    registry = OpRegistry(toy(1))
    sizes = [str(infer_shapes(graph(), registry=registry).tensors["y"].shape)]
    registry.add(toy(2))
    sizes.append(str(infer_shapes(graph(), registry=registry).tensors["y"].shape))
    assert sizes == ["[n + 1, 4]", "[n + 2, 4]"]


def test_the_element_type_is_that_of_the_first_input_of_its_variable_for_any_number_of_inputs() -> None:
    def rule(c: InferenceContext, index: Shape, *xs: Shape) -> Shape:
        return index

    inputs = (ArgDef("index", type="int64"), ArgDef("xs", type_attr="T", variadic=True))
    op_def = OpDef("Pick", "toy", inputs=inputs, outputs=(ArgDef("y", type_attr="T"),), rule=Rule.from_function(rule))
    call, store = Call(op_def, {}), ShapeStore()
    index, unknown, known = (PartialTensor(dtype, Shape((2,)), None) for dtype in ("int64", None, "float16"))
    cases = [(index,), (index, known), (index, unknown, unknown, known), (index, unknown), (index, unknown, known)]
    dtypes = [call.run(case, store, "node").types[0].dtype for case in cases]
    assert dtypes == [None, "float16", "float16", None, "float16"]
