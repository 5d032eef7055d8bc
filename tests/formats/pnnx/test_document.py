"""The lines of a file: each error names its line, and the next reader of a file knows what to do about it."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.pnnx import document, reader
from shapeinf.formats.pnnx.document import parse
from tests.formats.pnnx.networks import CONVOLUTION, HEAD, network

X = "pnnx.Input x 0 1 0"
ERRORS = {
    "empty": ("", 1, "is not a network of PNNX"),
    "magic": ("7767518\n1 1\n", 1, "is not a network of PNNX"),
    "magic with more": (f"7767517 1\n1 1\n{X}\n", 1, "is not a network of PNNX"),
    "no counts": (HEAD, 2, "the second line must be"),
    "one count": (f"{HEAD}1\n{X}\n", 2, "the second line must be"),
    "no number": (f"{HEAD}one 1\n{X}\n", 2, "'one' is not a count"),
    "negative count": (f"{HEAD}-1 1\n{X}\n", 2, "'-1' is not a count"),
    "too few operators": (f"{HEAD}2 1\n{X}\n", 2, "this line states 2 operators, the file has 1"),
    "too many operators": (f"{HEAD}0 1\n{X}\n", 2, "this line states 0 operators, the file has 1"),
    "short line": (network(X) + "a b 0\n", 4, "an operator needs a type, a name"),
    "no blobs": (network(X, "nn.ReLU r 1 1 0"), 4, "the operator has 1 names of blobs, not 2"),
    "huge number of blobs": (f"{HEAD}1 1\nnn.ReLU r 999999999 1 0\n", 3, "the operator has 1 names of blobs"),
    "use before definition": (network("nn.ReLU r 1 1 0 1", X), 3, "the blob '0' is used before"),
    "its own output": (network(X, "nn.ReLU r 1 1 1 1"), 4, "the blob '1' is used before"),
    "two producers": (network(X, "nn.ReLU r 1 1 0 0"), 4, "'0' is produced twice, first in line 3"),
    "two producers in a line": (network(X, "torch.chunk r 1 2 0 1 1"), 4, "'1' is produced twice, first in line 4"),
    "two names": (network(X, "nn.ReLU x 1 1 0 1"), 4, "the operator 'x' is defined twice, first in line 3"),
    "no key": (network(X, "nn.ReLU r 1 1 0 1 =1"), 4, "'=1' is not of the form key=value"),
    "no value": (network(X, "nn.ReLU r 1 1 0 1 dim"), 4, "'dim' is not of the form key=value"),
    "a key twice": (network(X, "nn.ReLU r 1 1 0 1 dim=1 dim=2"), 4, "'dim' occurs twice"),
    "a weight twice": (network(X, "nn.ReLU r 1 1 0 1 @w=(1)f32 @w=(1)f32"), 4, "'@w' occurs twice"),
    "number": (network(X, "nn.ReLU r 1 1 0 1 dim=2147483648"), 4, "does not fit into 32 bits"),
    "argument": (network(X, "nn.ReLU r 1 1 0 1 $input=1"), 4, "'$input=1': the blob is not an input"),
    "argument twice": (network(X, "nn.ReLU r 1 1 0 1 $a=0 $b=0"), 4, "'$b=0': the blob is not a further input"),
    "type of another blob": (network(X, "nn.ReLU r 1 1 0 1 #2=(1)f32"), 4, "'#2' is the type of a blob that"),
    "type": (network(X, "nn.ReLU r 1 1 0 1 #1=(1)f8"), 4, "'f8' is not an element type"),
    "type of rank 0": (network(X, "nn.ReLU r 1 1 0 1 #1=()f32"), 4, "'()f32' has no sizes"),
    "type without text": (network(X, "nn.ReLU r 1 1 0 1 #1="), 4, "'' is not a type such as"),
    "conflict": (network("pnnx.Input x 0 1 0 #0=(1)f32", "pnnx.Output y 1 0 0 #0=(?)f32"), 4, "is not that of line 3"),
    "conflict of types": (network("pnnx.Input x 0 1 0 #0=(1)f32", "pnnx.Output y 1 0 0 #0=(1)i64"), 4, "is not that"),
    "NUL": (network(X, "nn.ReLU r\0 1 1 0 1"), 4, "contains a NUL"),
    "input with an input": (network(X, "pnnx.Input z 1 1 0 1"), 4, "pnnx.Input has 0 inputs, not 1"),
    "input without a blob": (network("pnnx.Input z 0 0"), 3, "pnnx.Input has 1 output, not 0"),
    "output with an output": (network(X, "pnnx.Output z 1 1 0 1"), 4, "pnnx.Output has 0 outputs, not 1"),
    "constant without a value": (network("pnnx.Attribute a 0 1 0"), 3, "pnnx.Attribute has 1 weight, not 0"),
    "weight of unknown size": (network("pnnx.Attribute a 0 1 0 @data=(?)f32"), 3, "sizes of a weight are numbers"),
}


@pytest.mark.parametrize(("text", "line", "cause"), ERRORS.values(), ids=list(ERRORS))
def test_errors(text, line, cause):
    with pytest.raises(ModelError) as error:
        reader.build(parse(text, "net.param"))
    assert str(error.value).startswith(f"net.param:{line}: ")
    assert cause in str(error.value)
    assert not isinstance(error.value, LimitError)


FORMS = {
    "CRLF": CONVOLUTION.replace("\n", "\r\n"),
    "no line end": CONVOLUTION.removesuffix("\n"),
    "tabs": CONVOLUTION.replace(" ", "\t"),
    "byte order mark": "\ufeff" + CONVOLUTION,
    "empty lines": CONVOLUTION.replace("nn.", "\n \n\nnn."),
    "form feeds": CONVOLUTION.replace("conv ", "conv\f\v "),
    "blanks at the ends": CONVOLUTION.replace("\n", "  \n"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("form", [str, str.encode], ids=["text", "bytes"])
def test_forms(text, form):
    result = infer_shapes(form(text), inputs={"0": ["batch", 3, "h", 7]})
    assert str(result.tensors["1"]) == "float32[batch, 8, (h + 1)//2, 4]"
    assert not result.diagnostics


def test_names_have_any_characters_but_white_space():
    names = ("x.1", "%5", "a=b", "\u5c42", "$input", "@w", "#0", "\u00a0", "-", "(1)")
    text = network(*(f"pnnx.Input i{number} 0 1 {name}" for number, name in enumerate(names)))
    assert infer_shapes(text).graph.inputs == list(names)


def test_a_value_may_contain_the_sign_between_key_and_value():
    operators = parse(network(X, "my.Op o 1 0 0 equation=a=b"), "net").operators
    assert operators[1].parameters == {"equation": "a=b"}


def test_expressions_stay_texts():
    operators = parse(network(X, "pnnx.Expression e 1 1 0 1 expr=[size(@0,1),-1]"), "net").operators
    assert operators[1].parameters == {"expr": "[size(@0,1),-1]"}


def test_a_wrong_number_of_blobs_is_a_warning():
    (diagnostic,) = infer_shapes(network(X, blobs=7)).diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("X101", "warning")


LIMITS = {
    "operators": (f"{HEAD}{document.MAX_OPERATORS + 1} 1\n", 2),
    "blobs": (f"{HEAD}0 999999999\n", 2),
    "line": (network(X) + "a" * (document.MAX_LINE + 1), 4),
    "items": (network(X + " a=(" + "1," * document.MAX_ITEMS + "1)"), 3),
    "rank": (network(X + " #0=(" + "1," * document.MAX_RANK + "1)f32"), 3),
}


@pytest.mark.parametrize(("text", "line"), LIMITS.values(), ids=list(LIMITS))
def test_limits(text, line):
    with pytest.raises(LimitError, match=f"^net:{line}: "):
        parse(text, "net")


@pytest.mark.parametrize("form", [str, str.encode])
def test_a_limit_of_bytes(form, monkeypatch):
    monkeypatch.setattr(reader, "MAX_BYTES", 10)
    with pytest.raises(LimitError, match="more than 10"):
        infer_shapes(form(CONVOLUTION))
