"""Every operator of every dialect has a cost rule, or is listed here; cost rules of other packages are used."""

import pytest

from shapeinf import infer_shapes
from shapeinf.cost.node_costs import moves_nothing
from shapeinf.errors import NotKnown
from shapeinf.graph import Graph, Node, NodeKind
from shapeinf.lattice import Shape
from shapeinf.ops import CostContext, Dialect, InferenceContext, OpCost, OpRegistry, default_registry

DIALECTS = ("onnx", "nnef", "tf", "pnnx", "torch", "tflite")

NO_RULE = {
    # dialect, domain, operator: why it has no cost rule, although it may move data
}


@pytest.mark.parametrize("name", DIALECTS)
def test_every_operator_has_a_cost_rule(name):
    dialect = default_registry().dialect(name)
    missing = {
        (name, domain, op)
        for domain, op, since in dialect
        if not domain.startswith(("com.example", "com.acme"))  # the examples of the docs, if they ran in this process
        and dialect.cost_rule(domain, op, since) is None
        and not (op_def := dialect.lookup(domain, op, since)).calls
        and not moves_nothing(op_def, len(op_def.outputs) or 1)
    }
    assert missing == NO_RULE.keys() & {key for key in NO_RULE if key[0] == name}


@pytest.mark.parametrize("name", DIALECTS)
def test_no_cost_rule_stands_for_an_unknown_operator(name):
    """A misspelt name in a table would never be used."""
    dialect = default_registry().dialect(name)
    dialect.cost_rule("", "", 1)  # imports the rules
    known = {key for key in dialect.costs() if (op_def := dialect.lookup(*key, 0)) and op_def.rule is not None}
    assert dialect.costs() - known == set()


def test_rules_that_never_count_have_a_reason():
    reasons = set()
    for name in DIALECTS:
        dialect = default_registry().dialect(name)
        dialect.cost_rule("", "", 1)
        for domain, op in dialect.costs():
            rule = dialect.cost_rule(domain, op, 0)
            if getattr(rule, "__qualname__", "").startswith("exclusion"):
                with pytest.raises(NotKnown) as error:
                    rule(None)
                reasons.add(error.value.reason)
    assert len(reasons) > 5 and all(len(reason.split()) >= 4 for reason in reasons)


def test_the_rule_of_a_package_and_its_version():
    toy = Dialect("toy")

    @toy("Twice")
    def twice(c: InferenceContext, x: Shape) -> Shape:
        return x

    @toy.cost("Twice")
    def first(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(2, *c.input(0)))

    @toy.cost("Twice", since=3)
    def third(c: CostContext) -> OpCost:
        return OpCost(operations=c.elements(c.input(0)))

    def operations(version):
        graph = Graph("g", "toy", {"": version}, ["x"], ["y"], [Node(NodeKind("Twice"), ("x",), ("y",), "n")])
        return str(infer_shapes(graph, inputs={"x": "[n]"}, registry=OpRegistry(toy)).cost().total.operations)

    assert [operations(version) for version in (1, 2, 3, 4)] == ["2*n", "2*n", "n", "n"]


def test_a_rule_that_fails_is_a_reason_and_no_crash():
    toy = Dialect("toy")

    @toy("Same")
    def same(c: InferenceContext, x: Shape) -> Shape:
        return x

    @toy.cost("Same")
    def broken(c: CostContext) -> OpCost:
        raise ValueError("by hand")

    graph = Graph("g", "toy", {"": 1}, ["x"], ["y"], [Node(NodeKind("Same"), ("x",), ("y",), "n")])
    (item,) = infer_shapes(graph, inputs={"x": "[n]"}, registry=OpRegistry(toy)).cost().uncounted
    assert item.reason == "the cost rule of this operator failed: ValueError: by hand"


def test_rules_that_cannot_be_imported_are_a_reason():
    toy = Dialect("toy", costs=["no.such.module"])

    @toy("Same")
    def same(c: InferenceContext, x: Shape) -> Shape:
        return x

    graph = Graph("g", "toy", {"": 1}, ["x"], ["y"], [Node(NodeKind("Same"), ("x",), ("y",), "n")])
    (item,) = infer_shapes(graph, inputs={"x": "[n]"}, registry=OpRegistry(toy)).cost().uncounted
    assert item.reason.startswith(
        "the operator has no cost rule; no.such.module cannot be imported: ModuleNotFoundError"
    )
