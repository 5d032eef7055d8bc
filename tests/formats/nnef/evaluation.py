"""Short ways to evaluate NNEF text in tests."""

from opdefs.nnef.library import LAYERS, library
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.evaluation.evaluator import evaluate
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse

FINAL = "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\n"
PROBE = "fragment probe( x: tensor<scalar>, a: integer[] = [] ) -> ( y: tensor<scalar> );\n"


def graph_text(*statements, fragments="", head=FINAL):
    body = "\n".join(f"    {s};" for s in ("x = external(shape = [2,3,8,8])", *statements))
    return f"{head}{fragments}graph G( x ) -> ( y )\n{{\n{body}\n}}\n"


def provisional_text(*statements, fragments="", shape="[2,3,8,8]"):
    body = "\n".join(f"    {s}" for s in (f"x = external(shape = {shape})", *statements))
    return f"version 1.0\n{fragments}graph G( x ) -> ( y )\n{{\n{body}\n}}\n"


def parsed(text, dialect=None):
    source = SourceText(text)
    return parse(source, dialect), source


def operations(text, expand=(), dialect=None, **options):
    document, source = parsed(text, dialect)
    expand = LAYERS if document.dialect == "provisional" else expand
    return evaluate(document, source, Library(library(document.dialect)), expand, **options)


def built(text, expand=(), dialect=None):
    document, source = parsed(text, dialect)
    return build(operations(text, expand, dialect), document, source)


def value(expression, fragments=""):
    """The value of an expression, as an attribute."""
    text = graph_text(f"y = probe(x, a = {expression})", fragments=PROBE + fragments)
    return operations(text)[-1].attributes["a"]


def problem(text, expand=(), dialect=None):
    """The first problem of a document that cannot be evaluated or built, and the text at its position."""
    try:
        built(text, expand, dialect)
    except NnefError as error:
        line, column = error.line, error.column
        rest = text.split("\n")[line - 1 :]
        return error.diagnostics[0], "\n".join(rest)[column - 1 :]
    raise AssertionError("no problem was found")


def operation_text(operation):
    """`add(x, 1.0) -> y`."""
    inputs = ", ".join("" if i is None else getattr(i, "name", None) or repr(i) for i in operation.inputs)
    return f"{operation.op}({inputs}) -> {', '.join(operation.outputs)}"
