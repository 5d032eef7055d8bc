"""What runtimes check of a node when they load a model: its operands and attributes against the operator's definition.

A violation is a `ShapeError` with one of the codes

- S103: inputs, outputs or required attributes are missing, or there are too many
- S106: operands that share a type variable have different types
- S107: a type that the operator does not allow
- S108: the operator is not in the opset of the model
- S109: an attribute that the operator does not have, or of another kind or value

Where attributes state the types and the numbers of operands, as in TensorFlow, operands are checked against these.

Where another version of the operator allows what the node does, the help names it: most violations are opsets that were
changed by hand, or graphs that were converted to another element type in part.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import attrs

from shapeinf.errors import ShapeError
from shapeinf.graph import DeclaredType, FunctionReference, Graph, NodeKind
from shapeinf.lattice import TensorType
from shapeinf.lattice.dtypes import KINDS
from shapeinf.ops.opdef import ArgDef, AttrDef, OpDef
from shapeinf.texts import format_count, nearest_names

TYPES_DIFFER, TYPE_NOT_ALLOWED, NOT_IN_OPSET, BAD_ATTRIBUTE = "S106", "S107", "S108", "S109"
COUNT = "S103"
CODES = (COUNT, TYPES_DIFFER, TYPE_NOT_ALLOWED, NOT_IN_OPSET, BAD_ATTRIBUTE)
"""The codes of violations of definitions: a runtime does not load a model with one of these."""

PRIVATE = "__"
"""The prefix of attributes that tools add for themselves: each operator accepts them."""

_MAX_LISTED = 6


class Operand(NamedTuple):
    """An input or output of a node: its name (empty for an absent one) and the text of its type (None if unknown).

    `is_reference`: whether it is a reference of a variable, which nodes may assign to; None where that is not known.
    """

    name: str
    type: str | None = None
    is_reference: bool | None = None


class Use(NamedTuple):
    """A node as its operator's definition sees it.

    Args:
        kind: the operator and its attributes.
        version: the opset version of its domain.
        definitions: the definitions of all versions, the oldest first.
        inputs: its inputs.
        outputs: its outputs.
        in_file: whether the node is that of a file; those of graphs in memory may lack attributes that follow from the
            operands, which builders of files add.
    """

    kind: NodeKind
    version: int
    definitions: Sequence[OpDef]
    inputs: Sequence[Operand]
    outputs: Sequence[Operand]
    in_file: bool = True

    @property
    def definition(self) -> OpDef | None:
        """The definition in force; None where the operator is newer than the opset."""
        return next((d for d in reversed(self.definitions) if d.since <= self.version), None)


def find_schema_violations(use: Use) -> list[ShapeError]:
    """All violations of a node, one for each cause."""
    definition = use.definition
    missing = _find_missing_operator(use, definition)
    if missing is not None:
        return [missing]
    if definition is None or not definition.complete:
        return []
    if any(arg.repeated or arg.type_attr in definition.attributes for arg in (*definition.inputs, *definition.outputs)):
        return _check_stated(use, definition)
    counts = [*_check_inputs(use, definition), *_check_outputs(use, definition)]
    attributes = [*_check_attributes(use, definition)]
    if not counts:
        attributes += _check_required(use, definition)
    types = [] if counts else [*_check_types(use, definition, outputs=not attributes)]
    return [*counts, *attributes, *types] or [*_check_references(use, definition)]


def _find_missing_operator(use: Use, definition: OpDef | None) -> ShapeError | None:
    op, version = use.kind.op, use.version
    if definition is None:
        if not use.definitions:
            return None
        first = use.definitions[0].since
        message = f"{op} exists from opset {first} on, and the model imports opset {version}"
        return ShapeError(message, code=NOT_IN_OPSET, help=f"convert the model to opset {first}, or replace the node")
    if not definition.deprecated or definition is use.definitions[0]:  # runtimes have one that was never in force
        return None
    replacement = definition.deprecation[1] if definition.deprecation else ""
    message = f"{op} was removed in opset {definition.since}, and the model imports opset {version}"
    return ShapeError(message, code=NOT_IN_OPSET, help=f"use {replacement}" if replacement else None)


# -- numbers of inputs and outputs -------------------------------------------------------------------------------------


def _check_inputs(use: Use, definition: OpDef) -> Iterator[ShapeError]:
    args, inputs = definition.inputs, use.inputs
    for index, arg in enumerate(args):
        if arg.optional or arg.variadic:
            continue
        if (index >= len(inputs) or not inputs[index].name) and arg.name not in use.kind.attrs:
            help = _describe_form(use, arg.name)
            yield ShapeError(f"the required input {arg.name!r} is missing", code=COUNT, help=help)
            return
    least, most = _limits(args)
    if len(inputs) < least and not any(arg.name in use.kind.attrs for arg in args[len(inputs) :]):
        yield ShapeError(f"takes at least {format_count(least, 'input')}, got {len(inputs)}", code=COUNT)
    elif most is not None and len(inputs) > most:
        message = f"takes {format_count(most, 'input')}, got {len(inputs)}"
        yield ShapeError(message, code=COUNT, help=_find_more_inputs(use, definition))


def _limits(args: Sequence[ArgDef]) -> tuple[int, int | None]:
    """The least and the largest number of arguments; those before a variadic one must be listed."""
    least = 0
    for index, arg in enumerate(args):
        if arg.variadic:
            return max(least, index + arg.least), None
        if not arg.optional:
            least = index + 1
    return least, len(args)


def _find_more_inputs(use: Use, definition: OpDef) -> str | None:
    """The version that has as many inputs as the node."""
    for other in use.definitions:
        if other.since != definition.since and len(other.inputs) >= len(use.inputs) > len(definition.inputs):
            added = other.inputs[len(definition.inputs)].name
            form = "an attribute" if added in definition.attributes else "not an input"
            return f"in opset {use.version} {added!r} is {form}; {_when(use, other)} it is an input"
    return None


def _check_outputs(use: Use, definition: OpDef) -> Iterator[ShapeError]:
    least, most = _limits(definition.outputs)
    count = len(use.outputs)
    if most is not None and count > most:
        yield ShapeError(f"has {format_count(most, 'output')}, and the node lists {count}", code=COUNT)
    elif count < least:
        yield ShapeError(f"has at least {format_count(least, 'output')}, and the node lists {count}", code=COUNT)


# -- attributes --------------------------------------------------------------------------------------------------------

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float,),
    "string": (str,),
    "bool": (bool,),
    "type": (str,),
    "tensor": (TensorType,),
    "sparse_tensor": (TensorType,),
    "graph": (Graph,),
    "type_proto": (DeclaredType,),
    "shape": (DeclaredType,),
    "func": (FunctionReference,),
}
_LISTS = {"ints": "int", "floats": "float", "strings": "string", "graphs": "graph", "tensors": "tensor"}


def _check_attributes(use: Use, definition: OpDef) -> Iterator[ShapeError]:
    for name in use.kind.repeated:
        yield ShapeError(f"the attribute {name!r} is set twice", code=BAD_ATTRIBUTE, help="remove one of them")
    for name in use.kind.invalid:
        if name in definition.attributes:
            yield invalid_type(f"the attribute {name!r}")
    for name, value in use.kind.attrs.items():
        defined = definition.attributes.get(name)
        if defined is None:
            if not name.startswith(PRIVATE) and not definition.any_attribute:
                yield _unknown_attribute(use, definition, name)
        elif value is not None:
            yield from _check_value(use, defined, value)


def invalid_type(subject: str) -> ShapeError:
    """The violation of an attribute, or a value, whose element type no value can have."""
    return ShapeError(f"{subject} must have a valid element type that is not a reference", code=TYPE_NOT_ALLOWED)


def _unknown_attribute(use: Use, definition: OpDef, name: str) -> ShapeError:
    help = _describe_form(use, name)
    if help is None:
        near = nearest_names(name, definition.attributes)
        help = f"did you mean {near[0]!r}?" if near else None
    version = f" in opset {use.version}" if len(use.definitions) > 1 else ""
    return ShapeError(f"has no attribute {name!r}{version}", code=BAD_ATTRIBUTE, help=help)


def _check_value(use: Use, defined: AttrDef, value: object) -> Iterator[ShapeError]:
    name, kind = defined.name, defined.type
    if not _fits(kind, value):
        message = f"the attribute {name!r} must be of the kind {kind}"
        help = _find_other_kind(use, defined, value)
        yield ShapeError(message, code=BAD_ATTRIBUTE, operands=(_shorten(value),), help=help)
    elif defined.minimum is not None and _amount(value) < defined.minimum:
        least = format_count(defined.minimum, "item") if isinstance(value, tuple) else str(defined.minimum)
        message = f"the attribute {name!r} must {'have' if isinstance(value, tuple) else 'be'} at least {least}"
        yield ShapeError(message, code=BAD_ATTRIBUTE, operands=(_shorten(value),))
    elif defined.allowed is not None and any(item not in defined.allowed for item in _items(value)):
        yield _value_not_allowed(use, defined, value, defined.allowed)


def _amount(value: object) -> float:
    """A number, or the number of items of a list: what a minimum is about."""
    return len(value) if isinstance(value, tuple) else value if isinstance(value, (int, float)) else math.inf


def _value_not_allowed(use: Use, defined: AttrDef, value: object, allowed: Sequence[object]) -> ShapeError:
    name, operands = defined.name, (_shorten(value),)
    if defined.type in ("type", "list(type)"):
        message = f"the attribute {name!r} must be {_join([str(item) for item in allowed])}"
        return ShapeError(message, code=TYPE_NOT_ALLOWED, operands=operands)
    near = nearest_names(str(value), map(str, allowed))
    help = f"did you mean {near[0]!r}?" if near else None
    others = [d for d in use.definitions if name in d.attributes and value in (d.attributes[name].allowed or ())]
    if others:
        help = f"{_when(use, others[0])} it may be {value!r}"
    message = f"the attribute {name!r} must be one of {', '.join(map(repr, allowed))}"
    return ShapeError(message, code=BAD_ATTRIBUTE, operands=operands, help=help)


def _items(value: object) -> Sequence[object]:
    """The known items of a list, or the value as the only item."""
    return [item for item in value if item is not None] if isinstance(value, tuple) else [value]


def _fits(kind: str, value: object) -> bool:
    """Whether a value is of the kind of an attribute; a value of a kind that is not known fits."""
    item = _LISTS.get(kind) or (kind[5:-1] if kind.startswith("list(") else "")
    if item:
        return isinstance(value, tuple) and all(_fits(item, each) for each in _items(value))
    if kind == "type":
        return isinstance(value, str) and value in KINDS
    classes = _KINDS.get(kind)
    if classes is None:
        return True
    return isinstance(value, classes) and (kind == "bool" or not isinstance(value, bool))


def _find_other_kind(use: Use, defined: AttrDef, value: object) -> str | None:
    for other in use.definitions:
        attribute = other.attributes.get(defined.name)
        if attribute is not None and attribute.type != defined.type and _fits(attribute.type, value):
            return f"{_when(use, other)} it is of the kind {attribute.type}"
    return None


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_required(use: Use, definition: OpDef) -> Iterator[ShapeError]:
    args = () if use.in_file else (*definition.inputs, *definition.outputs)
    names = [(arg.type_attr, arg.type_list_attr, arg.number_attr) for arg in args]
    inferred = {name for group in names for name in group}
    for name, attribute in definition.attributes.items():
        if name in inferred:
            continue
        if attribute.required and name not in use.kind.attrs and name not in use.kind.references:
            optional = [d for d in use.definitions if (a := d.attributes.get(name)) and a.has_default]
            help = None
            if optional:
                default = optional[-1].attributes[name].default
                help = f"{_when(use, optional[-1])} its default is {default!r}"
            message = f"the required attribute {name!r} is missing"
            yield ShapeError(message, code=COUNT, help=help or _describe_form(use, name))


# -- forms of other versions -------------------------------------------------------------------------------------------


def _when(use: Use, other: OpDef) -> str:
    """The opsets in which a definition is in force: `from opset 13 on`, `up to opset 12`, `in opsets 7 to 8`."""
    later = [d.since for d in use.definitions if d.since > other.since]
    if other.since > use.version:
        return f"from opset {other.since} on"
    return f"up to opset {later[0] - 1}" if later else f"from opset {other.since} on"


def _describe_form(use: Use, name: str) -> str | None:
    """What an input or attribute of this name is in this version of the operator, or in the nearest other one."""
    definition = use.definition
    assert definition is not None
    with_input = [d.since for d in use.definitions if any(arg.name == name for arg in d.inputs)]
    if any(arg.name == name for arg in definition.inputs):
        attribute = any(name in d.attributes for d in use.definitions)
        return f"{name!r} is an input from opset {with_input[0]} on, and an attribute before" if attribute else None
    if name in definition.attributes:
        is_input_later = bool(with_input) and with_input[0] > use.version
        return (
            f"{name!r} is an input from opset {with_input[0]} on, and an attribute before" if is_input_later else None
        )
    having = [d for d in use.definitions if name in d.attributes]
    later = [d for d in having if d.since > use.version]
    if later:
        return f"{name!r} exists from opset {later[0].since} on"
    return f"{name!r} exists {_when(use, having[-1])}" if having else None


# -- types -------------------------------------------------------------------------------------------------------------


def _check_types(use: Use, definition: OpDef, outputs: bool = True) -> Iterator[ShapeError]:
    """Types that are not allowed, then operands of one type variable whose types differ.

    The types of outputs follow from attributes: they are checked where these are right.
    """
    sharing: dict[str, list[Operand]] = {}
    refused: set[str | None] = set()
    for index, operand in enumerate(use.inputs):
        arg = definition.input(index)
        if arg is None or not operand.name or operand.type is None or (arg.type and arg.type_attr):
            continue
        violation = _check_type(use, arg, operand, definition)
        if violation is not None:
            if arg.type_attr not in refused:
                yield violation
            refused.add(arg.type_attr or arg.name)
        elif arg.type_attr:
            sharing.setdefault(arg.type_attr, []).append(operand)
    for variable, operands in sharing.items():
        if len({operand.type for operand in operands}) > 1:
            yield _types_differ(variable, operands)
    bound = {*sharing, *refused}
    for index, operand in enumerate(use.outputs if outputs else ()):
        arg = definition.output(index)
        if arg is not None and arg.type_attr and arg.type_attr not in bound and operand.name and operand.type:
            violation = _check_type(use, arg, operand, definition, "output")
            if violation is not None:
                yield violation


def _check_type(use: Use, arg: ArgDef, operand: Operand, definition: OpDef, role: str = "input") -> ShapeError | None:
    """The violation of an operand whose type its argument does not allow."""
    allowed = _allowed(arg, definition)
    if not allowed or operand.type in allowed:
        return None
    message = f"the {role} {arg.name!r} must be {_join(allowed)}, and {operand.name!r} is {operand.type}"
    return ShapeError(message, code=TYPE_NOT_ALLOWED, help=_type_help(use, arg, operand, definition, allowed, role))


def _allowed(arg: ArgDef, definition: OpDef) -> tuple[str, ...]:
    """The texts of the types that an argument may have; none where they are not known."""
    if arg.type is not None:
        return (arg.type if arg.kind == "tensor" else f"{arg.kind}({arg.type})",)
    return definition.type_sets.get(arg.type_attr or arg.each_of or "", ())


def _check_references(use: Use, definition: OpDef) -> Iterator[ShapeError]:
    """Inputs that must be references of variables, and are values."""
    for index, operand in enumerate(use.inputs):
        arg = definition.input(index)
        if arg is not None and arg.is_ref and operand.is_reference is False:
            message = f"the input {arg.name!r} must be the reference of a variable, and {operand.name!r} is a value"
            yield ShapeError(message, code=TYPE_NOT_ALLOWED)


def _type_help(
    use: Use, arg: ArgDef, operand: Operand, definition: OpDef, allowed: Sequence[str], role: str
) -> str | None:
    position = (definition.inputs if role == "input" else definition.outputs).index(arg)
    for other in use.definitions:
        args = other.inputs if role == "input" else other.outputs
        if other.since > use.version and position < len(args) and operand.type in _allowed(args[position], other):
            return f"{operand.type} is allowed from opset {other.since} on"
    if role == "output" or operand.type is None or "(" in operand.type:
        return None
    plain = [text for text in allowed if "(" not in text]
    return f"a Cast of {operand.name!r} to {plain[0]} is missing" if len(plain) == 1 else None


def _types_differ(variable: str, operands: Sequence[Operand]) -> ShapeError:
    """The violation of operands that share a type variable."""
    counts = Counter(operand.type for operand in operands)
    texts = [f"{operand.name!r} is {operand.type}" for operand in dict.fromkeys(operands)]
    message = f"operands of one type ({variable}) have different types: {_join(texts, 'and')}"
    return ShapeError(message, code=TYPES_DIFFER, help=_missing_cast(operands, counts))


def _missing_cast(operands: Sequence[Operand], counts: Counter[str | None]) -> str | None:
    """Where a Cast is missing: at the operand whose type no other one has, or at one of several."""
    if any(text is None or "(" in text for text in counts):
        return None
    (common, most), *rest = counts.most_common()
    if most > rest[0][1]:
        odd = [operand for operand in operands if operand.type != common]
        return "; ".join(f"a Cast of {operand.name!r} to {common} is missing" for operand in dict.fromkeys(odd))
    first, second = operands[0], next(operand for operand in operands if operand.type != operands[0].type)
    return f"a Cast is missing: of {second.name!r} to {first.type}, or of {first.name!r} to {second.type}"


# -- operands whose types and numbers attributes state ----------------------------------------------------------------


def _check_stated(use: Use, definition: OpDef) -> list[ShapeError]:
    """The violations of attributes, or of the numbers and types of operands if the attributes are right."""
    violations = [*_check_attributes(use, definition), *_check_required(use, definition)]
    if violations or use.kind.references:
        return violations
    stated = definition.flatten(use.kind.attrs, len(use.inputs) + 1, len(use.outputs) + 1)
    stated = attrs.evolve(stated, inputs=tuple([_bind(arg, use, definition) for arg in stated.inputs]))
    violations = [*_check_inputs(use, stated), *_check_outputs(use, stated)]
    for violation in violations:
        violation.help = violation.help or _stated_number(use, definition)
    violations = violations or [*_check_bound_types(use, stated), *_check_types(use, stated)]
    return violations or [*_check_references(use, stated)]


def _bind(arg: ArgDef, use: Use, definition: OpDef) -> ArgDef:
    """An argument with the element type that an attribute states, or its default: in files alone."""
    attribute = definition.attributes.get(arg.type_attr or "")
    default = attribute.default if attribute is not None and use.in_file else None
    value = None if attribute is None else use.kind.attrs.get(attribute.name, default)
    return arg._replace(type=value) if isinstance(value, str) else arg


def _stated_number(use: Use, definition: OpDef) -> str | None:
    """What the attributes state of the number of inputs."""
    names = dict.fromkeys(arg.number_attr or arg.type_list_attr for arg in definition.inputs if arg.repeated)
    own = [name for name in names if name and not name.startswith(PRIVATE)]
    values = [(name, use.kind.attrs.get(name, definition.attributes[name].default)) for name in own]
    texts = [f"{n!r} {'lists ' if isinstance(v, tuple) else 'is '}{_number(v)}" for n, v in values]
    return f"the attribute {_join(texts, 'and')}" if texts else None


def _number(value: object) -> str:
    return format_count(len(value), "type") if isinstance(value, tuple) else str(value)


def _check_bound_types(use: Use, stated: OpDef) -> Iterator[ShapeError]:
    """Operands that have another type than the attribute that states it."""
    operands: dict[tuple[str, str], list[Operand]] = {}
    for index, operand in enumerate(use.inputs):
        arg = stated.input(index)
        if arg is not None and arg.type and arg.type_attr and operand.name and operand.type:
            operands.setdefault((arg.type_attr, arg.type), []).append(operand)
    for (variable, type_), bound in operands.items():
        odd = [operand for operand in dict.fromkeys(bound) if operand.type != type_]
        if odd:
            message = (
                f"the attribute {variable!r} is {type_}, and {_join([f'{o.name!r} is {o.type}' for o in odd], 'and')}"
            )
            yield ShapeError(message, code=TYPES_DIFFER, help=_bound_help(variable, type_, bound, odd))


def _bound_help(variable: str, type_: str, bound: Sequence[Operand], odd: Sequence[Operand]) -> str | None:
    """Where a Cast is missing, or which type all operands have; None for types that no Cast returns."""
    if any(KINDS.get(text or "", "handle") in ("handle", "string") for text in (type_, *(o.type for o in odd))):
        return None
    casts = "; ".join(f"a Cast of {operand.name!r} to {type_} is missing" for operand in odd)
    types = {operand.type for operand in bound}
    return casts if len(types) > 1 else f"set {variable!r} to {odd[0].type}, or {casts}"


def _join(texts: Sequence[str], word: str = "or") -> str:
    """`a, b or c`; a long list is cut."""
    if len(texts) > _MAX_LISTED + 1:
        texts = [*texts[:_MAX_LISTED], f"one of {len(texts) - _MAX_LISTED} others"]
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
