"""The registry of formats: which format reads a model, its options, and the options of the command line."""

import attrs
import pytest
from click.testing import CliRunner

from shapeinf import NnefOptions, ShapeInferenceError, UnknownNameError
from shapeinf.cli import main
from shapeinf.formats import FORMATS
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.registry import Candidate, Format, FormatOptions, FormatRegistry, SignatureOptions, command_line
from shapeinf.graph import Graph


@attrs.frozen
class Options(FormatOptions):
    level: int = attrs.field(default=0, metadata=command_line("The level."))


@attrs.frozen
class OtherOptions(FormatOptions):
    side: str = attrs.field(default="left", metadata=command_line("The side.", choices=("left", "right")))


def toy(name, options, suffix):
    def read(model, record):
        return Graph(f"{model} {record}", name)

    return Format(name, name.upper(), lambda c: (c.text or "").endswith(suffix), read, None, options)


FIRST, SECOND, PLAIN = toy("one", Options, ".one"), toy("two", OtherOptions, ".two"), toy("plain", None, ".plain")
REGISTRY = FormatRegistry((FIRST, SECOND, PLAIN), default=PLAIN)


@pytest.mark.parametrize(
    ("model", "options", "name"),
    [
        ("m.one", None, "m.one Options(level=0)"),
        ("m.one", Options(2), "m.one Options(level=2)"),
        ("m.two", None, "m.two OtherOptions(side='left')"),
        ("m.other", None, "m.other None"),
        ("m.other", Options(1), "m.other Options(level=1)"),  # the options have the format, where the model does not
    ],
)
def test_the_format_of_a_model(model, options, name):
    assert REGISTRY.load(model, options).name == name


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("m.two", Options(), "the options level are for ONE, but the model is TWO"),
        ("m.plain", Options(1), "the options level are for ONE, but the model is PLAIN"),
        ("m.one", NnefOptions(), "are not options of a format"),
    ],
)
def test_options_of_another_format(model, options, message):
    with pytest.raises(ShapeInferenceError, match=message):
        REGISTRY.load(model, options)


def test_options_of_the_command_line():
    assert list(REGISTRY.command_line()) == ["level", "side"]
    assert REGISTRY.options({"level": 0, "side": "left"}) is None
    assert REGISTRY.options({"level": 3, "side": "left"}) == Options(3)
    assert REGISTRY.options({"level": 3, "side": None}) == Options(3)  # as click has options that are not typed
    assert REGISTRY.options({"level": None, "side": ()}) is None
    with pytest.raises(ShapeInferenceError, match="different formats"):
        REGISTRY.options({"level": 3, "side": "right"})


def test_names_of_options_are_unique():
    """Formats share an option only where they share the class that has it."""
    owners = {}
    for format in FORMATS.formats:
        for name in format.command_line():
            classes = reversed(format.options.__mro__)
            owner = next(base for base in classes if name in getattr(base, "__annotations__", ()))
            assert owners.setdefault(name, owner) is owner
    assert owners["signature"] is SignatureOptions


def test_a_format_that_is_only_read():
    with pytest.raises(ShapeInferenceError, match="can be read, but not written"):
        REGISTRY.save(Graph(dialect="one"), Annotation({}), "m.one")


def test_a_format_on_the_dialect_of_another_is_not_written_by_that():
    """Two formats may have the operators of one dialect; each graph names the format that it was read from."""
    written = []

    def write(graph, annotation, target):
        written.append((graph.name, target))

    first = Format("one", "ONE", lambda c: (c.text or "").endswith(".one"), lambda m, _: Graph(m, "one"), write)
    second = Format("other", "OTHER", lambda c: (c.text or "").endswith(".other"), lambda m, _: Graph(m, "one"))
    registry = FormatRegistry((first, second), default=first)
    graph = registry.load("m.other")
    assert (graph.dialect, graph.format, registry.format_of(graph)) == ("one", "other", second)
    with pytest.raises(ShapeInferenceError, match="OTHER models can be read, but not written"):
        registry.save(graph, Annotation({}), "out.one")
    registry.save(registry.load("m.one"), Annotation({}), "out.one")
    registry.save(Graph("in memory", "one"), Annotation({}), "out.one")
    assert written == [("m.one", "out.one"), ("in memory", "out.one")]
    foreign = Graph("foreign", "one", format="elsewhere")
    with pytest.raises(ShapeInferenceError, match="models of the format 'elsewhere' cannot be written here"):
        registry.save(foreign, Annotation({}), "out.one")
    assert registry.missing_data(foreign) == []


def test_the_head_of_a_model(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"x" * 10_000)
    assert Candidate(path).head == Candidate(str(path)).head == Candidate(b"x" * 5000).head == b"x" * 4096
    assert (
        Candidate(tmp_path).head
        == Candidate(tmp_path / "missing").head
        == Candidate(3).head
        == Candidate("a\0").head
        == b""
    )


def test_options_of_nnef():
    assert NnefOptions(expand="all") == NnefOptions(expand=("conv", "all"))
    assert NnefOptions(expand="conv") == NnefOptions(expand=["conv"])
    with pytest.raises(UnknownNameError, match="did you mean 'tract'"):
        NnefOptions("trakt")


def test_options_without_effect_on_the_command_line(tmp_path):
    result = CliRunner().invoke(main, ["infer", str(tmp_path / "model.onnx"), "--dialect", "tract"])
    assert result.exit_code == 2
    assert "the options dialect, expand are for NNEF, but the model is ONNX" in result.output
