"""TensorFlow's `OpDefBuilder`: OpDefs from short texts such as `"x: T"` and `"T: {float, int32} = DT_FLOAT"`.

The grammar (`tensorflow/core/framework/op_def_builder.cc`):

    attr         := NAME ":" TYPE [">=" INT] ["=" DEFAULT]
    TYPE         := base | "list(" base ")";  base := a kind | a set of types | "{" item ("," item)* [","] "}"
    input/output := NAME ":" ["Ref("] X ["*" X] [")"]
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from opdefs.tf.context import TensorFlowContext
from shapeinf.errors import OpDefError
from shapeinf.lattice.dtypes import FROM_TF_NAMES
from shapeinf.ops import ArgDef, AttrDef, OpDef, Rule

_REAL = (
    "float",
    "double",
    "int32",
    "uint8",
    "int16",
    "int8",
    "int64",
    "half",
    "uint16",
    "uint32",
    "uint64",
    "bfloat16",
)
_QUANTIZED = ("qint8", "quint8", "qint32")
TYPE_SETS: dict[str, tuple[str, ...]] = {
    "numbertype": (*_REAL, "complex64", "complex128", *_QUANTIZED),
    "quantizedtype": (*_QUANTIZED, "qint16", "quint16"),
    "realnumbertype": _REAL,
}
TYPE_SETS["numerictype"] = TYPE_SETS["numbertype"]
TYPE_SETS["realnumerictype"] = TYPE_SETS["realnumbertype"]
_KINDS = ("string", "int", "float", "bool", "type", "shape", "tensor", "func")
_DTYPES = FROM_TF_NAMES.keys() | {"float16", "float32", "float64"}

_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*:\s*")
_ARG_NAME = re.compile(r"\s*([a-z][a-z0-9_]*)\s*:\s*")
_IDENTIFIER = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_ITEM = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[A-Za-z0-9_]+)\s*")
_MINIMUM = re.compile(r"\s*>=\s*(-?\d+)?\s*")


class _Spec(NamedTuple):
    """A parsed type: kind, whether it is a list, and the allowed values."""

    kind: str
    is_list: bool
    allowed: tuple[object, ...] | None


class OpDefBuilder:
    """Collects the texts of one operator; `build` parses them and reports all errors together.

    >>> op = OpDefBuilder("Pack").input("values: N * T").output("output: T")
    >>> op = op.attr("N: int >= 1").attr("T: type").attr("axis: int = 0").build()
    >>> op.inputs[0].number_attr, op.attributes["axis"].default
    ('N', 0)
    """

    def __init__(self, name: str) -> None:
        """An operator without inputs, outputs and attributes."""
        self.name = name
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._attrs: list[str] = []
        self._stateful = False
        self._shape_fns: list[object] = []
        self._errors: list[str] = []

    def input(self, spec: str) -> OpDefBuilder:
        """Add an input: `"x: T"`, `"values: N * T"`, `"ref: Ref(float)"`."""
        self._inputs.append(spec)
        return self

    def output(self, spec: str) -> OpDefBuilder:
        """Add an output, in the form of inputs."""
        self._outputs.append(spec)
        return self

    def attr(self, spec: str) -> OpDefBuilder:
        """Add an attribute: `"T: {float, int32} = DT_FLOAT"`, `"N: int >= 1"`, `"names: list(string) = []"`."""
        self._attrs.append(spec)
        return self

    def stateful(self) -> OpDefBuilder:
        """Mark the operator as stateful: equal calls may have different results."""
        self._stateful = True
        return self

    def shape_fn(self, function: object) -> OpDefBuilder:
        """Set the rule, a function of the context."""
        self._shape_fns.append(function)
        return self

    def build(self) -> OpDef:
        """The OpDef. Raises OpDefError with a line for each invalid text."""
        self._errors = []
        attributes: dict[str, AttrDef] = {}
        for spec in self._attrs:  # before inputs and outputs: their texts may refer to any attribute
            attribute = self._parse("Attr", spec, lambda text: _attribute(text))
            if attribute is not None:
                attributes[attribute.name] = attribute
        inputs = self._arguments("Input", self._inputs, attributes)
        outputs = self._arguments("Output", self._outputs, attributes)
        if len(self._shape_fns) > 1:
            self._errors.append(f"SetShapeFn called twice for Op {self.name}")
        if self._errors:
            raise OpDefError("\n".join(self._errors))
        rule = self._rule()
        stateful = self._stateful or any(a.type == "resource" for a in (*inputs, *outputs))
        return OpDef(
            self.name,
            "tf",
            inputs=inputs,
            outputs=outputs,
            attributes=attributes,
            stateful=stateful,
            rule=rule,
            context=TensorFlowContext,
        )

    def _rule(self) -> Rule | None:
        function = self._shape_fns[0] if self._shape_fns else None
        return Rule.from_function(function) if callable(function) else None

    def _arguments(self, role: str, specs: list[str], attributes: dict[str, AttrDef]) -> tuple[ArgDef, ...]:
        args = (self._parse(role, spec, lambda text: _argument(text, attributes)) for spec in specs)
        return tuple(arg for arg in args if arg is not None)

    def _parse(self, role: str, spec: str, parse: Any) -> Any:
        try:
            return parse(spec)
        except OpDefError as error:
            self._errors.append(f'{error} from {role}("{spec}") for Op {self.name}')
            return None


def canonical_dtype(name: str) -> str:
    """The canonical name of TensorFlow's type name: `float` and `DT_FLOAT` are float32."""
    plain = name.removeprefix("DT_").lower() if name.startswith("DT_") else name
    return FROM_TF_NAMES.get(plain, plain)


def _attribute(text: str) -> AttrDef:
    match = _NAME.match(text)
    if match is None:
        raise OpDefError("Trouble parsing '<name>:'")
    name, rest = match[1], text[match.end() :]
    spec, rest = _type(rest)
    minimum, rest = _minimum(rest, spec)
    kind = f"list({spec.kind})" if spec.is_list else spec.kind
    if not rest.strip():
        return AttrDef(name, kind, minimum=minimum, allowed=spec.allowed)
    if not rest.lstrip().startswith("="):
        raise OpDefError(f"Extra '{rest.strip()}' unparsed at the end")
    default = _default(rest.lstrip()[1:].strip(), spec)
    return AttrDef(name, kind, default, True, minimum, spec.allowed)


def _type(text: str) -> tuple[_Spec, str]:
    listed = re.match(r"\s*list\(\s*", text)
    base, rest = _base(text[listed.end() :] if listed else text)
    if not listed:
        return base, rest
    if not rest.lstrip().startswith(")"):
        raise OpDefError(f"Expected ) to close 'list(', not: '{rest.strip()}'")
    return base._replace(is_list=True), rest.lstrip()[1:]


def _base(text: str) -> tuple[_Spec, str]:
    stripped = text.lstrip()
    if stripped.startswith("{"):
        return _choices(stripped[1:])
    match = _IDENTIFIER.match(text)
    if match is None:
        raise OpDefError(f"Trouble parsing type string at '{text.strip()}'")
    word, rest = match[1], text[match.end() :]
    if word in TYPE_SETS:
        return _Spec("type", False, tuple(map(canonical_dtype, TYPE_SETS[word]))), rest
    if word in _KINDS:
        return _Spec(word, False, None), rest
    raise OpDefError(f"Unrecognized type string '{text.strip()}'")


def _choices(text: str) -> tuple[_Spec, str]:
    """The items of `{...}`: quoted strings, or types and sets of types."""
    items: list[str] = []
    quoted = text.lstrip()[:1] in ("'", '"')
    while True:
        match = _ITEM.match(text)
        if match is None:
            raise OpDefError(f"Trouble parsing type string at '{text.strip()}'")
        items += _item(match[1], quoted)
        text = text[match.end() :]
        if text.startswith(","):
            text = text[1:].lstrip()
            if not text.startswith("}"):
                continue
        if not text.startswith("}"):
            raise OpDefError(f"Expected , or }} after types in list, not: '{text.strip()}'")
        return _Spec("string" if quoted else "type", False, tuple(items)), text[1:]


def _item(word: str, quoted: bool) -> list[str]:
    if quoted:
        if word[0] not in "'\"":
            raise OpDefError(f"Trouble parsing allowed string at '{word}'")
        return [str(ast.literal_eval(word))]
    if word in TYPE_SETS:
        return [canonical_dtype(t) for t in TYPE_SETS[word]]
    if word not in _DTYPES:
        raise OpDefError(f"Unrecognized type string '{word}'")
    return [canonical_dtype(word)]


def _minimum(text: str, spec: _Spec) -> tuple[int | None, str]:
    match = _MINIMUM.match(text)
    if match is None:
        return None, text
    if match[1] is None:
        rest = text[match.end() :].strip()
        raise OpDefError(f"Could not parse integer lower limit after '>=', found '{rest}' instead")
    if spec.kind != "int" and not spec.is_list:
        raise OpDefError(f"Extra '{text.strip()}' unparsed at the end")
    return int(match[1]), text[match.end() :]


def _default(text: str, spec: _Spec) -> object:
    """A default of text protobufs: numbers, true, strings, DT_FLOAT, `{ dim { size: 1 } }`, lists in brackets."""
    try:
        return _list(text, spec.kind) if spec.is_list else _single(text, spec.kind)
    except (ValueError, SyntaxError):
        raise OpDefError(f"Could not parse default value '{text}'") from None


def _list(text: str, kind: str) -> tuple[object, ...]:
    if not (text.startswith("[") and text.endswith("]")):
        raise ValueError(text)
    inner = text[1:-1].strip()
    return tuple(_single(piece.strip(), kind) for piece in _split(inner)) if inner else ()


def _split(text: str) -> list[str]:
    """The parts of a text between commas outside of quotes and braces."""
    return [
        m.strip()
        for m in re.findall(r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^,])+", text)
    ]


def _single(text: str, kind: str) -> object:
    if kind == "string":
        value = ast.literal_eval(text)
        if not isinstance(value, str):
            raise ValueError(text)
        return value
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _reject(text)
    if kind == "type":
        plain = text.removeprefix("DT_").lower()
        return canonical_dtype(plain) if plain in _DTYPES else _reject(text)
    if kind == "shape":
        return _shape(text)
    return text


def _reject(text: str) -> object:
    raise ValueError(text)


def _shape(text: str) -> tuple[int, ...] | None:
    """`{ unknown_rank: true }` is None, `{ dim { size: 2 } dim { size: -1 } }` is (2, -1)."""
    if re.fullmatch(r"\{\s*unknown_rank:\s*true\s*\}", text):
        return None
    if not re.fullmatch(r"\{(\s*dim\s*\{\s*size:\s*-?\d+\s*\})*\s*\}", text):
        raise ValueError(text)
    return tuple(int(size) for size in re.findall(r"size:\s*(-?\d+)", text))


def _argument(text: str, attributes: dict[str, AttrDef]) -> ArgDef:
    match = _ARG_NAME.match(text)
    if match is None:
        raise OpDefError("Trouble parsing 'name:'")
    name, rest = match[1], text[match.end() :].strip()
    is_ref = rest.startswith("Ref(")
    if is_ref:
        if not rest.endswith(")"):
            raise OpDefError("Did not find closing ')' for 'Ref('")
        rest = rest[4:-1].strip()
    number, times, word = rest.rpartition("*")
    arg = ArgDef(name, is_ref=is_ref, number_attr=_number(number.strip(), attributes) if times else None)
    word = word.strip()
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", word):
        raise OpDefError(
            f"Extra '{word}' unparsed at the end" if word else "Trouble parsing either a type or an attr name at ''"
        )
    if word in _DTYPES:
        return arg._replace(type=canonical_dtype(word))
    return _set_type(arg, word, attributes)


def _require_attribute(name: str, attributes: dict[str, AttrDef]) -> AttrDef:
    if name not in attributes:
        raise OpDefError(f"Reference to unknown attr '{name}'")
    return attributes[name]


def _number(name: str, attributes: dict[str, AttrDef]) -> str:
    attribute = _require_attribute(name, attributes)
    if attribute.minimum is None:
        attributes[name] = attribute._replace(minimum=1)
    return name


def _set_type(arg: ArgDef, name: str, attributes: dict[str, AttrDef]) -> ArgDef:
    attribute = _require_attribute(name, attributes)
    if attribute.type == "type":
        return arg._replace(type_attr=name)
    if attribute.type == "list(type)":
        if attribute.minimum is None:
            attributes[name] = attribute._replace(minimum=1)
        return arg._replace(type_list_attr=name)
    raise OpDefError(f"Reference to attr '{name}' with type {attribute.type} that isn't type or list(type)")
