"""Every operation of NNEF with each argument renamed, absent, doubled, of other kinds or too many, against its parser.

The parser of the `nnef` package checks names, kinds and numbers of arguments: what it refuses is an error. What it
accepts may have a wrong shape, which is an error of the inference, never one of the reader.
"""

import random
from collections import Counter

import pytest

from opdefs.nnef.schemas import op_def
from shapeinf import infer_shapes
from shapeinf.errors import NnefError, ShapeInferenceError
from tests.differential.test_nnef_broken_cases import FRAGMENTS, OUTPUTS, base

SLICE = 400
LISTS = ("concat", "stack", "add_n")
LISTED = ("split", "unstack", "copy_n")
VALUES = (1, 1.5, True, "a", (1,), (1.5,), ("a",), ((1, 1),), ())
OPERANDS = ("1", "1.5", "true", "'a'", "[x0]", "[]", "none", "(x0,x0)")
ALWAYS_REFUSED = ("update", "cast")
"""The first operand of `update` must be a variable, and `cast` needs a type: errors in each case."""
RESULTS = "N503"
"""The reader counts the results of an operation, which the parser of the package does not."""


def literal(value):
    """A value as text of NNEF."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        pairs = value and isinstance(value[0], tuple)
        items = (f"({', '.join(map(literal, item))})" for item in value) if pairs else map(literal, value)
        return f"[{', '.join(items)}]"
    return repr(value)


def element_type(fragment, index):
    """The element type of an operand, as text."""
    if fragment.name in LISTS:
        return "scalar"
    text = str(fragment.parameters[min(index, len(fragment.parameters) - 1)].type)
    return next((name for name in ("logical", "integer") if name in text), "scalar")


def document(fragment, shapes, arguments):
    """A document of one operation with these arguments, as texts."""
    inputs = [f"x{i}" for i in range(len(shapes))]
    results = [f"y{i}" for i in range(OUTPUTS.get(fragment.name, 1))]
    target = f"[{', '.join(results)}]" if fragment.name in LISTED else ", ".join(results)
    lines = [
        f"    {name} = external<{element_type(fragment, i)}>(shape = {literal(tuple(shape))});"
        for i, (name, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    lines.append(f"    {target} = {fragment.name}({', '.join(arguments)});")
    head = f"version 1.0;\ngraph g({', '.join(inputs)}) -> ({', '.join(results)})\n"
    return head + "{\n" + "\n".join(lines) + "\n}\n"


def variants(fragment):
    """(what is broken, the document) for an operation, the right one first."""
    shapes, attributes = base(fragment)
    attributes = {name: value for name, value in attributes.items() if name != "?"}
    inputs = [f"x{i}" for i in range(len(shapes))]
    operands = [f"[{', '.join(inputs)}]"] if fragment.name in LISTS else inputs

    def made(named, positional=operands, more=()):
        texts = (f"{name} = {literal(value)}" for name, value in named.items())
        return document(fragment, shapes, [*positional, *texts, *more])

    yield "", made(attributes)
    for name, defined in op_def(fragment).attributes.items():
        value = attributes.get(name, 1 if defined.default is None else defined.default)
        others = {other: its for other, its in attributes.items() if other != name}
        yield f"without {name}", made(others)
        yield f"{name} renamed", made({**others, f"{name}x": value})
        yield f"{name} twice", made(attributes, more=[f"{name} = {literal(value)}"] * 2)
        yield f"{name} is a tensor", made(others, more=[f"{name} = x0"])
        yield from ((f"{name} is {other!r}", made({**attributes, name: other})) for other in VALUES)
    for index in range(len(operands)):
        before, after = operands[:index], operands[index + 1 :]
        yield f"without operand {index}", made(attributes, [*before, *after])
        yield from ((f"operand {index} is {text}", made(attributes, [*before, text, *after])) for text in OPERANDS)
    yield "an operand too many", made(attributes, [*operands, "x0"])
    yield "an argument too many", made({**attributes, "foo": 1})


def refused(text):
    package = pytest.importorskip("nnef", reason="the nnef package is the oracle of these tests")
    try:
        package.parse_string(text)
    except package.Error as error:
        return str(error)
    return ""


def error_of(text):
    """("reader" or "inference", the message), or None."""
    try:
        errors = [note for note in infer_shapes(text).diagnostics if note.severity == "error"]
    except NnefError as error:
        return "reader", str(error)
    except ShapeInferenceError as error:
        return "inference", str(error)
    assert "S301" not in [note.code for note in errors]
    return ("inference", errors[0].message) if errors else None


def compare(cases):
    """The wrong cases as texts, and counts."""
    wrong, counts = [], Counter()
    for fragment, broken, text in cases:
        theirs, ours = refused(text), error_of(text)
        counts["refused" if theirs else "accepted"] += 1
        false_alarm = not theirs and ours and ours[0] == "reader" and RESULTS not in ours[1]
        is_wrong_case = theirs and not broken and fragment.name not in ALWAYS_REFUSED
        if (theirs and ours is None) or false_alarm or is_wrong_case:
            wrong.append(f"{fragment.name}, {broken or 'right'}: {theirs or 'accepted'}, {ours}")
    return wrong, counts


def all_cases(fragments):
    return [(fragment, *case) for fragment in fragments for case in variants(fragment) if "?" not in case[0]]


def test_arguments_that_the_parser_refuses_are_errors():
    wrong, counts = compare(random.Random(31).sample(all_cases(FRAGMENTS), SLICE))
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] > 200 and counts["accepted"] > 20


@pytest.mark.slow
def test_all_arguments():
    wrong, counts = compare(all_cases(FRAGMENTS))
    print(dict(counts))
    assert not wrong, "\n".join(wrong)
