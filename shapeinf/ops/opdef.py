"""`OpDef`: the name, inputs, outputs and attributes of an operator, and its properties besides shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import attrs

if TYPE_CHECKING:
    from shapeinf.graph import Graph
    from shapeinf.lattice import Type
    from shapeinf.ops.bodies import Body
    from shapeinf.ops.context import InferenceContext
    from shapeinf.ops.rule import Rule


LoopRule = Callable[["InferenceContext", "Body", "Body", "Sequence[Type]"], "Sequence[Type]"]
"""The values behind a loop, of its condition and its trip as bodies, and the values that enter the first trip."""

Expansion = Callable[[Mapping[str, object], "Sequence[Type | None]", int], "Graph | None"]


class ArgDef(NamedTuple):
    """One argument of an operator: an input or output, or a list of them.

    Its element type is `type` (fixed), or that of `type_attr` (a type variable, or an attribute), or those that the
    attribute `type_list_attr` lists, one for each value; or each value has a type of its own in the set `each_of`. It
    stands for as many values as the attribute `number_attr` states (TensorFlow), or if `variadic` for any number from
    `least` on (ONNX). `kind` is "tensor", "sequence", "optional" or "map".
    """

    name: str
    type: str | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    each_of: str | None = None
    number_attr: str | None = None
    is_ref: bool = False
    optional: bool = False
    variadic: bool = False
    kind: str = "tensor"
    least: int = 0

    @property
    def repeated(self) -> bool:
        """Whether an attribute states the number of its values."""
        return self.number_attr is not None or self.type_list_attr is not None


def flat_args(args: Sequence[ArgDef], attributes: Mapping[str, object], limit: int) -> list[ArgDef]:
    """One argument for each value, at most `limit`: `N * T` is N times `T`, a list of types one argument for each type.

    An argument whose number no attribute states becomes variadic.

    >>> values, axis = ArgDef("values", type_attr="T", number_attr="N"), ArgDef("axis", type="int32")
    >>> [arg.name for arg in flat_args([values, axis], {"N": 2}, 9)]
    ['values', 'values', 'axis']
    """
    flat: list[ArgDef] = []
    for arg in args:
        count, types = attributes.get(arg.number_attr or ""), attributes.get(arg.type_list_attr or "")
        if arg.type_list_attr is not None and isinstance(types, tuple):
            single = arg._replace(type_list_attr=None)
            flat += [single._replace(type=t if isinstance(t, str) else None) for t in types[: limit - len(flat)]]
        elif arg.number_attr is not None and isinstance(count, int):
            flat += [arg._replace(number_attr=None)] * min(count, limit - len(flat))
        else:
            flat.append(arg._replace(variadic=True) if arg.repeated else arg)
        if len(flat) >= limit:
            break
    return flat


class AttrDef(NamedTuple):
    """One attribute: its type, default (None for none) and allowed values."""

    name: str
    type: str
    default: object = None
    has_default: bool = False
    minimum: int | None = None
    allowed: tuple[object, ...] | None = None
    required: bool = False


@attrs.frozen(eq=False)
class OpDef:
    """An operator of one dialect and domain, from version `since` on; `rule` is its shape function.

    Args:
        name: the operator.
        dialect: its dialect.
        domain: its domain.
        since: the first version of its domain with this definition.
        inputs: its inputs.
        outputs: its outputs.
        attributes: its attributes by name.
        type_sets: by type variable, or by `each_of` of an argument, the types that it may be: `float32`,
            `sequence(float32)`.
        stateful: equal calls may have different results.
        deprecated: the definition is deprecated.
        deprecation: the first version of graphs that may not use the operator, and what to use instead.
        rule: its shape function.
        expand: defines the operator by others: `expand(attributes, inputs, outputs)` returns an equivalent graph for
            these types of inputs and this number of outputs, or None.
        views: by position of an output, the input of which it is a view: the same elements in the same order.
        in_place: the inputs whose buffer the first output may overwrite: an element of it reads only the element at its
            own position of that input.
        stored: the outputs are part of the model, as weights are, and take no memory at run time: tensors, or handles
            of variables with their values. If the operator has inputs, each output is the variable of its input.
        labels: by attribute, the name of its body in the names of tensors; the index follows where it lists bodies.
        calls: the attribute with the function that the operator calls with its inputs, to return the outputs.
        conditions: for control flow of single nodes, how many more conditions must hold for the readers of a node to
            run than for the node itself; negative for a join.
        selector: the position of the bool that selects the output with a value: 1 where it is true, 0 where it is not.
        loop: for joins at the top of a loop, the rule of the loop: the values behind it.
        back_edge: the outputs are read in the next iteration. A join that reads one is at the top of a loop, and ends
            no condition.
        complete: the definition has all that runtimes require of a node, which is checked against it (see
            `conformance`).
        any_attribute: runtimes accept attributes that the definition lacks.
        by_name: there is no list of all attributes, and one that resembles an attribute of the rule that the node lacks
            is a typing error.
        container: the operator only packs its inputs into a sequence, or unpacks one into its items; nothing is copied.
        context: what its shape function gets, where the dialect extends `InferenceContext`.
    """

    name: str
    dialect: str = ""
    domain: str = ""
    since: int = 1
    inputs: tuple[ArgDef, ...] = ()
    outputs: tuple[ArgDef, ...] = ()
    attributes: Mapping[str, AttrDef] = attrs.Factory(dict)
    type_sets: Mapping[str, tuple[str, ...]] = attrs.Factory(dict)
    stateful: bool = False
    deprecated: bool = False
    deprecation: tuple[int, str] | None = None
    rule: Rule | None = None
    expand: Expansion | None = None
    views: Mapping[int, int] = attrs.Factory(dict)
    in_place: tuple[int, ...] = ()
    stored: bool = False
    labels: Mapping[str, str] = attrs.Factory(dict)
    calls: str = ""
    conditions: int = 0
    selector: int | None = None
    loop: LoopRule | None = None
    back_edge: bool = False
    complete: bool = False
    any_attribute: bool = False
    by_name: bool = False
    container: Literal["", "pack", "unpack"] = ""
    context: type[InferenceContext] | None = None

    def flatten(self, attributes: Mapping[str, object], inputs: int, outputs: int) -> OpDef:
        """The operator with one argument for each value of a node, whose attributes and numbers of values these are."""
        if not any(arg.repeated for arg in (*self.inputs, *self.outputs)):
            return self
        defaults = {name: attribute.default for name, attribute in self.attributes.items() if attribute.has_default}
        values = {**defaults, **attributes}
        flat = flat_args(self.inputs, values, inputs), flat_args(self.outputs, values, outputs)
        return attrs.evolve(self, inputs=tuple(flat[0]), outputs=tuple(flat[1]))

    def label(self, body: str) -> str:
        """The label of a body, empty where it has none.

        >>> OpDef("Case", labels={"branches": "branch"}).label("branches[2]")
        'branch2'
        """
        attribute, _, index = body.removesuffix("]").partition("[")
        label = self.labels.get(attribute, "")
        return f"{label}{index}" if label else ""

    def output(self, index: int) -> ArgDef | None:
        """The definition of an output by position; a variadic one covers all that follow."""
        if index < len(self.outputs):
            return self.outputs[index]
        return self.outputs[-1] if self.outputs and self.outputs[-1].variadic else None

    def input(self, index: int) -> ArgDef | None:
        """The definition of an input by position; a variadic one covers all that follow."""
        if index < len(self.inputs):
            return self.inputs[index]
        return self.inputs[-1] if self.inputs and self.inputs[-1].variadic else None
