"""The OpDefs of 344 TensorFlow operators, written as builder texts and read back."""

import pytest

from opdefs.tf import OpDefBuilder
from shapeinf.errors import OpDefError
from tests.vectors import need, vectors

FILE = "tf/opdefs.json"
OPDEFS = vectors(FILE)
TF_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def type_text(name):
    return TF_NAMES.get(name, name)


def argument_text(arg):
    kind = arg["type_attr"] or arg["type_list_attr"] or type_text(arg["type"])
    times = f"{arg['number_attr']} * " if arg["number_attr"] else ""
    inner = f"{times}{kind}"
    return f"{arg['name']}: Ref({inner})" if arg["is_ref"] else f"{arg['name']}: {inner}"


def kind_text(attr):
    base = attr["type"]
    listed = base.startswith("list(")
    if "allowed" in attr:
        items = [type_text(a["type"]) if isinstance(a, dict) else f"'{a}'" for a in attr["allowed"]]
        base = "{" + ", ".join(items) + "}"
        return f"list({base})" if listed else base
    return base


def default_text(value, kind):
    if isinstance(value, list):
        return "[" + ", ".join(default_text(v, kind) for v in value) + "]"
    if isinstance(value, dict):
        ((field, inner),) = value.items()
        if field == "type":
            return "DT_" + type_text(inner).upper()
        return "{ unknown_rank: true }" if field == "shape" else str(inner)
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


def attribute_text(name, attr):
    text = f"{name}: {kind_text(attr)}"
    if "min" in attr:
        text += f" >= {attr['min']}"
    if "default" in attr:
        text += f" = {default_text(attr['default'], attr['type'])}"
    return text


def plain(value):
    """A value of the vectors as the builder's Python form."""
    if isinstance(value, list):
        return tuple(plain(v) for v in value)
    if isinstance(value, dict):
        ((_, inner),) = value.items()
        return inner
    return value


def read_back(name, data):
    builder = OpDefBuilder(name)
    for arg in data["inputs"]:
        builder.input(argument_text(arg))
    for arg in data["outputs"]:
        builder.output(argument_text(arg))
    for attr, definition in data["attrs"].items():
        builder.attr(attribute_text(attr, definition))
    if data["stateful"]:
        builder.stateful()
    return builder.build()


def differences(op, data):
    for side, args in (("inputs", op.inputs), ("outputs", op.outputs)):
        expected = data[side]
        if len(args) != len(expected):
            yield f"{side}: {len(args)} of {len(expected)}"
        for arg, want in zip(args, expected, strict=False):
            for field in ("name", "number_attr", "type_attr", "type_list_attr", "type", "is_ref"):
                if getattr(arg, field) != want[field]:
                    yield f"{arg.name}.{field}: {getattr(arg, field)!r} is not {want[field]!r}"
    for name, want in data["attrs"].items():
        attribute = op.attributes[name]
        got = (attribute.type, attribute.minimum, attribute.has_default, attribute.default, attribute.allowed)
        allowed = plain(want["allowed"]) if "allowed" in want else None
        expected_attr = (want["type"], want.get("min"), "default" in want, plain(want.get("default")), allowed)
        if got != expected_attr:
            yield f"{name}: {got} is not {expected_attr}"
    if op.stateful != data["stateful"]:
        yield "stateful"


@pytest.mark.parametrize("initial", sorted({name[0] for name in OPDEFS or {"-": 0}}))
def test_every_opdef_reads_back(initial):
    data = need(OPDEFS, FILE)
    failures = {}
    for name in data:
        if name.startswith(initial):
            changes = list(differences(read_back(name, data[name]), data[name]))
            if changes:
                failures[name] = changes
    assert not failures


@pytest.mark.parametrize(
    ("attr", "message"),
    [
        ("a int", "Trouble parsing '<name>:'"),
        ("a: foo", "Unrecognized type string 'foo'"),
        ("a: list(int", "Expected ) to close 'list(', not: ''"),
        ("a: {float, int32", "Expected , or } after types in list, not: ''"),
        ("a: int >= x", "Could not parse integer lower limit after '>=', found 'x' instead"),
        ("a: int = x", "Could not parse default value 'x'"),
        ("a: int extra", "Extra 'extra' unparsed at the end"),
    ],
)
def test_errors_of_attributes_name_text_and_operator(attr, message):
    with pytest.raises(OpDefError) as caught:
        OpDefBuilder("Foo").attr(attr).build()
    assert str(caught.value) == f'{message} from Attr("{attr}") for Op Foo'


def test_all_errors_are_reported_together():
    builder = OpDefBuilder("Foo").attr("a: foo").input("x: T").attr("n: string").output("y: n")
    builder.shape_fn(lambda c: None).shape_fn(lambda c: None)
    with pytest.raises(OpDefError) as caught:
        builder.build()
    assert str(caught.value).splitlines() == [
        "Unrecognized type string 'foo' from Attr(\"a: foo\") for Op Foo",
        "Reference to unknown attr 'T' from Input(\"x: T\") for Op Foo",
        "Reference to attr 'n' with type string that isn't type or list(type) from Output(\"y: n\") for Op Foo",
        "SetShapeFn called twice for Op Foo",
    ]


def test_a_count_without_minimum_is_at_least_1():
    op = OpDefBuilder("Pack").input("values: N * T").attr("N: int").attr("T: type").build()
    assert op.attributes["N"].minimum == 1


def test_a_resource_makes_an_operator_stateful():
    assert OpDefBuilder("Read").input("handle: resource").build().stateful
