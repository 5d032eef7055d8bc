"""Every input of every operator with one size changed: what a runtime rejects, the contract must not accept.

Nodes are the published cases of `onnx` at all operator versions, and the tables of com.microsoft cases.
"""

from __future__ import annotations

import functools
import random

import onnx.defs
import pytest

from opdefs.onnx.schemas import MICROSOFT
from tests.differential.operands.breaking import Broken, break_inputs
from tests.differential.operands.deviations import DEVIATIONS, OPEN, UNJUDGED
from tests.differential.operands.nodes import Node, nodes
from tests.differential.operands.oracle import SINGLE_SIDED, outcomes
from tests.differential.operands.verdicts import FALSE_YES, Disagreement, disagreements_of
from tests.differential.processor import is_refused_by_processor

pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")

ORACLES = "onnxruntime", "reference", "inference"
PARTS = 16
A_FEW = 2
"""The number of cases of each operator in the default run."""


PROCESSOR = "processor"
"""In place of an oracle, for the nodes that onnxruntime refuses because of the processor."""


@functools.cache
def nodes_by_oracle() -> dict[str, tuple[Node, ...]]:
    """The unchanged nodes that run, by the first oracle that runs them, and those that this processor cannot run."""
    remaining = list(nodes())
    by_oracle: dict[str, tuple[Node, ...]] = {PROCESSOR: ()}
    for oracle in ORACLES:
        candidates = [node for node in remaining if oracle in node.oracles]
        run, refused = [], []
        for node, outcome in zip(candidates, outcomes(oracle, candidates), strict=True):
            if not isinstance(outcome, str):
                run.append(node)
            elif is_refused_by_processor(outcome, node.proto.domain):
                refused.append(node)
        by_oracle[oracle] = tuple(run)
        by_oracle[PROCESSOR] += tuple(refused)
        chosen = set(map(id, run))
        remaining = [node for node in remaining if id(node) not in chosen]
    return by_oracle


def disagreements_with(oracle: str, cases: list[Broken]) -> list[Disagreement]:
    """All disagreements with an oracle."""
    results = outcomes(oracle, (case.node for case in cases))
    return [
        disagreement
        for case, outcome in zip(cases, results, strict=True)
        for disagreement in disagreements_of(case, outcome, single_sided=oracle in SINGLE_SIDED)
    ]


def is_intended(disagreement: Disagreement) -> bool:
    """Whether a deviation covers the disagreement, or its operator is in `OPEN`."""
    is_open = disagreement.kind == FALSE_YES and disagreement.case.node.op in OPEN
    return is_open or any(deviation.covers(disagreement) for deviation in DEVIATIONS)


def unintended(disagreements: list[Disagreement]) -> str:
    """The texts of the disagreements that are not intended."""
    return "\n".join(str(d) for d in disagreements if not is_intended(d))


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_few_changed_operands_of_each_operator(oracle):
    chosen = random.Random(0)
    by_operator: dict[str, list[Broken]] = {}
    for node in nodes_by_oracle()[oracle]:
        by_operator.setdefault(node.op, []).append(node)
    cases = []
    for same_operator in by_operator.values():
        newest = max(node.version for node in same_operator)
        every = [case for node in same_operator if node.version == newest for case in break_inputs(node)]
        cases += chosen.sample(every, min(A_FEW, len(every)))
    assert not unintended(disagreements_with(oracle, cases))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("oracle", ORACLES)
def test_all_changed_operands(oracle, part):
    cases = [case for node in nodes_by_oracle()[oracle][part::PARTS] for case in break_inputs(node)]
    assert not unintended(disagreements_with(oracle, cases))


def operators() -> set[str]:
    """Every registered operator that takes two inputs or more."""
    newest = [s for s in onnx.defs.get_all_schemas() if not s.deprecated and s.max_input > 1]
    own = {(domain, name) for domain, name, _ in MICROSOFT if _takes_two(MICROSOFT.find(domain, name, 0).inputs)}
    named = {(s.domain, s.name) for s in newest} | own
    return {f"{domain}.{name}" if domain else name for domain, name in named}


def _takes_two(inputs) -> bool:
    return len(inputs) > 1 or any(i.variadic for i in inputs)


def test_every_operator_with_two_inputs_is_judged_or_excused():
    names = {node.op for same_oracle in nodes_by_oracle().values() for node in same_oracle}
    assert operators() - names - {"com.microsoft.IsAllFinite"} <= set(UNJUDGED) | _control_flow()
    assert not names & set(UNJUDGED), "these are judged: take them off the list"


def _control_flow() -> set[str]:
    return {"If", "Loop", "Scan"}  # requirements of bodies are tested with them


@pytest.mark.parametrize("table", [OPEN, UNJUDGED], ids=["open", "unjudged"])
def test_exceptions_are_operators(table):
    assert set(table) <= operators()
