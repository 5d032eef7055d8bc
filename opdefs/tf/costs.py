"""Cost rules of TensorFlow's operators.

An operator without a rule of its own has the rule of its family, the module of its shape function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from opdefs.tf.dialect import tf
from opdefs.tf.dimension_numbers import read_numbers
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import CostContext, CostRule, OpCost

_OUTSIDE = elements.exclusion("it works on resources outside of the graph: files, queues, tables, devices")
_SPARSE = elements.exclusion("the number of its operations depends on the positions of sparse values")
_RECORDS = elements.exclusion("its work depends on the bytes of its inputs")
_BOXES = elements.exclusion("the number of comparisons depends on data")
_ITERATIVE = elements.exclusion("the number of iterations depends on data")
_UNPUBLISHED = elements.exclusion("no formula is published for it")

_RULES: Sequence[tuple[CostRule, str]] = (
    (elements.elementwise, "bias binary elementwise logic random uniform_quantized"),
    (elements.element_cost(2), "quantize quantized_arithmetic"),
    (elements.input_cost(), "reduction ranking segment counting"),
    (elements.movement, "concat reshape pad diagonals identity sources variables control_flow data_format functional"),
    (elements.movement, "tensor_list tensor_array strings web"),
    (elements.gathering(), "slice gather"),
    (elements.shape_query, "shapes"),
    (_OUTSIDE, "datasets iterators io queues tables state host collectives batching fixed_shapes"),
    (_RECORDS, "parsing proto tokens audio"),
    (_SPARSE, "sparse sparse_parts csr_matrix ragged sets sparse_counts"),
    (_BOXES, "boxes data_dependent"),
    (_ITERATIVE, "linalg"),
    (_UNPUBLISHED, "boosted_trees linear_models sampling training losses images resizing xla xla_windows"),
    (_UNPUBLISHED, "recurrent fractional_pool quantized"),
)
FAMILIES = {f"opdefs.tf.{name}": rule for rule, names in _RULES for name in names.split()}
"""By module of shape functions, the cost rule of its operators that have none of their own."""


def register_families() -> None:
    """Register the rules of families for the operators without a rule of their own, by module name, without imports."""
    registered = tf.costs()
    for key in tf.rule_index:
        module, (domain, op, _) = tf.rule_index.module(key), key
        if module in FAMILIES and (domain, op) not in registered:
            tf.cost(op, domain=domain)(FAMILIES[module])


def _input_position(c: CostContext, name: str) -> int:
    """The position of the input called `name`. Raises NotKnown if one before it is a list."""
    for index, arg in enumerate(c.op_def.inputs):
        if arg.repeated:
            break
        if arg.name == name:
            return index
    raise NotKnown(f"the position of the input {name!r} depends on the number of inputs in a list")


# -- element by element ------------------------------------------------------------------------------------------------

tf.cost("StatelessRandomGetAlg")(elements.shape_query)
tf.cost("AddN", "AccumulateNV2")(elements.operand_cost)
tf.cost("SquaredDifference", "Cross", "XlaKeyValueSort", "XlaSort")(elements.element_cost(2))
tf.cost("Prelu")(elements.elementwise)
tf.cost("Softmax", "LogSoftmax")(elements.softmax)
tf.cost("Cast", "RiscCast", "Complex", "Real", "Imag", "RiscReal", "RiscImag")(elements.movement)
tf.cost("LinSpace", "Range", "DebugNanCount")(elements.elementwise)
tf.cost("LowerBound", "UpperBound")(_BOXES)
tf.cost("OneHot", "ReverseV2", "DynamicStitch", "ParallelDynamicStitch", "DynamicPartition", "Where")(elements.movement)
tf.cost("UnravelIndex")(elements.element_cost(2))
tf.cost("EuclideanNorm")(elements.input_cost(2))
tf.cost("CumulativeLogsumexp")(elements.input_cost(4))
tf.cost("BiasAddGrad")(elements.input_cost())
tf.cost("L2Loss")(elements.input_cost(2))
tf.cost("InTopK", "InTopKV2")(elements.input_cost())
tf.cost("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")(
    elements.input_cost(elements.SOFTMAX + 2)  # with the gradient: a logarithm and a difference
)
tf.cost("Switch", "RefSwitch", "Merge", "RefMerge", "LoopCond", "_SwitchN")(elements.movement)
tf.cost("If", "StatelessIf", "_If", "XlaIf", "Case", "StatelessCase")(elements.body_choice)
tf.cost("SymbolicGradient")(elements.exclusion("it stands for the gradient of a function"))
tf.cost("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")(elements.input_cost(1, 1))
tf.cost("AdjustContrast", "AdjustContrastv2")(elements.element_cost(3))
tf.cost("NoOp", "ControlTrigger", "_Arg", "_DeviceArg", "_Retval", "_DeviceRetval", "XlaOptimizationBarrier")(
    elements.shape_query
)
tf.cost("Assert", "Print", "PrintV2")(elements.shape_query)
tf.cost(
    *("XlaBroadcastHelper", "XlaConcatND", "XlaDynamicSlice", "XlaDynamicUpdateSlice", "XlaPad", "XlaSplitND"),
    "XlaSetDynamicDimensionSize",
)(elements.movement)
tf.cost("SparseToDense", "SparseReshape", "SparseSlice", "SparseConcat", "SparseSplit")(elements.movement)
tf.cost("TensorScatterUpdate", "ScatterUpdate", "ScatterNdUpdate", "ResourceScatterUpdate", "ScatterNd")(
    elements.movement
)
tf.cost("ResourceScatterNdUpdate", "InplaceUpdate")(elements.movement)


def _update_cost(name: str) -> CostRule:
    """One operation for each element of the input called `name`."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.elements(c.input(_input_position(c, name))))

    return cost


def _registered_names(*names: str) -> list[str]:
    """Those of these names that are operators with a rule."""
    return [name for name in names if tf.has_rule("", name)]


_COMBINED = ("Add", "Sub", "Mul", "Div", "Max", "Min")
_SCATTERS = ("Scatter", "ResourceScatter", "ScatterNd", "ResourceScatterNd", "TensorScatter")
tf.cost(*_registered_names(*(f"{scatter}{kind}" for scatter in _SCATTERS for kind in _COMBINED)))(
    _update_cost("updates")
)
tf.cost("ScatterNdNonAliasingAdd")(_update_cost("updates"))
tf.cost("InplaceAdd", "InplaceSub")(_update_cost("v"))

_UPDATES = {"GradientDescent": 2, "Momentum": 4, "KerasMomentum": 4, "Adagrad": 6, "RMSProp": 10, "Adam": 12}
"""By optimizer, the operations for each element of a variable, counted in the formulas of its documentation."""


def update(c: CostContext, each: int) -> OpCost:
    """`each` operations for each element of the gradient, or of `delta` for 2."""
    return OpCost(operations=c.product(each, *c.input(_input_position(c, "delta" if each == 2 else "grad"))))


for _name, _count in _UPDATES.items():
    tf.cost(*_registered_names(*(f"{kind}Apply{_name}" for kind in ("", "Resource", "ResourceSparse", "Sparse"))))(
        partial(update, each=_count)
    )


# -- normalization, pooling, resampling -------------------------------------------------------------------------------


@tf.cost("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx")
def fused_batch_norm(c: CostContext) -> OpCost:
    """A product and a sum for each element; in training, the default, also the statistics."""
    return OpCost(operations=c.product(7 if c.attribute("is_training", True) else 2, *c.input(0)))


tf.cost("BatchNormWithGlobalNormalization", "QuantizedBatchNormWithGlobalNormalization")(elements.element_cost(2))
tf.cost("QuantizedInstanceNorm")(elements.normalization(5, None, None))
tf.cost(
    *("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", "_FusedBatchNormGradEx", "LRNGrad"),
    "BatchNormWithGlobalNormalizationGrad",
)(_UNPUBLISHED)


@tf.cost("LRN")
def local_response(c: CostContext) -> OpCost:
    """A square and a sum over the window for each element, then a product, a sum, a power and a division."""
    return OpCost(operations=c.product(2 * c.integer("depth_radius", 5) + 6, *c.input(0)))


def _window(c: CostContext) -> list[int]:
    """The sizes of the window, from the attribute or the input `ksize`."""
    sizes: Sequence[object] = c.integers("ksize")
    if not sizes:
        sizes = c.contents(next((i for i, arg in enumerate(c.op_def.inputs) if arg.name == "ksize"), 1))
    known = [size for size in sizes if isinstance(size, int)]
    if not known or len(known) != len(sizes):
        raise NotKnown("the size of the window is unknown")
    return known


tf.cost("AvgPool", "AvgPool3D", "MaxPool", "MaxPoolV2", "MaxPool3D", "MaxPoolWithArgmax", "_QuantizedMaxPool3D")(
    elements.pooling(_window)
)
tf.cost("QuantizedAvgPool", "QuantizedMaxPool")(elements.pooling(_window))


def _pool_gradient(name: str) -> CostRule:
    """One operation for each element of the window and of the input called `name`."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(*_window(c), *c.input(_input_position(c, name))))

    return cost


tf.cost("AvgPoolGrad", "AvgPool3DGrad", "MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "MaxPoolGradWithArgmax")(
    _pool_gradient("grad")
)
tf.cost("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad", "MaxPoolGradGradWithArgmax")(
    elements.pooling(_window)
)
tf.cost("FractionalAvgPool", "FractionalMaxPool")(elements.input_cost())
tf.cost("FractionalMaxPoolGrad")(_UNPUBLISHED)

tf.cost("ResizeBilinear", "QuantizedResizeBilinear")(elements.interpolation(elements.spatial_axes, lambda c: 2))
tf.cost("ResizeBicubic")(elements.interpolation(elements.spatial_axes, lambda c: 4))
tf.cost("ResizeNearestNeighbor", "RandomCrop", "ExtractGlimpse", "ExtractGlimpseV2")(elements.movement)
tf.cost("ResizeArea", "ResizeNearestNeighborGrad")(elements.input_cost())


@tf.cost("CropAndResize")
def crop_and_resize(c: CostContext) -> OpCost:
    """Four multiply-accumulates for each element, none for `nearest`."""
    return OpCost(macs=c.product(4, *c.result) if c.text("method", "bilinear") == "bilinear" else 0)


# -- products ----------------------------------------------------------------------------------------------------------


def _operations_after_product(c: CostContext) -> int:
    """The number of operations for each element after a product: a bias, sums, an activation."""
    name = c.op_def.name
    fused = c.attribute("fused_ops", ())
    written = sum(word in name for word in ("WithBias", "Relu", "Sum"))
    return written + (len(fused) if isinstance(fused, tuple) else 0)


def _product_cost(c: CostContext, macs: DimSize) -> OpCost:
    """A product of `macs` multiply-accumulates, and the operations after it."""
    return OpCost(macs=macs, operations=c.product(_operations_after_product(c), *c.result))


def _row_length(c: CostContext, *transposed: str) -> DimSize:
    """The length of the rows of the first operand, which the attributes called `transposed` swap."""
    a = c.input(0)
    return a[-2] if any(c.attribute(name, False) for name in transposed) else a[-1]


@tf.cost("MatMul", "RiscDot", "SparseMatMul", "_FusedMatMul", "QuantizedMatMul")
@tf.cost(*(f"QuantizedMatMulWithBias{rest}" for rest in ("", "AndDequantize", "AndRelu", "AndRequantize")))
@tf.cost("QuantizedMatMulWithBiasAndReluAndRequantize")
def matmul(c: CostContext) -> OpCost:
    """A product of matrices that may be transposed, and the fused operators that the name and `fused_ops` state."""
    return _product_cost(c, c.product(_row_length(c, "transpose_a"), *c.result))


@tf.cost("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(c: CostContext) -> OpCost:
    """Products of matrices that may be adjoint."""
    return products.contraction(c, c.result, _row_length(c, "adj_x"))


@tf.cost("Einsum", "XlaEinsum")
def einsum(c: CostContext) -> OpCost:
    """A single loop over all indices."""
    return products.einsum(c.text("equation"), [c.input(index) for index in range(len(c.types))], c)


tf.cost("UniformQuantizedDot", "UniformQuantizedDotHybrid")(products.matmul())
tf.cost("UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid")(_UNPUBLISHED)


def _numbers(c: CostContext) -> dict[int, list[int]]:
    """The dimension numbers of the operator, by field. Raises NotKnown if they are unreadable."""
    numbers = read_numbers(c.text("dimension_numbers"))
    if numbers is None:
        raise NotKnown("the dimension numbers are unreadable")
    return numbers


@tf.cost("XlaDot", "XlaDotV2")
def xla_dot(c: CostContext) -> OpCost:
    """The product of the contracted sizes for each element."""
    a = c.input(0)
    return OpCost(macs=c.product(*(a[axis] for axis in _numbers(c).get(1, [])), *c.result))


def _filter_macs(c: CostContext, outputs: Shape, kernel: Shape) -> DimSize:
    """The size of a filter [*W, C/groups, K] without its last axis, for each element of the output."""
    return c.product(*kernel[:-1], *outputs)


@tf.cost("Conv2D", "Conv3D", "_FusedConv2D", "_FusedConv3D", "FusedPadConv2D", "FusedResizeAndPadConv2D", "Conv")
@tf.cost("Conv1D")
@tf.cost("QuantizedConv2D", "QuantizedConv2DAndRelu", "QuantizedConv2DAndRequantize", "QuantizedConv2DPerChannel")
@tf.cost("QuantizedConv2DAndReluAndRequantize")
@tf.cost(*(f"QuantizedConv2DWithBias{rest}" for rest in ("", "AndRelu", "AndRequantize", "AndReluAndRequantize")))
@tf.cost(*(f"QuantizedConv2DWithBias{rest}AndRelu{more}" for rest in ("Sum",) for more in ("", "AndRequantize")))
@tf.cost("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize")
def convolution(c: CostContext) -> OpCost:
    """A filter [*W, C/groups, K], and the fused operators that the name and `fused_ops` state."""
    kernel = c.input(_input_position(c, "filter"))
    return _product_cost(c, _filter_macs(c, c.result, kernel))


@tf.cost("DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative", "QuantizedDepthwiseConv2D")
@tf.cost("DepthwiseConv2d", "FusedDepthwiseConv2dNative")
@tf.cost(*(f"QuantizedDepthwiseConv2DWithBias{rest}" for rest in ("", "AndRelu", "AndReluAndRequantize")))
def depthwise_convolution(c: CostContext) -> OpCost:
    """A filter [H, W, C, multiplier]: H*W for each element."""
    return _product_cost(c, c.product(*c.input(1)[:2], *c.result))


@tf.cost("Conv2DBackpropInput", "Conv2DBackpropInputV2", "Conv3DBackpropInput", "Conv3DBackpropInputV2")
def convolution_gradient(c: CostContext) -> OpCost:
    """As the transposed convolution: the filter for each element of the gradient."""
    return OpCost(macs=_filter_macs(c, c.input(2), c.input(1)))


@tf.cost("Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv3DBackpropFilter", "Conv3DBackpropFilterV2")
def filter_gradient(c: CostContext) -> OpCost:
    """The filter, of the shape of the result, for each element of the gradient."""
    return OpCost(macs=_filter_macs(c, c.input(2), c.result))


@tf.cost("DepthwiseConv2dNativeBackpropInput")
def depthwise_gradient(c: CostContext) -> OpCost:
    """As the depthwise convolution, for each element of the gradient."""
    return OpCost(macs=c.product(*c.input(1)[:2], *c.input(2)))


@tf.cost("DepthwiseConv2dNativeBackpropFilter")
def depthwise_filter_gradient(c: CostContext) -> OpCost:
    """As the depthwise convolution, for each element of the gradient."""
    return OpCost(macs=c.product(*c.result[:2], *c.input(2)))


@tf.cost("Dilation2D")
def dilation(c: CostContext) -> OpCost:
    """A sum and a comparison for each element of each window."""
    return OpCost(operations=c.product(2, *c.input(1)[:2], *c.result))


tf.cost("Dilation2DBackpropInput", "Dilation2DBackpropFilter")(_UNPUBLISHED)


@tf.cost("SparseTensorDenseMatMul")
def sparse_matmul(c: CostContext) -> OpCost:
    """A row of the result for each stored value."""
    return OpCost(macs=c.product(c.input(0)[0], c.result[1]))


# -- linear algebra, layers, signals -----------------------------------------------------------------------------------

tf.cost("BatchMatrixInverse", "MatrixInverse")(partial(layers.factorization, thirds=3))
tf.cost("BatchMatrixDeterminant", "MatrixDeterminant", "LogMatrixDeterminant", "Lu")(layers.factorization)
tf.cost("Cholesky", "BatchCholesky", "RiscCholesky")(lambda c: OpCost(macs=c.product(*c.input(0), c.input(0)[-1]) // 6))


@tf.cost("BatchMatrixSolve", "MatrixSolve")
def solve(c: CostContext) -> OpCost:
    """A factorization, and two products with triangular matrices."""
    a = c.input(0)
    return OpCost(macs=c.sum(c.product(*a, a[-1]) // 3, c.product(a[-1], *c.result)))


@tf.cost("BatchMatrixTriangularSolve", "MatrixTriangularSolve", "RiscTriangularSolve")
def triangular_solve(c: CostContext) -> OpCost:
    """A product with a triangular matrix."""
    return OpCost(macs=c.product(c.input(0)[-1], *c.result) // 2)


def _cell(cell: str, steps: Callable[[CostContext], DimSize], weights: Sequence[str]) -> CostRule:
    """A cell with weights [inputs + units, gates*units] for the products of input and state."""

    def cost(c: CostContext) -> OpCost:
        x, state = c.input(_input_position(c, "x")), c.input(_input_position(c, "h_prev"))
        rows = c.product(steps(c), x[-2])
        macs = c.product(rows, c.sum(*(c.elements(c.input(_input_position(c, name))) for name in weights)))
        gates, operations = layers.CELLS[cell]
        return OpCost(macs=macs, operations=c.product(operations + gates, rows, state[1]))

    return cost


tf.cost("LSTMBlockCell")(_cell("LSTM", lambda c: 1, ["w"]))
tf.cost("BlockLSTM", "BlockLSTMV2")(_cell("LSTM", lambda c: c.input(_input_position(c, "x"))[0], ["w"]))
tf.cost("GRUBlockCell")(_cell("GRU", lambda c: 1, ["w_ru", "w_c"]))


@tf.cost(*(f"{batch}{name}{axes}" for batch in ("", "Batch") for name in ("FFT", "IFFT") for axes in ("", "2D", "3D")))
@tf.cost(*(f"{name}{axes}" for name in ("RFFT", "IRFFT") for axes in ("", "2D", "3D")), "RiscFft")
def fourier(c: CostContext) -> OpCost:
    """A transform along each axis, for each of the other elements, on the side with all values."""
    name = c.op_def.name
    real = name.startswith(("RFFT", "IRFFT"))
    values = c.result if name.startswith("IRFFT") else c.input(0)
    count = int(name[-2]) if name.endswith("D") else 1
    terms = []
    for axis in range(len(values) - count, len(values)):
        others = c.product(*(size for i, size in enumerate(values) if i != axis))
        terms.append(layers.transform(c, others, values[axis], real).operations)
    return OpCost(operations=c.sum(*terms))


tf.cost("FFTND", "IFFTND", "IRFFTND", "RFFTND")(elements.exclusion("its axes are the contents of an input"))
tf.cost("XlaGather")(elements.gathering())

register_families()
