"""XlaCallModule, the operator of jax2tf: the shapes in its attribute, as TensorFlow's shape function has them."""

import pytest

from shapeinf import infer_shapes

CALL = """
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } }
    node { name: "y" op: "XlaCallModule" input: "x"
           attr { key: "Tin" value { list { type: DT_FLOAT } } }
           attr { key: "Tout" value { list { type: DT_FLOAT type: DT_INT64 type: DT_BOOL type: DT_BFLOAT16 } } }
           attr { key: "version" value { i: 9 } } attr { key: "module" value { s: "" } }
           attr { key: "Sout" value { list { SHAPES } } } }
    versions { producer: 2474 }
"""
OPEN = "shape { dim { size: -1 } dim { size: 5 } } "
TABLE = [
    (
        f"{OPEN} shape {{}} shape {{ unknown_rank: true }} {OPEN}",
        [("float32", [None, 5]), ("int64", []), ("bool", None), ("bfloat16", [None, 5])],
    ),
    (
        "shape { dim { size: 2 } }",
        [("float32", [2]), ("int64", None), ("bool", None), ("bfloat16", None)],
    ),
]
"""The shapes in the attribute, perhaps fewer than outputs, and what TensorFlow 2.21 infers."""


@pytest.mark.parametrize(("shapes", "recorded"), TABLE)
def test_outputs_have_the_shapes_of_the_attribute(shapes, recorded):
    result = infer_shapes(CALL.replace("SHAPES", shapes))
    assert not result.diagnostics
    for index, (dtype, dims) in enumerate(recorded):
        info = result.tensors[f"y:{index}"]
        assert info.dtype == dtype
        known = info.shape.dims and [d if isinstance(d, int) else None for d in info.shape.dims]
        assert (known if dims is None else list(known)) == dims


def test_sizes_that_the_attribute_leaves_open_are_not_related():
    result = infer_shapes(CALL.replace("SHAPES", TABLE[0][0]))
    batch, first, second = (result.tensors[name].shape[0] for name in ("x:0", "y:0", "y:3"))
    assert len({batch, first, second}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("shapes", "recorded"), TABLE)
def test_the_shapes_are_those_of_tensorflow(shapes, recorded):
    tensorflow = pytest.importorskip("tensorflow")
    from google.protobuf import text_format

    graph_def = text_format.Parse(CALL.replace("SHAPES", shapes), tensorflow.compat.v1.GraphDef())
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(graph_def, name="")
    for output, (dtype, dims) in zip(graph.get_operation_by_name("y").outputs, recorded, strict=True):
        assert output.dtype.name == dtype
        assert (None if output.shape.rank is None else output.shape.as_list()) == dims
