"""Temporaries of other operators on 8-bit integers."""

from __future__ import annotations

from opdefs.onnxruntime.elementwise import selected_sides
from opdefs.onnxruntime.kernels import MS, onnxruntime
from opdefs.onnxruntime.normalization import transposed_softmax
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

onnxruntime.none("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger")
onnxruntime.none(
    *("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool", "QLinearConcat"),
    *("MatMulIntegerToFloat", "QuantizeLinear", "DequantizeLinear"),
    domain=MS,
)
Y_SCALE = 7


@onnxruntime.scratch("QLinearMatMul")
def quantized_matmul(c: KernelContext) -> Scratch:
    """The result as int32."""
    return Scratch([c.product(4, *c.result)])


@onnxruntime.scratch("QGemm", domain=MS)
def quantized_gemm(c: KernelContext) -> Scratch:
    """The result as int32, if it is quantized again; a transposed weight that is not repacked."""
    result = [c.product(4, *c.result)] if c.has_input(Y_SCALE) else []
    is_packed = 3 in c.constants and c.options.prepacking
    return Scratch([*result, *([c.input_bytes(3)] if c.integer("transB") and not is_packed else [])])


@onnxruntime.scratch("DynamicQuantizeMatMul", domain=MS)
def dynamic_matmul(c: KernelContext) -> Scratch:
    """The quantized first operand, before the output is allocated and while it is computed."""
    return Scratch([c.product(*c.input(0))], first=True)


@onnxruntime.scratch("QLinearWhere", domain=MS)
def quantized_select(c: KernelContext) -> Scratch:
    """As of Where: condition, x with scale and zero point, y with scale and zero point."""
    return selected_sides(c, 1, 4)


@onnxruntime.scratch("QLinearSoftmax", domain=MS)
def quantized_softmax(c: KernelContext) -> Scratch:
    """As of Softmax from the version 13 on."""
    if c.integer("opset") < 13:
        raise NotKnown("the temporaries of the softmax of flattened axes were not measured")
    return transposed_softmax(c, c.integer("axis", -1))
