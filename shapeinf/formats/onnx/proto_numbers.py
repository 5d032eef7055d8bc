"""Numbers of onnx.proto: of fields as `MESSAGE_FIELD`, of values of enumerations as `ENUM_VALUE`.

`onnx` has them too, but importing it takes longer than reading a model; a test compares them.
"""

from typing import Final

MODEL_IR_VERSION: Final = 1
MODEL_PRODUCER_NAME: Final = 2
MODEL_PRODUCER_VERSION: Final = 3
MODEL_GRAPH: Final = 7
MODEL_OPSET_IMPORT: Final = 8
MODEL_METADATA_PROPS: Final = 14
MODEL_FUNCTIONS: Final = 25

PROPERTY_KEY: Final = 1
PROPERTY_VALUE: Final = 2
"""Of a StringStringEntryProto, which entries of external data are too."""

OPSET_DOMAIN: Final = 1
OPSET_VERSION: Final = 2

GRAPH_NODE: Final = 1
GRAPH_NAME: Final = 2
GRAPH_INITIALIZER: Final = 5
GRAPH_INPUT: Final = 11
GRAPH_OUTPUT: Final = 12
GRAPH_VALUE_INFO: Final = 13
GRAPH_SPARSE_INITIALIZER: Final = 15

FUNCTION_NAME: Final = 1
FUNCTION_INPUT: Final = 4
FUNCTION_OUTPUT: Final = 5
FUNCTION_NODE: Final = 7
FUNCTION_OPSET_IMPORT: Final = 9
FUNCTION_DOMAIN: Final = 10
FUNCTION_ATTRIBUTE_PROTO: Final = 11
FUNCTION_VALUE_INFO: Final = 12
FUNCTION_OVERLOAD: Final = 13

NODE_INPUT: Final = 1
NODE_OUTPUT: Final = 2
NODE_NAME: Final = 3
NODE_OP_TYPE: Final = 4
NODE_ATTRIBUTE: Final = 5
NODE_DOMAIN: Final = 7
NODE_OVERLOAD: Final = 8

ATTRIBUTE_NAME: Final = 1
ATTRIBUTE_F: Final = 2
ATTRIBUTE_I: Final = 3
ATTRIBUTE_S: Final = 4
ATTRIBUTE_T: Final = 5
ATTRIBUTE_G: Final = 6
ATTRIBUTE_FLOATS: Final = 7
ATTRIBUTE_INTS: Final = 8
ATTRIBUTE_STRINGS: Final = 9
ATTRIBUTE_DOC_STRING: Final = 13
ATTRIBUTE_TYPE: Final = 20
ATTRIBUTE_REF_ATTR_NAME: Final = 21

KIND_FLOAT: Final = 1
KIND_INT: Final = 2
KIND_STRING: Final = 3
KIND_TENSOR: Final = 4
KIND_FLOATS: Final = 6
KIND_INTS: Final = 7
KIND_STRINGS: Final = 8
"""Of AttributeProto.AttributeType."""

VALUE_NAME: Final = 1
VALUE_TYPE: Final = 2

TYPE_TENSOR: Final = 1
TYPE_SEQUENCE: Final = 4
TYPE_MAP: Final = 5
TYPE_OPAQUE: Final = 7
TYPE_SPARSE_TENSOR: Final = 8
TYPE_OPTIONAL: Final = 9

ELEM_TYPE: Final = 1
"""The element type of a tensor (a code), a sequence and an optional (a TypeProto), and the key type of a map."""

SHAPE_OR_VALUE: Final = 2
"""The shape of a tensor type and the value type of a map type."""

SHAPE_DIM: Final = 1
DIM_VALUE: Final = 1
DIM_PARAM: Final = 2

TENSOR_DIMS: Final = 1
TENSOR_DATA_TYPE: Final = 2
TENSOR_FLOAT_DATA: Final = 4
TENSOR_INT32_DATA: Final = 5
TENSOR_STRING_DATA: Final = 6
TENSOR_INT64_DATA: Final = 7
TENSOR_NAME: Final = 8
TENSOR_RAW_DATA: Final = 9
TENSOR_DOUBLE_DATA: Final = 10
TENSOR_UINT64_DATA: Final = 11
TENSOR_EXTERNAL_DATA: Final = 13
TENSOR_DATA_LOCATION: Final = 14

LOCATION_EXTERNAL: Final = 1
"""Of TensorProto.DataLocation."""
