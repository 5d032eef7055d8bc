"""OpDefs of the operators of TensorFlow.js that TensorFlow does not have.

Its converter writes Prelu and FusedDepthwiseConv2dNative in place of the operators that it fuses; its executor also
knows Conv1D, DepthwiseConv2d, Ones and Zeros. Source: the operators that tfjs-converter lists.
"""

from __future__ import annotations

from shapeinf.ops import ArgDef, AttrDef, OpDef

_INPUTS = (ArgDef("input", type_attr="T"), ArgDef("filter", type_attr="T"))
_PADDING = AttrDef("padding", "string", required=True)


def _op_def(name: str, inputs: tuple[ArgDef, ...], *attributes: AttrDef) -> OpDef:
    """An operator with one output, of the element type T."""
    listed = {attribute.name: attribute for attribute in (AttrDef("T", "type"), *attributes)}
    return OpDef(name, "tf", inputs=inputs, outputs=(ArgDef("output", type_attr="T"),), attributes=listed)


def _default(name: str, kind: str, value: object) -> AttrDef:
    """An attribute with a default."""
    return AttrDef(name, kind, value, has_default=True)


_DEPTHWISE = (
    AttrDef("strides", "list(int)", required=True),
    _PADDING,
    _default("explicit_paddings", "list(int)", ()),
    _default("data_format", "string", "NHWC"),
    _default("dilations", "list(int)", (1, 1, 1, 1)),
)

WEB: dict[str, OpDef] = {
    op_def.name: op_def
    for op_def in (
        _op_def("Prelu", (ArgDef("x", type_attr="T"), ArgDef("alpha", type_attr="T"))),
        _op_def(
            "Conv1D",
            _INPUTS,
            AttrDef("stride", "int", required=True),
            _PADDING,
            _default("data_format", "string", "NWC"),
            _default("dilation", "int", 1),
        ),
        _op_def("DepthwiseConv2d", _INPUTS, *_DEPTHWISE),
        _op_def(
            "FusedDepthwiseConv2dNative",
            (*_INPUTS, ArgDef("args", type_attr="T", variadic=True)),
            *_DEPTHWISE,
            _default("fused_ops", "list(string)", ()),
            _default("num_args", "int", 0),
            _default("epsilon", "float", 0.0001),
            _default("leakyrelu_alpha", "float", 0.2),
        ),
        *(_op_def(name, (ArgDef("shape"),)) for name in ("Ones", "Zeros")),
    )
}
"""The OpDefs by name."""
