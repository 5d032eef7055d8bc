"""`Call`: an operator with its attributes, called with the types of inputs.

A call checks the attributes, passes the rule what its signature requests, fills in element types, and turns NotKnown
into unknown outputs.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

from shapeinf.errors import NotKnown, ShapeError
from shapeinf.graph import DeclaredType, FunctionReference, Graph
from shapeinf.lattice import (
    OptionalType,
    PartialTensor,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    Type,
)
from shapeinf.lattice.dtypes import KINDS
from shapeinf.lattice.truths import Truth
from shapeinf.ops.arguments import ArgumentReader, InputUse
from shapeinf.ops.bodies import Body
from shapeinf.ops.context import InferenceContext, SizeTerms
from shapeinf.ops.element_types import ElementTypes
from shapeinf.ops.opdef import ArgDef, OpDef
from shapeinf.ops.rule import Rule
from shapeinf.texts import MISSPELT, nearest_names

MAX_VALUES = 1 << 16
"""The most values that one argument of an operator may stand for; a file with more is damaged or hostile."""


class Outcome:
    """The output types of one call.

    `unknown` is the reason why they are unknown, else None. `fresh`: the call created unknowns, which have the name of
    its node, so that no other node may reuse the outcome. The types depend neither on `warnings`, of a node that fails
    when it runs, nor on `violations`, for which a runtime does not load the model.
    """

    __slots__ = ("fresh", "types", "unknown", "violations", "warnings")

    def __init__(
        self,
        types: Sequence[Type],
        unknown: str | None,
        fresh: bool,
        warnings: tuple[ShapeError, ...] = (),
        violations: tuple[ShapeError, ...] = (),
    ) -> None:
        """Without warnings and violations by default."""
        self.types = types
        self.unknown = unknown
        self.fresh = fresh
        self.warnings = warnings
        self.violations = violations


class Contents(enum.Enum):
    """The inputs whose contents a call depends on: none, any, or all operands if each of them has contents."""

    NONE = enum.auto()
    ANY = enum.auto()
    TOGETHER = enum.auto()


class Call:
    """An operator with its attributes, ready for inputs; built once for all equal nodes.

    All that does not depend on the inputs is computed here: a run takes a few microseconds.
    """

    def __init__(
        self,
        op_def: OpDef,
        attributes: Mapping[str, object],
        version: int = 0,
        wanted: tuple[bool, ...] = (True,),
        written: Mapping[str, object] | None = None,
    ) -> None:
        """`op_def` must have a rule.

        `wanted`: for each output that a node lists, whether it has a name. `written`: the attributes as the file has
        them, where the contents of inputs were inserted.
        """
        assert op_def.rule is not None
        self.op_def = op_def
        self.rule = op_def.rule
        self._function = op_def.rule.function
        self._raw = op_def.rule.raw
        self._arguments = ArgumentReader(op_def.rule.params)
        self._context = op_def.context
        self.attributes = attributes
        self.version = version
        self.wanted = wanted
        self.outputs = len(wanted)
        self.contents = _read_contents(op_def)
        self._least = sum(arg.least for arg in op_def.inputs if arg.variadic)
        self._count = _input_count(op_def, attributes)
        self._counted = self._least > 0 or self._count is not None
        """Whether the number of inputs is checked here; rules with parameters check it themselves."""
        self._keywords: dict[str, object] | None = None
        self._constant: Outcome | None = None
        self._element_types = ElementTypes(op_def, attributes, self.outputs)
        self._containers = _containers(op_def, self.outputs)
        self._literals = attributes
        self._written = written
        if written is not None:
            self._literals = {name: value for name, value in attributes.items() if written.get(name) == value}

    def reads(self, position: int) -> bool:
        """Whether the rule reads more of an input than its shape."""
        return self.rule.input_use(position) is not InputUse.SHAPE

    def operands(self, inputs: Sequence[Type | None]) -> tuple[Mapping[str, object], Sequence[int]]:
        """The attributes for inputs of these types, and the positions of the inputs that the rule reads.

        Raises NotKnown where an attribute is the contents of an input that are unknown.
        """
        return self.attributes, range(len(inputs))

    def run(
        self,
        inputs: Sequence[Type | None],
        store: ShapeStore,
        node_name: str,
        bodies: Mapping[str, Body] | None = None,
        size_terms: SizeTerms | None = None,
        conditions: Sequence[Truth] = (),
    ) -> Outcome:
        """Run the rule for a node. It adds the parameters of sizes to `size_terms`.

        `conditions`: for a join of branches what holds where each input has a value; empty for other nodes.

        Raises ShapeError where the inputs violate a requirement of the operator. NotKnown of the rule becomes unknown
        outputs.
        """
        if not inputs and self._constant is not None:
            return self._constant
        if self._counted:
            self._check_count(len(inputs))
        # Named here, the class is called directly by compiled code.
        c = (
            InferenceContext(self.op_def, inputs, self.attributes, store, node_name, self.version, self.outputs)
            if self._context is None
            else self._context(self.op_def, inputs, self.attributes, store, node_name, self.version, self.outputs)
        )
        c.wanted = self.wanted
        if self._written is not None:
            c.written = self._written
        if bodies is not None:
            c.bodies = bodies
        if size_terms is not None:
            c.size_terms = size_terms
        if conditions:
            c.conditions = conditions
        try:
            result = self._run_rule(c, inputs)
        except NotKnown as unknown:
            return Outcome(self._unknown_types(unknown, inputs), unknown.reason, True, c.warnings, c.violations)
        except ShapeError as error:
            error.outputs = c.outputs_of_error
            raise
        if self.outputs == 1 and not isinstance(result, tuple):
            outcome = Outcome((self.fill_type(result, 0, inputs),), None, c.created_unknowns, c.warnings, c.violations)
            if not inputs and not c.created_unknowns:
                self._constant = outcome
            return outcome
        results = result if isinstance(result, tuple) else (result,)
        types = [self.fill_type(results[i] if i < len(results) else None, i, inputs) for i in range(self.outputs)]
        return Outcome(types, None, c.created_unknowns, c.warnings, c.violations)

    def _run_rule(self, c: InferenceContext, inputs: Sequence[Type | None]) -> object:
        """The outputs that the rule returns or, if it is raw, sets."""
        keywords = self._read_keywords() if self._keywords is None else self._keywords
        if self._raw:
            return self._run_raw(c)
        arguments = self._arguments.read(inputs)
        if keywords:
            return self._function(c, *arguments, **keywords)
        if len(arguments) == 1:  # compiled code makes a list and a tuple for `*arguments`
            return self._function(c, arguments[0])
        if len(arguments) == 2:
            return self._function(c, arguments[0], arguments[1])
        return self._function(c, *arguments)

    def _read_keywords(self) -> dict[str, object]:
        """The keyword arguments of the rule."""
        for name, defined in self.op_def.attributes.items() if self.op_def.complete else ():
            if defined.required and name not in self.attributes:
                raise ShapeError(f"the required attribute {name!r} is missing", code="S103")
        if self.op_def.by_name:
            _check_spelling(self.rule, self.attributes)
        _check_attributes(self.op_def, self._literals)
        keywords = self._keywords = self.rule.keywords(self.attributes)
        return keywords

    def _run_raw(self, c: InferenceContext) -> object:
        """The outputs of a raw rule: those that it sets, else those that it returns."""
        returned = self._function(c)
        outputs = c.collect_outputs()
        return returned if outputs is None else tuple(outputs[: self.outputs])

    def _check_count(self, count: int) -> None:
        """Raise ShapeError for a wrong number of inputs."""
        if count < self._least:
            least = f"{self._least} input{'s' * (self._least != 1)}"
            raise ShapeError(f"takes at least {least}, got {count}", code="S103")
        if self._count is not None and count != self._count:
            raise ShapeError(f"takes {self._count} inputs by its attributes, got {count}", code="S103")

    def _unknown_types(self, error: NotKnown, inputs: Sequence[Type | None]) -> list[Type]:
        """The output types after NotKnown."""
        if error.shape is not None:
            return [self.fill_type(error.shape, 0, inputs)]
        return unknown_outputs(self.op_def, self.attributes, self.outputs, inputs, error.dtype)

    def fill_type(self, result: object, index: int, inputs: Sequence[Type | None]) -> Type:
        """The type of an output from what a rule returned for it: a Shape, a type, or None for an unknown shape.

        An element type that the rule does not state is that of the operator's definition.
        """
        if result is None:
            result = Shape.unknown()
        if isinstance(result, Shape):
            _check_sizes(result)
            tensor = PartialTensor(self._element_types.output(index, inputs), result, None)
            container = self._containers[index]
            return tensor if container is None else container(tensor)
        if isinstance(result, TensorType):
            _check_sizes(result.shape)
            if result.dtype is not None:
                return result
            return result.with_type(self._element_types.output(index, inputs), result.shape)
        if isinstance(result, SequenceType):
            return result
        raise TypeError(f"a rule returned {result!r}; it must return Shapes or types")


_ATTRIBUTE_TYPES: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": (int, float),
    "string": str,
    "ints": tuple,
    "floats": tuple,
    "strings": tuple,
    "tensor": TensorType,
    "graph": Graph,
    "graphs": tuple,
    "type_proto": DeclaredType,
    "bool": bool,
    "list": tuple,
    "type": str,
    "shape": DeclaredType,
    "func": FunctionReference,
    "list(int)": tuple,
    "list(float)": tuple,
    "list(string)": tuple,
    "list(bool)": tuple,
    "list(type)": tuple,
    "list(shape)": tuple,
    "list(func)": tuple,
}
_MEMBER_TYPES: dict[str, type | tuple[type, ...]] = {
    "ints": int,
    "floats": (int, float),
    "strings": str,
    "graphs": Graph,
    "list(int)": int,
    "list(float)": (int, float),
    "list(string)": str,
    "list(bool)": bool,
    "list(type)": str,
    "list(shape)": DeclaredType,
    "list(func)": FunctionReference,
}


def _check_spelling(rule: Rule, attributes: Mapping[str, object]) -> None:
    """Raise ShapeError for an attribute that resembles one that the rule reads and the node lacks."""
    absent = [name for name in rule.attribute_names if name not in attributes]
    for name in attributes if absent else ():
        if name not in rule.attribute_names:
            near = nearest_names(name, absent, MISSPELT)
            if near:
                raise ShapeError(f"has no attribute {name!r}", code="S109", help=f"did you mean {near[0]!r}?")


def _check_attributes(op_def: OpDef, attributes: Mapping[str, object]) -> None:
    """Raise ShapeError for an attribute that is not of the kind in its definition, or else in the rule.

    An element type must be one of `DTYPES`, or None: it is not known. Attributes that are contents of inputs are not
    checked here: the rule reads them.
    """
    kinds = {} if op_def.rule is None else op_def.rule.kinds
    for name, value in attributes.items():
        defined = op_def.attributes.get(name)
        kind = kinds.get(name) if defined is None or defined.type not in _ATTRIBUTE_TYPES else defined.type
        if kind is None or (value is None and kind == "type"):
            continue
        fits = isinstance(value, _ATTRIBUTE_TYPES[kind])
        if fits and isinstance(value, tuple) and kind in _MEMBER_TYPES:
            fits = all(issubclass(member_type, _MEMBER_TYPES[kind]) for member_type in set(map(type, value)))
        if fits and kind in ("type", "list(type)"):
            types = {value} if isinstance(value, str) else set(value)  # type: ignore[call-overload]
            fits = KINDS.keys() >= types - {None}
        if not fits:
            message = f"the attribute {name!r} must be of the kind {kind}"
            raise ShapeError(message, code="S103", operands=(str(value),))
    for arg in (*op_def.inputs, *op_def.outputs):
        defined = op_def.attributes.get(arg.number_attr or "")
        count, least = attributes.get(arg.number_attr or ""), min(1, (defined and defined.minimum) or 0)
        if isinstance(count, int) and not least <= count <= MAX_VALUES:
            message = f"the attribute {arg.number_attr!r} must lie in {least}..{MAX_VALUES}: it is a number of values"
            raise ShapeError(message, code="S103", operands=(str(count),))


def _input_count(op_def: OpDef, attributes: Mapping[str, object]) -> int | None:
    """The number of inputs, where attributes decide it or the rule is raw; None where it is not checked here.

    A rule with parameters checks a number that does not depend on attributes itself.
    """
    raw = op_def.rule is not None and op_def.rule.raw
    if not op_def.inputs or any(arg.optional or arg.variadic for arg in op_def.inputs):
        return None
    if not raw and not any(arg.repeated for arg in op_def.inputs):
        return None
    counts = [_value_count(arg, attributes) for arg in op_def.inputs]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _value_count(arg: ArgDef, attributes: Mapping[str, object]) -> int | None:
    """The number of values of one argument; None where no attribute states it."""
    stated = attributes.get(arg.number_attr or arg.type_list_attr or "") if arg.repeated else 1
    return len(stated) if isinstance(stated, tuple) else stated if isinstance(stated, int) else None


def _check_sizes(shape: Shape) -> None:
    for d in shape.dims or ():
        if d.__class__ is int and d >> 63:  # negative, or past INT64_MAX
            raise ShapeError("a size must lie in 0..2**63 - 1", code="S105", operands=(str(shape),))


_KINDS: dict[str, type[SequenceType]] = {"sequence": SequenceType, "optional": OptionalType}


def _containers(op_def: OpDef, outputs: int) -> list[type[SequenceType] | None]:
    """For each output the class of the sequence or optional that it is; None for a tensor."""
    args = [op_def.output(i) for i in range(outputs)]
    return [None if arg is None else _KINDS.get(arg.kind) for arg in args]


def unknown_outputs(
    op_def: OpDef, attributes: Mapping[str, object], count: int, inputs: Sequence[Type | None], dtype: str | None = None
) -> list[Type]:
    """Outputs of unknown shape, with the kinds and element types of the operator's definition; `dtype` precedes it."""
    dtypes = ElementTypes(op_def, attributes, count)
    tensors = [PartialTensor(dtype or dtypes.output(i, inputs), Shape.unknown(), None) for i in range(count)]
    containers = _containers(op_def, count)
    return [t if container is None else container(t) for t, container in zip(tensors, containers, strict=True)]


def _read_contents(op_def: OpDef) -> Contents:
    rule = op_def.rule
    assert rule is not None
    uses = {p.use for p in rule.params}
    if rule.raw or InputUse.VALUE in uses or InputUse.TYPE in uses:
        return Contents.ANY
    return Contents.TOGETHER if InputUse.OPERAND in uses else Contents.NONE
