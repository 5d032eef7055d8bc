"""Every unknown size of the corpus has a first cause; a declaration of that node's outputs makes the size known."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from pathlib import Path

import attrs
import pytest

from shapeinf import DeclaredType, Dimension, Graph, Node, Result, UnknownGroup, infer_shapes
from shapeinf.expr.evaluation import substitute
from shapeinf.formats import load
from shapeinf.graph import NodeKind
from tests.vectors import ROOT

FOLDERS = (ROOT / "models" / "dev", ROOT / "models" / "deep")
MODELS = [path for folder in FOLDERS for path in sorted(folder.glob("*.onnx"))]
if not MODELS:
    warnings.warn(f"no models in {FOLDERS[0]}: the tests of unknowns are skipped", stacklevel=1)

WITH_UNKNOWNS = ("hubert.dyn", "if_shapes.os", "loop_decoder.os", "rpn_topk_nonzero.ts", "script_while_if.ts")
"""Models of the corpus with unknowns of different causes: data, branches, loops."""

PICK = random.Random(20_05)
SLICE = [path for path in MODELS if path.stem in WITH_UNKNOWNS or PICK.random() < 0.03]
"""The models of the default run."""

SOME_SIZE = 3


def model_param(path: Path) -> object:
    return pytest.param(path, id=path.stem, marks=() if path in SLICE else pytest.mark.slow)


ALL = [model_param(path) for path in MODELS] or [pytest.param(None, marks=pytest.mark.skip("the corpus is not there"))]


def unknown_axes(result: Result) -> Counter[str]:
    """All unknown axes of tensors, whatever their group; a declaration cannot state those of sequences."""
    counts: Counter[str] = Counter()
    for name, info in result.tensors.items():
        if info.kind != "tensor":
            continue
        if info.shape.dims is None:
            counts[f"the rank of {name}"] += 1
            continue
        for axis, dim in enumerate(info.shape.dims):
            if isinstance(dim, Dimension) and dim.is_anonymous:
                counts[f"{name}.shape[{axis}]"] += 1
    return counts


def grouped(result: Result) -> Counter[str]:
    return Counter(
        str(u) for group in result.unknowns() for u in group.unknowns if result.tensors[u.tensor].kind == "tensor"
    )


def declaring(graph: Graph, result: Result, group: UnknownGroup) -> Graph:
    """The graph with declared outputs of the causes of a group; unknown sizes of `result` get a number."""
    declared = dict(graph.declared)
    for cause in group.causes:
        for value in cause.values:
            info = result.tensors[value]
            if info.kind != "tensor":  # declarations complete only tensors
                continue
            dims = info.shape.dims
            sizes = (2, SOME_SIZE) if dims is None else tuple(some_size(result, d) for d in dims)
            declared[value] = DeclaredType(info.dtype, sizes)
    return attrs.evolve(graph, declared=declared)


def some_size(result: Result, dim: int | Dimension) -> int | str:
    if isinstance(dim, int):
        return dim
    values = {}
    for symbol in dim.symbols():
        if symbol.is_anonymous:
            bounds = result.interval(symbol)
            low = max(bounds.lo or 0, SOME_SIZE)
            values[symbol] = low if bounds.hi is None else min(low, bounds.hi)
    size = substitute(dim, values)
    return size if isinstance(size, int) else str(size)


def texts(groups: list[UnknownGroup]) -> set[str]:
    return {str(unknown) for group in groups for unknown in group.unknowns}


def check_groups(graph: Graph, result: Result, truth: Result) -> None:
    """Groups are disjoint and complete, and declaring the true outputs of the causes resolves each."""
    groups = result.unknowns()
    assert grouped(result) == unknown_axes(result)
    assert [g.count for g in groups] == sorted((g.count for g in groups), reverse=True)
    for group in groups:
        assert all(cause.values and cause.reason for cause in group.causes), group
        after = infer_shapes(declaring(graph, truth, group)).unknowns()
        ended = {str(unknown) for unknown in group.unknowns if result.tensors[unknown.tensor].kind == "tensor"}
        assert not texts(after) & ended, group


@pytest.mark.parametrize("path", ALL)
def test_every_unknown_has_a_cause_that_resolves_it(path: Path) -> None:
    graph = load(path)
    result = infer_shapes(graph)
    assert all(len(group.causes) == 1 for group in result.unknowns())
    check_groups(graph, result, result)


def with_a_mystery(graph: Graph, index: int) -> Graph:
    """The graph with a node replaced by an unknown operator; only inputs are declared."""
    nodes = list(graph.nodes)
    old = nodes[index]
    nodes[index] = Node(NodeKind("Mystery", "nowhere"), old.inputs, old.outputs, old.name)
    sources = {*graph.inputs, *graph.constants}
    declared = {name: declared_type for name, declared_type in graph.declared.items() if name in sources}
    return attrs.evolve(graph, nodes=nodes, declared=declared)


def is_float(result: Result, name: str) -> bool:
    """Whether a tensor has floats: integers may be sizes, and a declared shape does not state contents."""
    info = result.tensors[name]
    return info.kind == "tensor" and "float" in (info.dtype or "")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", ALL)
def test_unknowns_after_an_unknown_operator_are_caused_by_it(path: Path, seed: int) -> None:
    graph = load(path)
    healthy = infer_shapes(graph)
    choices = [
        index
        for index, node in enumerate(graph.nodes)
        if node.inputs and all(is_float(healthy, name) for name in node.outputs if name)
    ]
    index = random.Random(f"{path.stem} {seed}").choice(choices)
    damaged = with_a_mystery(graph, index)
    result = infer_shapes(damaged)
    check_groups(damaged, result, healthy)
    outputs = tuple(name for name in graph.nodes[index].outputs if name)
    conflict_source = [group for group in result.unknowns() if group.cause.kind == "operator"]
    unknown = {text.split(".shape[")[0].removeprefix("the rank of ") for text in unknown_axes(result)}
    open_ = unknown & set(outputs)
    assert [group.cause.values for group in conflict_source] == ([outputs] if open_ else [])
    assert open_ <= {entry.tensor for group in conflict_source for entry in group.unknowns}
