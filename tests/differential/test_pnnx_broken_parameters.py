"""Every parameter of every operator in PNNX's recorded networks absent, misspelled and of another kind, once each.

PNNX publishes no definitions: a parameter that a rule requires, and one that it cannot read, is reported by name. A
misspelled one is reported, unless the rule never reads it; it is never replaced by a default in silence.
"""

import json
import random
import re

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError
from tests.differential.pnnx.record import RECORDED

SLICE = 150
CHANGES = ("absent", "misspelled", "kind")
NO_NAME = re.compile(r"[^\w]|\d")


def parameters():
    """(text, number of the line, position, operator, name, value) of the first use of each parameter."""
    first = {}
    for path in sorted(RECORDED.glob("*.json")):
        for networks in json.loads(path.read_text(encoding="utf8")).values():
            text = networks.get("static", networks.get("dynamic"))["param"]
            for number, line in enumerate(text.split("\n")):
                words = line.split()
                if number < 2 or not words or words[0].startswith("pnnx."):
                    continue
                for position, word in enumerate(words):
                    name, equals, value = word.partition("=")
                    if equals and name[0] not in "@#$":
                        first.setdefault((words[0], name), (text, number, position, words[0], name, value))
    return list(first.values())


PARAMETERS = parameters()


def other_kind(value):
    if value.startswith("("):
        return "abc"
    return "(a,b)" if NO_NAME.match(value) or value in ("True", "False", "None") else "3.5"


def broken(parameter, change):
    """The text of the network with the parameter changed."""
    text, number, position, _, name, value = parameter
    lines = text.split("\n")
    words = lines[number].split()
    texts = {"absent": [], "misspelled": [f"{name}x={value}"], "kind": [f"{name}={other_kind(value)}"]}
    words[position : position + 1] = texts[change]
    lines[number] = " ".join(words)
    return "\n".join(lines)


def types_and_messages(text):
    """The inferred types, None where the network is not read, and the errors and warnings."""
    try:
        result = infer_shapes(text, declared="ignore")
    except ShapeInferenceError as error:
        return None, [str(error)]
    notes = [note for note in result.diagnostics if note.severity != "note"]
    assert "S301" not in [note.code for note in notes], notes
    return {name: str(info) for name, info in result.tensors.items()}, [note.message for note in notes]


def is_wrong(parameter, change):
    """What is wrong with the answer, as text; empty for a right one."""
    text, _, _, op, name, value = parameter
    types, messages = types_and_messages(broken(parameter, change))
    if messages or types == types_and_messages(text)[0]:
        return ""
    return "" if change == "absent" else f"{op}: {name}={value} {change}, and the shapes change in silence"


def test_broken_parameters():
    chosen = random.Random(31).sample([(p, change) for p in PARAMETERS for change in CHANGES], SLICE)
    assert not [problem for case in chosen if (problem := is_wrong(*case))]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_all_broken_parameters(change):
    assert len(PARAMETERS) > 500
    assert not [problem for parameter in PARAMETERS if (problem := is_wrong(parameter, change))]


def test_a_misspelled_parameter_is_named():
    network = (
        "7767517\n3 2\npnnx.Input in 0 1 0 #0=(1,3,8,8)f32\n"
        "nn.MaxPool2d pool 1 1 0 1 kernel_size=(2,2) strid=(2,2) #0=(1,3,8,8)f32\npnnx.Output out 1 0 1\n"
    )
    (note,) = infer_shapes(network).diagnostics
    assert (note.code, note.message, note.help) == ("S109", "has no attribute 'strid'", "did you mean 'stride'?")


def test_recorded_networks_have_no_misspelled_parameter():
    for text in dict.fromkeys(text for text, *_ in PARAMETERS):
        assert "S109" not in [note.code for note in infer_shapes(text).diagnostics]
