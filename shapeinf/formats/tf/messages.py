"""The messages of TensorFlow's files: names, numbers and types of their fields.

Source: the `.proto` files of `tensorflow/core`, release 2.21. This table translates the text and JSON forms; the binary
readers have the numbers of their fields in the code. A test compares it with TensorFlow's descriptors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import attrs

from shapeinf.lattice.dtypes import DTYPES

REFERENCE = 100
"""The difference between the code of a type and that of a reference to a variable of this type."""

SCALARS = frozenset(
    {"bool", "bytes", "double", "fixed64", "float", "int32", "int64", "sint64", "string", "uint32", "uint64"}
)
"""The types of fields that are no messages and no enums."""


@attrs.frozen
class Field:
    """One field of a message.

    Args:
        name: its name in the text form.
        number: its number in the binary form.
        kind: one of `SCALARS`, "enum" or "message".
        type: the name of the message or of the enum; empty for scalars.
        repeated: whether it is a list. Lists of numbers are packed in the binary form.
        is_map: whether it is a map: a list of messages with the fields `key` (1) and `value` (2).
    """

    name: str
    number: int
    kind: str
    type: str = ""
    repeated: bool = False
    is_map: bool = False


@attrs.frozen
class MessageType:
    """A message: its fields by name and by number."""

    name: str
    by_name: Mapping[str, Field]
    by_number: Mapping[int, Field]


_MESSAGES = """
SavedModel: 1 saved_model_schema_version int64, 2 meta_graphs MetaGraphDef*
GraphDef: 1 node NodeDef*, 2 library FunctionDefLibrary, 3 version int32, 4 versions VersionDef,
    5 debug_info GraphDebugInfo
VariableDef: 1 variable_name string, 2 initializer_name string, 3 snapshot_name string,
    4 save_slice_info_def SaveSliceInfoDef, 5 is_resource bool, 6 initial_value_name string, 7 trainable bool,
    8 synchronization VariableSynchronization, 9 aggregation VariableAggregation
MetaGraphDef: 1 meta_info_def MetaGraphDef.MetaInfoDef, 2 graph_def GraphDef, 3 saver_def SaverDef,
    4 collection_def {string:CollectionDef}, 5 signature_def {string:SignatureDef}, 6 asset_file_def AssetFileDef*,
    7 object_graph_def SavedObjectGraph
NodeDef: 1 name string, 2 op string, 3 input string*, 4 device string, 5 attr {string:AttrValue},
    6 experimental_debug_info NodeDef.ExperimentalDebugInfo, 7 experimental_type FullTypeDef
VersionDef: 1 producer int32, 2 min_consumer int32, 3 bad_consumers int32*
FunctionDefLibrary: 1 function FunctionDef*, 2 gradient GradientDef*, 3 registered_gradients RegisteredGradient*
GraphDebugInfo: 1 files string*, 2 traces {string:GraphDebugInfo.StackTrace},
    4 frames_by_id {fixed64:GraphDebugInfo.FileLineCol}, 5 name_to_trace_id {string:fixed64},
    6 traces_by_id {fixed64:GraphDebugInfo.StackTrace}
SaveSliceInfoDef: 1 full_name string, 2 full_shape int64*, 3 var_offset int64*, 4 var_shape int64*
MetaGraphDef.MetaInfoDef: 1 meta_graph_version string, 2 stripped_op_list OpList, 3 any_info Any, 4 tags string*,
    5 tensorflow_version string, 6 tensorflow_git_version string, 7 stripped_default_attrs bool,
    8 function_aliases {string:string}
SaverDef: 1 filename_tensor_name string, 2 save_tensor_name string, 3 restore_op_name string, 4 max_to_keep int32,
    5 sharded bool, 6 keep_checkpoint_every_n_hours float, 7 version SaverDef.CheckpointFormatVersion
AssetFileDef: 1 tensor_info TensorInfo, 2 filename string
SavedObjectGraph: 1 nodes SavedObject*, 2 concrete_functions {string:SavedConcreteFunction}
NodeDef.ExperimentalDebugInfo: 1 original_node_names string*, 2 original_func_names string*
FullTypeDef: 1 type_id FullTypeId, 2 args FullTypeDef*, 3 s string, 4 i int64
FunctionDef: 1 signature OpDef, 3 node_def NodeDef*, 4 ret {string:string}, 5 attr {string:AttrValue},
    6 control_ret {string:string}, 7 arg_attr {uint32:FunctionDef.ArgAttrs}, 8 resource_arg_unique_id {uint32:uint32}
GradientDef: 1 function_name string, 2 gradient_func string
RegisteredGradient: 1 gradient_func string, 2 registered_op_type string
OpList: 1 op OpDef*
Any: 1 type_url string, 2 value bytes
CollectionDef: 1 node_list CollectionDef.NodeList, 2 bytes_list CollectionDef.BytesList,
    3 int64_list CollectionDef.Int64List, 4 float_list CollectionDef.FloatList, 5 any_list CollectionDef.AnyList
SignatureDef: 1 inputs {string:TensorInfo}, 2 outputs {string:TensorInfo}, 3 method_name string,
    4 defaults {string:TensorProto}
TensorInfo: 1 name string, 2 dtype DataType, 3 tensor_shape TensorShapeProto, 4 coo_sparse TensorInfo.CooSparse,
    5 composite_tensor TensorInfo.CompositeTensor
SavedObject: 1 children TrackableObjectGraph.TrackableObject.ObjectReference*,
    3 slot_variables TrackableObjectGraph.TrackableObject.SlotVariableReference*, 4 user_object SavedUserObject,
    5 asset SavedAsset, 6 function SavedFunction, 7 variable SavedVariable,
    8 bare_concrete_function SavedBareConcreteFunction, 9 constant SavedConstant, 10 resource SavedResource,
    11 saveable_objects {string:SaveableObject}, 12 captured_tensor CapturedTensor, 13 registered_name string,
    14 serialized_user_proto Any, 15 dependencies TrackableObjectGraph.TrackableObject.ObjectReference*,
    16 registered_saver string
AttrValue: 1 list AttrValue.ListValue, 2 s bytes, 3 i int64, 4 f float, 5 b bool, 6 type DataType,
    7 shape TensorShapeProto, 8 tensor TensorProto, 9 placeholder string, 10 func NameAttrList
OpDef: 1 name string, 2 input_arg OpDef.ArgDef*, 3 output_arg OpDef.ArgDef*, 4 attr OpDef.AttrDef*, 5 summary string,
    6 description string, 8 deprecation OpDeprecation, 16 is_aggregate bool, 17 is_stateful bool,
    18 is_commutative bool, 19 allows_uninitialized_input bool, 20 control_output string*,
    21 is_distributed_communication bool
GraphDebugInfo.FileLineCol: 1 file_index int32, 2 line int32, 3 col int32, 4 func string, 5 code string
GraphDebugInfo.StackTrace: 1 file_line_cols GraphDebugInfo.FileLineCol*, 2 frame_id fixed64*
CollectionDef.NodeList: 1 value string*
CollectionDef.BytesList: 1 value bytes*
CollectionDef.Int64List: 1 value int64*
CollectionDef.FloatList: 1 value float*
CollectionDef.AnyList: 1 value Any*
TensorInfo.CooSparse: 1 values_tensor_name string, 2 indices_tensor_name string, 3 dense_shape_tensor_name string
TensorInfo.CompositeTensor: 1 type_spec TypeSpecProto, 2 components TensorInfo*
TensorShapeProto: 2 dim TensorShapeProto.Dim*, 3 unknown_rank bool
TrackableObjectGraph.TrackableObject.ObjectReference: 1 node_id int32, 2 local_name string
TrackableObjectGraph.TrackableObject.SlotVariableReference: 1 original_variable_node_id int32, 2 slot_name string,
    3 slot_variable_node_id int32
SavedUserObject: 1 identifier string, 2 version VersionDef, 3 metadata string
SavedAsset: 1 asset_file_def_index int32
SavedFunction: 1 concrete_functions string*, 2 function_spec FunctionSpec
SavedVariable: 1 dtype DataType, 2 shape TensorShapeProto, 3 trainable bool,
    4 synchronization VariableSynchronization, 5 aggregation VariableAggregation, 6 name string, 7 device string,
    8 experimental_distributed_variable_components SavedVariable*
SavedBareConcreteFunction: 1 concrete_function_name string, 2 argument_keywords string*,
    3 allowed_positional_arguments int64, 4 function_spec FunctionSpec
SavedConstant: 1 operation string
SavedResource: 1 device string
CapturedTensor: 1 name string, 2 concrete_function string
SavedConcreteFunction: 2 bound_inputs int32*, 3 canonicalized_input_signature StructuredValue,
    4 output_signature StructuredValue
TensorProto: 1 dtype DataType, 2 tensor_shape TensorShapeProto, 3 version_number int32, 4 tensor_content bytes,
    5 float_val float*, 6 double_val double*, 7 int_val int32*, 8 string_val bytes*, 9 scomplex_val float*,
    10 int64_val int64*, 11 bool_val bool*, 12 dcomplex_val double*, 13 half_val int32*,
    14 resource_handle_val ResourceHandleProto*, 15 variant_val VariantTensorDataProto*, 16 uint32_val uint32*,
    17 uint64_val uint64*, 18 float8_val bytes
AttrValue.ListValue: 2 s bytes*, 3 i int64*, 4 f float*, 5 b bool*, 6 type DataType*, 7 shape TensorShapeProto*,
    8 tensor TensorProto*, 9 func NameAttrList*
NameAttrList: 1 name string, 2 attr {string:AttrValue}
OpDef.ArgDef: 1 name string, 2 description string, 3 type DataType, 4 type_attr string, 5 number_attr string,
    6 type_list_attr string, 7 handle_data ResourceHandleProto.DtypeAndShape*, 16 is_ref bool,
    17 experimental_full_type FullTypeDef
OpDef.AttrDef: 1 name string, 2 type string, 3 default_value AttrValue, 4 description string, 5 has_minimum bool,
    6 minimum int64, 7 allowed_values AttrValue
OpDeprecation: 1 version int32, 2 explanation string
FunctionDef.ArgAttrs: 1 attr {string:AttrValue}
TypeSpecProto: 1 type_spec_class TypeSpecProto.TypeSpecClass, 2 type_state StructuredValue,
    3 type_spec_class_name string, 4 num_flat_components int32
TensorShapeProto.Dim: 1 size int64, 2 name string
FunctionSpec: 1 fullargspec StructuredValue, 2 is_method bool, 5 input_signature StructuredValue,
    6 jit_compile FunctionSpec.JitCompile
SaveableObject: 2 save_function int32, 3 restore_function int32
StructuredValue: 1 none_value NoneValue, 11 float64_value double, 12 int64_value sint64, 13 string_value string,
    14 bool_value bool, 31 tensor_shape_value TensorShapeProto, 32 tensor_dtype_value DataType,
    33 tensor_spec_value TensorSpecProto, 34 type_spec_value TypeSpecProto,
    35 bounded_tensor_spec_value BoundedTensorSpecProto, 51 list_value ListValue, 52 tuple_value TupleValue,
    53 dict_value DictValue, 54 named_tuple_value NamedTupleValue, 55 tensor_value TensorProto,
    56 numpy_value TensorProto
ResourceHandleProto: 1 device string, 2 container string, 3 name string, 4 hash_code uint64, 5 maybe_type_name string,
    6 dtypes_and_shapes ResourceHandleProto.DtypeAndShape*
VariantTensorDataProto: 1 type_name string, 2 metadata bytes, 3 tensors TensorProto*
ResourceHandleProto.DtypeAndShape: 1 dtype DataType, 2 shape TensorShapeProto
NoneValue:
TensorSpecProto: 1 name string, 2 shape TensorShapeProto, 3 dtype DataType
BoundedTensorSpecProto: 1 name string, 2 shape TensorShapeProto, 3 dtype DataType, 4 minimum TensorProto,
    5 maximum TensorProto
ListValue: 1 values StructuredValue*
TupleValue: 1 values StructuredValue*
DictValue: 1 fields {string:StructuredValue}
NamedTupleValue: 1 name string, 2 values PairValue*
PairValue: 1 key string, 2 value StructuredValue
"""

_ENUMS = """
VariableSynchronization: 0 VARIABLE_SYNCHRONIZATION_AUTO, 1 VARIABLE_SYNCHRONIZATION_NONE,
    2 VARIABLE_SYNCHRONIZATION_ON_WRITE, 3 VARIABLE_SYNCHRONIZATION_ON_READ
VariableAggregation: 0 VARIABLE_AGGREGATION_NONE, 1 VARIABLE_AGGREGATION_SUM, 2 VARIABLE_AGGREGATION_MEAN,
    3 VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA
SaverDef.CheckpointFormatVersion: 0 LEGACY, 1 V1, 2 V2
FullTypeId: 0 TFT_UNSET, 1 TFT_VAR, 2 TFT_ANY, 3 TFT_PRODUCT, 4 TFT_NAMED, 20 TFT_FOR_EACH, 100 TFT_CALLABLE,
    1000 TFT_TENSOR, 1001 TFT_ARRAY, 1002 TFT_OPTIONAL, 1003 TFT_LITERAL, 1004 TFT_ENCODED, 1005 TFT_SHAPE_TENSOR,
    200 TFT_BOOL, 201 TFT_UINT8, 202 TFT_UINT16, 203 TFT_UINT32, 204 TFT_UINT64, 205 TFT_INT8, 206 TFT_INT16,
    207 TFT_INT32, 208 TFT_INT64, 209 TFT_HALF, 210 TFT_FLOAT, 211 TFT_DOUBLE, 215 TFT_BFLOAT16, 212 TFT_COMPLEX64,
    213 TFT_COMPLEX128, 214 TFT_STRING, 10102 TFT_DATASET, 10103 TFT_RAGGED, 10104 TFT_ITERATOR, 10202 TFT_MUTEX_LOCK,
    10203 TFT_LEGACY_VARIANT
TypeSpecProto.TypeSpecClass: 0 UNKNOWN, 1 SPARSE_TENSOR_SPEC, 2 INDEXED_SLICES_SPEC, 3 RAGGED_TENSOR_SPEC,
    4 TENSOR_ARRAY_SPEC, 5 DATA_DATASET_SPEC, 6 DATA_ITERATOR_SPEC, 7 OPTIONAL_SPEC, 8 PER_REPLICA_SPEC,
    9 VARIABLE_SPEC, 10 ROW_PARTITION_SPEC, 12 REGISTERED_TYPE_SPEC, 13 EXTENSION_TYPE_SPEC
FunctionSpec.JitCompile: 0 DEFAULT, 1 ON, 2 OFF
"""

_FIELD = re.compile(r"(\d+) (\w+) (?:\{(\w+):([\w.]+)\}|([\w.]+)(\*?))")


def message_type(name: str) -> MessageType:
    """The message of this name, such as "NodeDef". Raises KeyError for any other.

    >>> message_type("NodeDef").by_name["input"]
    Field(name='input', number=3, kind='string', type='', repeated=True, is_map=False)
    """
    return _message_types()[name]


def enum_values(name: str) -> Mapping[str, int]:
    """The values of an enum by their names. Raises KeyError for an unknown enum.

    >>> enum_values("DataType")["DT_FLOAT"]
    1
    """
    return _enums()[name]


@cache
def _enums() -> Mapping[str, Mapping[str, int]]:
    enums = {"DataType": _data_types()}
    for name, text in _entries(_ENUMS):
        enums[name] = {value: int(number) for number, value in re.findall(r"(\d+) (\w+)", text)}
    return MappingProxyType(enums)


def _data_types() -> dict[str, int]:
    """The codes of element types, and those of references to them."""
    codes = {f"DT_{dtype.tf[0].upper()}": dtype.tf[1] for dtype in DTYPES if dtype.tf is not None}
    return {"DT_INVALID": 0, **codes, **{f"{name}_REF": code + REFERENCE for name, code in codes.items()}}


@cache
def _message_types() -> Mapping[str, MessageType]:
    tables = {}
    for name, text in _entries(_MESSAGES):
        tables[name] = [_field(name, *match.groups()) for match in _FIELD.finditer(text)]
        for match in _FIELD.finditer(text):
            if match[3]:
                key, value = Field("key", 1, match[3]), _plain("value", 2, match[4], False)
                tables[_entry_name(name, match[2])] = [key, value]
    return MappingProxyType(
        {
            name: MessageType(name, {field.name: field for field in fields}, {field.number: field for field in fields})
            for name, fields in tables.items()
        }
    )


def _entries(table: str) -> list[tuple[str, str]]:
    """The names and definitions of a table: one per line, continued on indented lines."""
    lines = table.strip().replace("\n    ", " ").split("\n")
    return [(name, text) for name, _, text in (line.partition(":") for line in lines)]


def _field(message: str, number: str, name: str, key: str | None, _: str | None, kind: str, stars: str) -> Field:
    if key:
        return Field(name, int(number), "message", _entry_name(message, name), repeated=True, is_map=True)
    return _plain(name, int(number), kind, bool(stars))


def _plain(name: str, number: int, kind: str, repeated: bool) -> Field:
    if kind in SCALARS:
        return Field(name, number, kind, repeated=repeated)
    return Field(name, number, "enum" if kind in _enums() else "message", kind, repeated)


def _entry_name(message: str, field: str) -> str:
    """The name of the message of a map's entries, as protobuf derives it: `NodeDef.AttrEntry`."""
    return f"{message}.{''.join(part.capitalize() for part in field.split('_'))}Entry"
