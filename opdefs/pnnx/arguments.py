"""The arguments of torch's functions, bound to the inputs and attributes of their rules.

A file passes an argument as a literal (`dim=1`), as an input by name (`$shape=4`), as a weight (`@weight`), or as an
input by position. The positional parameters of a rule are its inputs, the keyword-only parameters its attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from shapeinf.graph import Graph, InputContents, Node, NodeKind
from shapeinf.ops import InferenceContext, OpDef, Rule

WEIGHT_NAMES = "weight_names"
"""The attribute with the names of the variadic inputs of a rule, which takes any number of weights."""


def bind_arguments(graph: Graph, lookup: Callable[[str], OpDef | None]) -> Graph:
    """The graph with the inputs of each node in the order of the parameters of its rule.

    They are followed by the inputs for attributes of the rule, to which these attributes refer. An attribute that is
    None is omitted: the rule has the default.
    """
    kinds: dict[tuple[NodeKind, int], tuple[NodeKind, tuple[int | None, ...]]] = {}
    nodes = []
    for node in graph.nodes:
        key = (node.kind, len(node.inputs))
        if key not in kinds:
            op_def = lookup(node.op)
            kinds[key] = _bind(node.kind, len(node.inputs), None if op_def is None else op_def.rule)
        kind, order = kinds[key]
        nodes.append(Node(kind, tuple(["" if i is None else node.inputs[i] for i in order]), node.outputs, node.name))
    return attrs.evolve(graph, nodes=nodes)


def _bind(kind: NodeKind, count: int, rule: Rule | None) -> tuple[NodeKind, tuple[int | None, ...]]:
    """The attributes of a node in the order of inputs of its rule, and that order."""
    inputs = {name: value.input for name, value in kind.attrs.items() if isinstance(value, InputContents)}
    written = {n: value for n, value in kind.attrs.items() if n not in inputs and value is not None}
    named = {
        name.replace(".", "_"): at for name, at in inputs.items()
    }  # a weight of a submodule, such as `out_proj.bias`
    if rule is None or rule.raw:
        return NodeKind(kind.op, kind.domain, written), tuple(range(count))
    params = [p.name.removesuffix("_") for p in rule.params if not p.variadic]
    in_order = [i for i in range(count) if i not in named.values()]
    others = {name: at for name, at in named.items() if name not in params}
    rest = {name: at for name, at in others.items() if rule.variadic and name not in rule.attribute_names}
    attributes = {name: at for name, at in others.items() if name not in rest}
    if WEIGHT_NAMES in rule.attribute_names:
        written[WEIGHT_NAMES] = tuple(rest)
        order = _fill_parameters(params, named, in_order)
        order += [*[None] * (len(params) - len(order)), *rest.values(), *in_order]
    else:
        in_order = sorted([*in_order, *rest.values()])
        order = [*_fill_parameters(params, named, in_order), *in_order]
    references = {name: InputContents(len(order) + k) for k, name in enumerate(attributes)}
    return NodeKind(kind.op, kind.domain, {**written, **references}), (*order, *attributes.values())


def _fill_parameters(params: Sequence[str], named: Mapping[str, int], in_order: list[int]) -> list[int | None]:
    """For each parameter, the index of the input with its name, else of the next one without a name, or None.

    Parameters without an input at the end are omitted.
    """
    filled: list[int | None] = []
    for name in params:
        if name in named:
            filled.append(named[name])
        else:
            filled.append(in_order.pop(0) if in_order else None)
    while filled and filled[-1] is None:
        filled.pop()
    return filled


def require_known(c: InferenceContext, name: str, value: object) -> None:
    """Raise NotKnown if an argument for which None is a value is computed, and its contents are not known."""
    if value is None and name in c.written:
        raise c.unknowable(f"{name} is computed, and its contents are not known")
