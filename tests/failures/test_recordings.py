"""`Result.why` on messages that runtimes wrote: the node that failed, and a condition that holds where they run."""

from __future__ import annotations

import random

import pytest

from shapeinf.runtime_messages import find_message
from tests.failures.recordings import RUNTIMES, Message, messages, names_the_cause, wrongly_excluded

LEAST = {"onnxruntime": 0.95, "openvino": 0.95, "tensorflow": 0.95, "torch": 0.95, "litert": 0.95}
"""The part of the messages caused by sizes whose node and condition are named."""

COUNT = {"onnxruntime": 100, "openvino": 100, "tensorflow": 100, "torch": 12, "litert": 12}
"""The least number of messages that are recorded in `tests`."""

LENIENT = {"onnxruntime": {"prelu"}, "tensorflow": {"batch_norm"}}
"""Cases that a runtime runs at sizes that the definition of the operator excludes: 1 where it must be that of a weight.
OpenVINO does so for nine of the cases, and is not compared."""

FEW = 16
"""The messages of each runtime that a quick run explains."""


def explained(chosen: list[Message], runtime: str) -> tuple[list[str], list[str]]:
    """The cases whose cause is not named, and those whose condition excludes sizes at which the runtime runs."""
    missed, wrong = [], []
    for message in chosen:
        result = message.infer()
        report = message.explain(result)
        if not names_the_cause(message, report):
            missed.append(f"{message.case} {message.shapes}: {report.verdict} {report.conditions[:1]}")
        if runtime != "openvino" and message.case not in LENIENT.get(runtime, ()):
            wrong += [f"{message.case}: {at}" for at in wrongly_excluded(message, result, report)]
    return missed, wrong


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_enough_messages_are_recorded(runtime: str) -> None:
    own = [message for message in messages(runtime) if isinstance(message.model, bytes)]
    assert len(own) >= COUNT[runtime]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_runtime_of_every_message_is_recognized(runtime: str) -> None:
    found = [find_message(message.text) for message in messages(runtime)]
    assert {None if message is None else message.runtime for message in found} == {runtime}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_some_causes_are_named(runtime: str) -> None:
    own = [m for m in messages(runtime) if m.caused_by_sizes and isinstance(m.model, bytes)]
    missed, wrong = explained(random.Random(7).sample(own, min(FEW, len(own))), runtime)
    assert len(missed) <= 1, missed
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_causes_of_nearly_all_messages_are_named(runtime: str) -> None:
    chosen = [m for m in messages(runtime) if m.caused_by_sizes and m.available]
    missed, wrong = explained(chosen, runtime)
    assert len(missed) <= (1 - LEAST[runtime]) * len(chosen), missed
    assert wrong == []


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_no_condition_is_invented_where_values_or_the_runtime_are_the_cause(runtime: str) -> None:
    others = [m for m in messages(runtime) if not m.caused_by_sizes and m.available]
    for message in others:
        report = message.explain(message.infer())
        assert report.verdict in ("holds", "depends on data", "other cause"), message.case
        assert report.conditions == ()


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_node_is_named_without_sizes(runtime: str) -> None:
    """The conditions of the node that fails are listed, or those of a node next to it."""
    chosen = [m for m in messages(runtime) if m.caused_by_sizes and isinstance(m.model, bytes)]
    missed = []
    for message in chosen:
        report = message.infer().why(message.text)
        names = [c.match.node for c in report.conditions if c.match is not None]
        declared = report.message is not None and report.message.kind in ("input", "guard")
        if not declared and not any(map(message.is_node, names)):
            missed.append(f"{message.case} {message.shapes}")
    assert len(missed) <= 0.1 * len(chosen), missed
