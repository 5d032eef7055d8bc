"""OpDef: the name, inputs, outputs and attributes of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import attrs

if TYPE_CHECKING:
    from shapeinf.graph import Graph
    from shapeinf.lattice import Type
    from shapeinf.ops.rule import Rule


Expansion = Callable[[Mapping[str, object], "Sequence[Type | None]", int], "Graph | None"]


class ArgDef(NamedTuple):
    """One input or output.

    Its element type is one of: `type` (fixed), `type_attr` (the type variable or attribute that names it) or
    `type_list_attr` (an attribute that lists one type a value). `number_attr` repeats it N times (TensorFlow),
    `variadic` any number of times (ONNX), but not fewer than `least`. `kind` is "tensor", "sequence", "optional" or
    "map".
    """

    name: str
    type: str | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    number_attr: str | None = None
    is_ref: bool = False
    optional: bool = False
    variadic: bool = False
    kind: str = "tensor"
    least: int = 0

    @property
    def repeated(self) -> bool:
        """Whether an attribute decides how many values it stands for."""
        return self.number_attr is not None or self.type_list_attr is not None


def flat_args(args: Sequence[ArgDef], attributes: Mapping[str, object], limit: int) -> list[ArgDef]:
    """One argument for each value, at most `limit`: `N * T` is N times `T`, a list of types is one argument a type.

    An argument whose number no attribute gives stays as a variadic one.

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

    An operator without a rule may be defined by others: `expand(attributes, inputs, outputs)` returns an equivalent
    graph for these input types and this number of outputs, or None.

    `views`: the input (by position) of which an output is a view, the same elements in the same order. `in_place`: the
    inputs whose buffer the first output may overwrite, because each of its elements reads no element of that input but
    the one at its own position. `stored`: the outputs are part of the model, as weights are, and take no memory at run
    time: tensors, or the handles of variables with what they refer to. The outputs of a stored operator with inputs are
    the variables behind these, one each. `deprecation`: the first version of graphs that may not use the operator, and
    what to use instead. `labels`: the names of bodies in the names of their tensors, by attribute; a label of a list of
    bodies is followed by the index.

    `container`: the operator only packs its inputs into the sequence that is its output, or unpacks one into its items;
    nothing is copied.

    `calls` is the attribute with the function that an operator does nothing else than to call: its inputs and outputs
    are those of the function.

    Of operators that make control flow out of single nodes, `conditions` is how many more conditions have to hold for
    the readers of a node than for the node itself to run (below 0: fewer). The outputs of a `back_edge` are read in the
    next iteration; a join that reads one stands at the top of a loop, and ends no condition.
    """

    name: str
    dialect: str = ""
    domain: str = ""
    since: int = 1
    inputs: tuple[ArgDef, ...] = ()
    outputs: tuple[ArgDef, ...] = ()
    attributes: Mapping[str, AttrDef] = attrs.Factory(dict)
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
    back_edge: bool = False
    container: Literal["", "pack", "unpack"] = ""

    def flatten(self, attributes: Mapping[str, object], inputs: int, outputs: int) -> OpDef:
        """The operator with one argument a value, for attributes and the numbers of values of a node."""
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
