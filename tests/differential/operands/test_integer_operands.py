"""Operands of integers with unknown contents: a length or rank that onnxruntime refuses is no "yes" of the contract."""

from __future__ import annotations

import functools
import random
import warnings
from collections.abc import Iterator, Sequence

import attrs
import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.testing.operands import likely_contents
from tests.differential.operands.breaking import Broken, break_inputs
from tests.differential.operands.deviations import DATA, DEVIATIONS
from tests.differential.operands.nodes import Node, nodes
from tests.differential.operands.oracle import outcomes
from tests.differential.operands.verdicts import FALSE_YES, Disagreement

pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")

PARTS = 8
A_FEW = 60
"""The number of nodes in the default run."""
MAX_ELEMENTS = 64
"""Larger operands are data, not lists that decide shapes."""


@functools.cache
def opened_nodes() -> tuple[Node, ...]:
    """The nodes with inputs instead of constants."""
    return tuple(attrs.evolve(node, opened=True) for node in nodes() if "onnxruntime" in node.oracles)


def changes(chosen: Sequence[Node]) -> list[Broken]:
    """All changes of operands of integers and bools, but of the first input, of the nodes that onnxruntime runs."""
    results = outcomes("onnxruntime", chosen)
    running = [node for node, result in zip(chosen, results, strict=True) if not isinstance(result, str)]
    return [broken for node in running for broken in break_inputs(node) if _is_list(broken)]


def _is_list(broken: Broken) -> bool:
    array = broken.node.arrays[broken.index]
    first = next(k for k, a in enumerate(broken.node.arrays) if a is not None)
    return array is not None and broken.index != first and array.dtype.kind in "iub" and array.size <= MAX_ELEMENTS


def accepted(cases: Sequence[Broken]) -> Iterator[Broken]:
    """The changes for which the contract answers "yes"."""
    for broken in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if infer_shapes(broken.node.model()).contract.check().verdict is True:
                yield broken


def disagreements(cases: Sequence[Broken]) -> Iterator[Disagreement]:
    """The accepted changes that onnxruntime refuses with all contents that are likely."""
    candidates = [(broken, list(_with_contents(broken))) for broken in accepted(cases)]
    results = outcomes("onnxruntime", (node for _, variants in candidates for node in variants))
    for broken, variants in candidates:
        refusals = [next(results) for _ in variants]
        if all(isinstance(refusal, str) for refusal in refusals):
            yield Disagreement(FALSE_YES, broken, " | ".join(map(str, refusals)))


def _with_contents(broken: Broken) -> Iterator[Node]:
    array = broken.node.arrays[broken.index]
    assert isinstance(array, np.ndarray)
    return (broken.node.with_array(broken.index, contents) for contents in likely_contents(array))


def is_explained(disagreement: Disagreement) -> bool:
    """Whether a deviation covers the disagreement, or the legal sizes of the operand depend on contents."""
    operand = disagreement.case.node.op, disagreement.case.index
    return operand in DATA or any(deviation.covers(disagreement) for deviation in DEVIATIONS)


def unexplained(chosen: Sequence[Node]) -> list[str]:
    """The texts of the disagreements that nothing explains."""
    return [str(case) for case in disagreements(changes(chosen)) if not is_explained(case)]


def test_a_few_lengths_and_ranks() -> None:
    assert not unexplained(random.Random(0).sample(opened_nodes(), A_FEW))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_lengths_and_ranks(part: int) -> None:
    assert not unexplained(opened_nodes()[part::PARTS])


LENGTHS = {
    "Tile": ("float[2, 3] x, int64[{}] r", "y = Tile(x, r)", 2),
    "Pad": ("float[2, 3] x, int64[{}] r", "y = Pad(x, r)", 4),
    "Pad of an axis": ("float[2, 3] x, int64[{}] r", "a = Constant<value_ints = [1]>() y = Pad(x, r, , a)", 2),
    "Squeeze": ("float[2, 1] x, int64[{}] r", "y = Squeeze(x, r)", 1),
    "ScatterND": ("float[2, 3] x, int64[4, {}] r, float[4] u", "y = ScatterND(x, r, u)", 2),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_length_has_a_diagnostic_if_it_is_known_and_a_precondition_if_it_is_not(name: str) -> None:
    """The cases of `rules_03`, and others of the kind; the lengths are those of the specification."""
    import onnx

    inputs, body, right = LENGTHS[name]
    for length in ("n", *range(1, 6)):
        text = f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs.format(length)}) => (float[q] y) {{ {body} }}'
        model = onnx.parser.parse_model(text)
        model.graph.output[0].type.tensor_type.ClearField("shape")
        result = infer_shapes(model)
        if length == "n":
            assert [result.contract.check(n=size).verdict for size in range(1, 6)] == [n == right for n in range(1, 6)]
            assert [p.holds({"n": right}) for p in result.contract] == [True]
            assert not all(p.holds({"n": right + 1}) for p in result.contract)
        else:
            assert bool(result.diagnostics) is (length != right)
