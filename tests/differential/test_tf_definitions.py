"""What breaks the OpDef of an operator is an error exactly where TensorFlow refuses to import the graph."""

from collections import Counter

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ModelError
from tests.differential.tf.record_definitions import judged, read

PARTS = 40
LENIENT = {("Placeholder", "dtype missing"), ("Const", "dtype missing")}
"""What we read though TensorFlow does not: the element type is that of the value, or unknown."""


def errors(graph):
    """The errors of a graph, as texts."""
    try:
        return [str(note) for note in infer_shapes(graph).diagnostics if note.severity == "error"]
    except ModelError as error:
        return [str(error)]


def problem(op, broken, graph, is_refused):
    """What is wrong with our answer; None where it agrees with TensorFlow, with at most one violation of a definition.

    Other errors, of rules, are those of attributes that do not go together.
    """
    found = errors(graph)
    if (op, broken) in LENIENT:
        return None
    violations = [text for text in found if not text.startswith("error[S101]")]
    if len(violations) > 1 or (is_refused and not found) or (violations and not is_refused):
        return f"{op}, {broken or 'right'}: {'refused' if is_refused else 'imported'}, {found}"
    return None


def test_records_of_tensorflow():
    records = list(read())
    assert not [text for record in records if (text := problem(*record)) is not None]
    counts = Counter(is_refused for *_, is_refused in records)
    assert counts[True] > 400 and counts[False] > 150


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_operators(part):
    pytest.importorskip("tensorflow", reason="TensorFlow is the oracle of this test")
    from tests.differential.tf.definition_cases import op_defs

    listed = op_defs()
    wrong, counts = [], Counter()
    for name in sorted(listed)[part::PARTS]:
        for case, reason in judged(listed[name]):
            counts["refused" if reason else "imported"] += 1
            wrong += [text] if (text := problem(*case, bool(reason))) is not None else []
    print(dict(counts))
    assert not wrong, "\n".join(wrong)
