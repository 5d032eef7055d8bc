"""The display of objects in a shell and in a notebook: a few lines, tables without colors, no markup from a file."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import networkx as nx
import pytest

from shapeinf import Dim, Result, bind, infer_shapes, rebatch
from shapeinf.diagnostics import Diagnostic, Diagnostics
from shapeinf.html import MAX_ROWS
from shapeinf.texts import MAX_LINE

CONVNET = "examples/convnet.onnx"
SIZES = {"batch": 1, "height": 64, "width": 64}
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def graph_of(names: list[str], op: str = "Relu") -> nx.DiGraph:
    """A chain of nodes whose values have these names."""
    graph = nx.DiGraph(dialect="onnx", opsets={"": 18}, inputs={names[0]: ["n", 3]}, outputs=names[1:])
    for before, name in itertools.pairwise(names):
        graph.add_node(name, op=op, inputs=[before], outputs=[name])
    return graph


OBJECTS: dict[str, Callable[[Result], Any]] = {
    "result": lambda r: r,
    "contract": lambda r: r.contract,
    "cost": lambda r: r.cost(),
    "cost at": lambda r: r.cost().at(SIZES),
    "memory": lambda r: r.memory(),
    "peak": lambda r: r.memory().peak,
    "peak at": lambda r: r.memory().peak.at(SIZES),
    "plan": lambda r: r.memory().plan(SIZES),
    "program": lambda r: r.program(),
    "shapes": lambda r: r.program()(SIZES),
    "graph": lambda r: r.graph,
    "diagnostics": lambda r: r.diagnostics,
    "unknowns": lambda r: r.unknowns(),
    "tensor": lambda r: list(r.tensors.values())[-1],
    "answer": lambda r: r.contract.check(),
    "legal": lambda r: r.contract.solve("height", range(5000)),
    "bound": lambda r: bind(CONVNET, {"batch": 2}),
    "rebatched": lambda r: rebatch(_fixed(), axis=0),
}


def _fixed() -> nx.DiGraph:
    graph = graph_of(["x", "y"])
    graph.graph["inputs"] = {"x": [1, 3]}
    return graph


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_is_a_few_short_lines_without_addresses(name: str) -> None:
    text = repr(OBJECTS[name](infer_shapes(CONVNET)))
    lines = text.splitlines()
    assert " at 0x" not in text
    assert len(lines) <= 12
    assert all(len(line) <= MAX_LINE + 40 for line in lines)


def test_the_repr_of_a_result_has_what_one_asks_first() -> None:
    assert repr(infer_shapes(CONVNET, dims={"batch": "1..8"})).splitlines() == [
        "<Result of examples/convnet.onnx (onnx)",
        "  inputs       image: float32[batch, 3, height, width]",
        "  outputs      mask: float32[batch, 1, height, width]",
        "  coverage     7 nodes, 7 tensors: 7 fully known, 7 of known rank",
        "  contract     2 preconditions",
        "  diagnostics  no diagnostics>",
    ]


def test_a_repr_of_a_large_model_computes_nothing_expensive() -> None:
    result = infer_shapes(graph_of([f"v{i}" for i in range(3000)]))
    memory = result.memory()
    assert "not computed yet" in repr(memory)
    assert "peak" not in memory.__dict__
    assert "2995 more" in repr(result)


class Reader(HTMLParser):
    """Collects tags and texts, and checks that the tags nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


TABLES = ["result", "answer", "tensor", "contract", "cost", "memory", "plan", "program", "diagnostics", "unknowns"]
ALLOWED = {"div", "style", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "caption"}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("model", [CONVNET, None], ids=["convnet", "hostile"])
def test_notebooks_show_tables_without_colors_and_without_markup_of_the_file(name: str, model: str | None) -> None:
    hostile = graph_of([HOSTILE, HOSTILE + "1", HOSTILE + "2"], op=HOSTILE) if model is None else model
    if model is None and name == "plan":
        pytest.skip("the hostile model has no sizes to plan for")
    html = OBJECTS[name](infer_shapes(hostile))._repr_html_()
    reader = Reader(html)
    assert set(reader.tags) <= ALLOWED
    assert reader.attributes <= {"class", "scope", "scoped"}
    assert "color" not in html and "background" not in html
    assert not any(character in html for character in "\x1b\u202e")


def test_a_long_table_counts_its_other_rows() -> None:
    diagnostics = Diagnostics(Diagnostic("error", "S101", f"number {i}") for i in range(MAX_ROWS + 7))
    html = diagnostics._repr_html_()
    assert html.count("<tr>") == MAX_ROWS + 1
    assert "<p>7 more</p>" in html


def test_diagnostics_are_a_list_with_the_most_severe_first_in_a_notebook() -> None:
    note, error = Diagnostic("note", "S110", "a"), Diagnostic("error", "S101", "b", node="n")
    assert Diagnostics([note, error]) == [note, error]
    texts = Reader(Diagnostics([note, error])._repr_html_()).texts
    assert texts.index("error") < texts.index("note")
    assert "Diagnostics: 1 error, 1 note" in texts
    assert repr(error) == "Diagnostic(severity='error', code='S101', message='b', node='n')"
    assert isinstance(infer_shapes(CONVNET).diagnostics, list)


def test_inputs_and_outputs_are_in_the_order_of_the_graph() -> None:
    graph = graph_of(["z", "b", "a"])
    graph.graph["outputs"] = ["b", "z", "a"]
    result = infer_shapes(graph, dims=[Dim("n", 1, 4)])
    assert list(result.inputs) == ["z"] and list(result.outputs) == ["b", "z", "a"]
    assert result.outputs["a"] is result.tensors["a"]
    assert str(result.dims["n"]) == "1..4"


def test_inputs_with_a_default_value_are_constants() -> None:
    onnx = pytest.importorskip("onnx", reason="the text form of ONNX is parsed by onnx")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]>'
        "g (float[n, 3] x, float[1] w = {2.0}) => (float[n, 3] y) { y = Mul(x, w) }"
    )
    assert list(infer_shapes(model).inputs) == ["x"]
