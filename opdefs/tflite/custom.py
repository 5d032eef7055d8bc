"""Custom operators of LiteRT itself and of MediaPipe."""

from __future__ import annotations

from opdefs.rules.operands import require_vector
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.convolution import BIAS, PoolWindow, pool_2d
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import require_rank_between
from opdefs.tflite.schemas import CUSTOM
from opdefs.tflite.state import declared_sizes
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import DeclaredType
from shapeinf.lattice import Shape
from shapeinf.ops import Ints

SIDES = 4
"""The sides of a box."""

PADDINGS = {1: "SAME", 2: "VALID"}
"""The names of paddings by their numbers in structs of LiteRT."""


@tflite("TFLite_Detection_PostProcess", domain=CUSTOM)
def detection_post_process(
    c: TensorFlowContext,
    boxes: Shape,
    scores: Shape,
    anchors: Shape,
    *,
    max_detections: int = 0,
    max_classes_per_detection: int = 0,
    num_classes: int = 0,
) -> tuple[Shape, ...]:
    """[1, A, 4 or more], [1, A, classes], [A, 4] -> boxes [1, N, 4], classes [1, N], scores [1, N], number [1]."""
    batch, count, sides = c.require_rank(boxes, 3, "the boxes")
    items, others, classes = c.require_rank(scores, 3, "the scores")
    c.require_rank(anchors, 2, "the anchors")
    c.at_least(sides, SIDES, "a box must have four sides or more")
    for size in (batch, items):
        c.merge(size, 1, "the kernel processes a single image")
    c.merge(others, count, "each box must have scores")
    c.at_least(classes, num_classes, "the scores must have all classes")
    if min(max_detections, max_classes_per_detection) < 0 or num_classes < 1:
        c.fail("the numbers of detections and classes must be positive", max_detections, num_classes)
    total = max_detections * max_classes_per_detection
    return Shape((1, total, SIDES)), Shape((1, total)), Shape((1, total)), Shape((1,))


@tflite("AudioSpectrogram", domain=CUSTOM)
def audio_spectrogram(c: TensorFlowContext, x: Shape, *, window_size: int = 0, stride: int = 0) -> Shape:
    """[samples, channels] -> [channels, windows, frequencies]: half of the next power of two, and one."""
    samples, channels = c.require_rank(x, 2)
    if window_size < 2 or stride < 1:
        c.fail("window_size must be at least 2, and stride at least 1", window_size, stride)
    frequencies = (1 << (window_size - 1).bit_length()) // 2 + 1
    windows = maximum((samples - window_size) // stride + 1, 0)
    return Shape((channels, windows, frequencies))


@tflite("Mfcc", domain=CUSTOM)
def mfcc(c: TensorFlowContext, spectrogram: Shape, rate: Shape, *, dct_coefficient_count: int = 0) -> Shape:
    """[channels, windows, frequencies], [1] -> [channels, windows, coefficients]."""
    channels, windows, _ = c.require_rank(spectrogram, 3, "the spectrogram")
    return Shape((channels, windows, dct_coefficient_count))


# -- MediaPipe ---------------------------------------------------------------------------------------------------------


def _numbers(c: TensorFlowContext, options: Ints, count: int) -> list[int]:
    """The first numbers of a struct of int32."""
    if len(options) < 4 * count:
        c.fail(f"the options must have {count} numbers", len(options))
    return [int.from_bytes(bytes(options[4 * i : 4 * i + 4]), "little", signed=True) for i in range(count)]


def _pool_window(c: TensorFlowContext, options: Ints) -> PoolWindow:
    """The options of pooling in a struct."""
    padding, stride_w, stride_h, width, height = _numbers(c, options, 5)
    return PoolWindow(PADDINGS.get(padding, ""), stride_w, stride_h, width, height)


@tflite("MaxPoolingWithArgmax2D", domain=CUSTOM)
def max_pooling_with_argmax(c: TensorFlowContext, x: Shape, *, custom_options: Ints = ()) -> tuple[Shape, Shape]:
    """[N, H, W, C] -> [N, H', W', C], and the positions of the largest elements."""
    pooled = pool_2d(c, x, window=_pool_window(c, custom_options))
    return pooled, pooled


@tflite("MaxUnpooling2D", domain=CUSTOM)
def max_unpooling(c: TensorFlowContext, x: Shape, indices: Shape, *, custom_options: Ints = ()) -> Shape:
    """[N, H, W, C], positions -> [N, H * height, W * width, C]."""
    batch, height, width, channels = c.require_rank(x, 4)
    c.require_rank(indices, 4, "the positions")
    window = _pool_window(c, custom_options)
    return Shape((batch, height * window.filter_height, width * window.filter_width, channels))


@tflite("Convolution2DTransposeBias", domain=CUSTOM)
def transpose_conv_bias(
    c: TensorFlowContext, x: Shape, weights: Shape, bias: Shape, *, custom_options: Ints = ()
) -> Shape:
    """[N, H, W, C], [M, h, w, C], [M] -> [N, H', W', M]: the windows of a transposed convolution, cropped for SAME."""
    batch, height, width, channels = c.require_rank(x, 4)
    outputs, h, w, depth = c.require_rank(weights, 4, "the filter")
    c.merge(channels, depth, "the input must have the channels of the filter")
    require_vector(c, bias, outputs, BIAS)
    padding, stride_w, stride_h = _numbers(c, custom_options, 3)
    if min(stride_w, stride_h) < 1:
        c.fail("strides must be at least 1", stride_w, stride_h)
    is_same = PADDINGS.get(padding) == "SAME"
    rows, columns = _grown(height, h, stride_h, is_same), _grown(width, w, stride_w, is_same)
    return Shape((batch, rows, columns, outputs))


def _grown(size: DimSize, kernel: DimSize, stride: int, is_same: bool) -> DimSize:
    """The size of an axis that so many windows cover, without a crop for SAME padding."""
    full = (size - 1) * stride + kernel
    return full - maximum(kernel - (size - 1) % stride - 1, 0) if is_same else full


@tflite("Landmarks2TransformMatrix", domain=CUSTOM)
def landmarks_to_matrix(c: TensorFlowContext, landmarks: Shape) -> Shape:
    """Landmarks -> [1, 4, 4]."""
    require_rank_between(c, landmarks, 3, 4, "the landmarks")
    return Shape((1, 4, 4))


@tflite("TransformLandmarks", domain=CUSTOM)
def transform_landmarks(c: TensorFlowContext, landmarks: Shape, matrix: Shape) -> Shape:
    """Landmarks [*S], a matrix -> [*S]."""
    return landmarks


@tflite("TransformTensor", "TransformTensorBilinear", domain=CUSTOM)
def transform_tensor(
    c: TensorFlowContext, x: Shape, matrix: Shape, *, output_shapes: tuple[DeclaredType, ...] = ()
) -> Shape:
    """[N, H, W, C], a matrix -> an image whose sizes are those of the output in the file."""
    c.require_rank(x, 4)
    return declared_sizes(c, output_shapes)
