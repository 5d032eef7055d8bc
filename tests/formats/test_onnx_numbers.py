"""The numbers of onnx.proto that the scanner has written out are those of the installed onnx."""

import onnx
import pytest

from shapeinf.formats.onnx import proto_numbers

MESSAGES = {
    "MODEL": onnx.ModelProto,
    "PROPERTY": onnx.StringStringEntryProto,
    "OPSET": onnx.OperatorSetIdProto,
    "GRAPH": onnx.GraphProto,
    "FUNCTION": onnx.FunctionProto,
    "NODE": onnx.NodeProto,
    "ATTRIBUTE": onnx.AttributeProto,
    "VALUE": onnx.ValueInfoProto,
    "SHAPE": onnx.TensorShapeProto,
    "TENSOR": onnx.TensorProto,
}
TYPES = onnx.TypeProto
SPECIAL = {  # the names are shorter than those of the fields, or stand for several
    "DIM_VALUE": [(onnx.TensorShapeProto.Dimension, "dim_value")],
    "DIM_PARAM": [(onnx.TensorShapeProto.Dimension, "dim_param")],
    "ELEM_TYPE": [
        (TYPES.Tensor, "elem_type"),
        (TYPES.SparseTensor, "elem_type"),
        (TYPES.Sequence, "elem_type"),
        (TYPES.Optional, "elem_type"),
        (TYPES.Map, "key_type"),
    ],
    "SHAPE_OR_VALUE": [(TYPES.Tensor, "shape"), (TYPES.SparseTensor, "shape"), (TYPES.Map, "value_type")],
}
NAMES = [name for name in vars(proto_numbers) if name.isupper()]


def expected(name):
    message, _, field = name.partition("_")
    if message == "KIND":
        return {onnx.AttributeProto.AttributeType.Value(field)}
    if message == "LOCATION":
        return {onnx.TensorProto.DataLocation.Value(field)}
    if message == "TYPE":
        fields = [(TYPES, f"{field.lower()}_type")]
    else:
        fields = SPECIAL.get(name) or [(MESSAGES[message], field.lower())]
    return {owner.DESCRIPTOR.fields_by_name[key].number for owner, key in fields}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_fields_and_enumerations(name):
    if name == "TYPE_OPAQUE" and "opaque_type" not in TYPES.DESCRIPTOR.fields_by_name:
        pytest.skip("onnx was built without ML types")
    assert expected(name) == {getattr(proto_numbers, name)}
