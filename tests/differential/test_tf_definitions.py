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


def node(name, op, *inputs, **types):
    """A NodeDef in text form, with attributes of element types."""
    listed = "".join(f'attr {{ key: "{key}" value {{ type: {type_} }} }} ' for key, type_ in types.items())
    return f'node {{ name: "{name}" op: "{op}" {"".join(f"input: {i!r} " for i in inputs)}{listed}}}\n'


OPEN = 'attr { key: "shape" value { shape { unknown_rank: true } } }'
VALUE = 'attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } }'
VARIABLE = node("r", "VariableV2", dtype="DT_FLOAT").replace("}\n", f"{OPEN} }}\n")
INPUTS = node("x", "Placeholder", dtype="DT_FLOAT")
REFERENCES = {
    "an assigned value": (INPUTS + node("n", "Assign", "x", "x", T="DT_FLOAT"), 1),
    "an assigned variable": (VARIABLE + INPUTS + node("n", "Assign", "r", "x", T="DT_FLOAT"), 0),
    "an increased value": (INPUTS + node("n", "AssignAdd", "x", "x", T="DT_FLOAT"), 1),
    "a decreased value": (INPUTS + node("n", "AssignSub", "x", "x", T="DT_FLOAT"), 1),
    "the reference of a value": (INPUTS + node("n", "RefIdentity", "x", T="DT_FLOAT"), 1),
    "the reference of a variable": (VARIABLE + node("n", "RefIdentity", "r", T="DT_FLOAT"), 0),
    "a copy of a variable": (
        VARIABLE + node("i", "Identity", "r", T="DT_FLOAT") + node("n", "RefIdentity", "i", T="DT_FLOAT"),
        1,
    ),
    "an attribute that is a reference": (VARIABLE + node("n", "Identity", "r", T="DT_FLOAT_REF"), 1),
    **{
        f"{op} of {type_}": (node("n", op, dtype=type_).replace("}\n", f"{VALUE if op == 'Const' else ''} }}\n"), wrong)
        for op in ("Placeholder", "Const")
        for type_, wrong in (("DT_FLOAT", 0), ("DT_FLOAT_REF", 1), ("DT_INVALID", 1))
    },
}
"""Graphs, and the number of errors: TensorFlow's importer refuses those with one."""


@pytest.mark.parametrize("name", REFERENCES)
def test_references(name, tmp_path):
    text, count = REFERENCES[name]
    path = tmp_path / "graph.pbtxt"
    path.write_text(f"versions {{ producer: 2474 }}\n{text}")
    assert [note.code for note in infer_shapes(path).diagnostics if note.severity == "error"] == ["S107"] * count


@pytest.mark.parametrize("name", REFERENCES)
def test_tensorflow_refuses_the_same_references(name):
    pytest.importorskip("tensorflow", reason="TensorFlow is the oracle of this test")
    import tensorflow as tf
    from google.protobuf import text_format

    from tests.differential.tf.definition_cases import refused

    text, count = REFERENCES[name]
    graph = text_format.Parse(f"versions {{ producer: 2474 }}\n{text}", tf.compat.v1.GraphDef())
    assert bool(refused(graph.SerializeToString())) == bool(count)
