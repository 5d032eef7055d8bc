"""Write `opdefs/tflite/schemas.txt`: the builtin operators of TensorFlow Lite and the fields of their options.

Run it with a Python that has `ai-edge-litert`, after a new release of it:

    python tools/make_tflite_schemas.py

The readers that the FlatBuffers compiler generated from LiteRT's schema have names, slots, types and defaults of the
fields. They have neither the enumeration of a field nor the table of an operator: `ENUMS` and `TABLES` below are those
of `schema.fbs` and of the conversions in LiteRT's `flatbuffer_conversions.cc`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

PATH = Path(__file__).resolve().parent.parent / "opdefs" / "tflite" / "schemas.txt"

ENUMS = {
    "fused_activation_function": "ActivationFunctionType",
    "padding": "Padding",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "kernel_type": "LSTMKernelType",
    "combiner": "CombinerType",
    "mode": "MirrorPadMode",
    "precision_config": "StablehloPrecisionConfig",
    "comparison_direction": "StablehloComparisonDirection",
    "compare_type": "StablehloComparisonType",
    "algorithm": "RngAlgorithm",
    "reduce_function": "ReduceWindowFunction",
    "composite_attributes_format": "CustomOptionsFormat",
    "LSHProjectionOptions.type": "LSHProjectionType",
}
"""The enumerations of fields, by name or by table and name."""

ELEMENT_TYPES = ("in_data_type", "out_data_type", "out_type", "output_type", "idx_out_type", "key_dtype")
ELEMENT_TYPES = (*ELEMENT_TYPES, "value_dtype", "quantized_bias_type")
"""The fields that are element types."""

_POOL = ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
_REDUCTIONS = ("SUM", "MEAN", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL")
TABLES = {
    **dict.fromkeys(_POOL, "Pool2DOptions"),
    **dict.fromkeys(_REDUCTIONS, "ReducerOptions"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimumOptions"),
    **dict.fromkeys(("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"), "RandomOptions"),
    **dict.fromkeys(("UNIDIRECTIONAL_SEQUENCE_RNN",), "SequenceRNNOptions"),
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "ATAN2": "ATan2Options",
    "PADV2": "PadV2Options",
    "RELU_N1_TO_1": "",
    "STABLEHLO_COMPOSITE": "StableHLOCompositeOptions",
}
"""The options of operators whose tables have other names; most are called as their operators."""

WITHOUT_TABLE = frozenset({"CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"})

_METHOD = re.compile(r"    def (\w+)\(self(?:, j)?\):\n((?:        .*\n)+)")
_KINDS = {
    **{f"{sign}nt{bits}": "int" for sign in ("I", "Ui") for bits in (8, 16, 32, 64)},
    **{"Bool": "bool", "Float32": "float", "Float64": "float"},
}


def main() -> None:
    """Write the table."""
    from ai_edge_litert import schema_py_generated as schema

    lines = [*head(), "", "[enums]", *enum_lines(schema), "", "[tables]"]
    for number, union in enumerate(("BuiltinOptions", "BuiltinOptions2"), 1):
        lines += [f"{number}.{code} {table}{fields(schema, table)}" for table, code in members(getattr(schema, union))]
    operators = list(operator_lines(schema))
    lines += ["", "[operators]", *operators]
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(operators)} operators in {PATH.name}")


def head() -> list[str]:
    """The description of the file."""
    return [
        f"# The operators of TensorFlow Lite, of ai-edge-litert {version('ai-edge-litert')};"
        " made by tools/make_tflite_schemas.py.",
        "#",
        "# [enums]: the names of the numbers 0, 1 ... of an enumeration.",
        "# [tables]: number of the union and code in it, name, and the fields in the order of their slots, each as",
        "# name:wire=default. The wire type is int8, uint8, uint32, int32, int64, float32, bool or string. A vector",
        "# has [] behind it. An enumeration, `type` (codes of element types) or `subgraph` (an index) follows a",
        "# slash. A slot that is no longer used is `-`.",
        "# [operators]: code, name, and the table of the options.",
    ]


def members(enumeration: type) -> list[tuple[str, int]]:
    """The names and numbers of an enumeration, without NONE of a union."""
    items = [(name, value) for name, value in vars(enumeration).items() if type(value) is int]
    return [item for item in items if not (enumeration.__name__.startswith("BuiltinOptions") and item[0] == "NONE")]


def enum_lines(schema: ModuleType) -> Iterator[str]:
    """The line of each enumeration."""
    for name in sorted(set(ENUMS.values())):
        listed = members(getattr(schema, name))
        assert [value for _, value in listed] == list(range(len(listed))), name
        yield f"{name} {' '.join(text for text, _ in listed)}"


def fields(schema: ModuleType, table: str) -> str:
    """The fields of a table."""
    slots: dict[int, str] = {}
    source = inspect.getsource(getattr(schema, table))
    for name, body in _METHOD.findall(source):
        offset = re.search(r"self\._tab\.Offset\((\d+)\)", body)
        if offset and not re.search(r"(AsNumpy|Length|IsNone)$", name):
            slots[(int(offset[1]) - 4) // 2] = field(table, _snake(name), body)
    return "".join(f" {slots.get(slot, '-')}" for slot in range(max(slots, default=-1) + 1))


def _snake(name: str) -> str:
    """`stride_w` for `StrideW`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def field(table: str, name: str, body: str) -> str:
    """One field."""
    wire = re.search(r"number_types\.(\w+)Flags, (?:a|o)\b", body)
    kind = wire[1].lower() if wire else "string"
    assert wire or "_tab.String(" in body, (table, name)
    vector = "[]" if "_tab.Vector(" in body else ""
    default = re.findall(r"return (\S+)$", body, re.MULTILINE)[-1]
    meaning = ENUMS.get(f"{table}.{name}", ENUMS.get(name, ""))
    meaning = "type" if name in ELEMENT_TYPES else meaning
    meaning = "subgraph" if "subgraph" in name else meaning
    if kind == "int64" or (vector and meaning == "Padding"):  # the padding of a window, and not its kind
        meaning = ""
    shown = "" if vector or default in ("0", "0.0", "False", "None") else f"={default}"
    return f"{name}:{kind}{vector}{'/' + meaning if meaning else ''}{shown}"


def operator_lines(schema: ModuleType) -> Iterator[str]:
    """The line of each operator."""
    unions = (schema.BuiltinOptions, schema.BuiltinOptions2)
    tables = {_plain(name): name for union in unions for name, _ in members(union)}
    for name, code in members(schema.BuiltinOperator):
        if name not in WITHOUT_TABLE:
            table = TABLES.get(name, tables.get(_plain(name + "OPTIONS"), ""))
            yield f"{code} {name} {table}".rstrip()


def _plain(name: str) -> str:
    """A name in capitals without underscores, as which operators and tables are compared."""
    return name.upper().replace("_", "")


if __name__ == "__main__":
    main()
