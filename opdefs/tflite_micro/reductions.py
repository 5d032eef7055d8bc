"""Reductions, and other kernels with small scratch buffers."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import WORD, elements, is_quantized, number, tflite_micro
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds

REDUCTION, POINTER = 44, 8


@tflite_micro.needs("REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL")
def comparison(c: LiteRtContext) -> MicroNeeds:
    """An index and the axes."""
    return MicroNeeds(1, [REDUCTION], [WORD * len(c.input(0)), WORD * elements(c.input(1))])


@tflite_micro.needs("MEAN", "SUM")
def sum_or_mean(c: LiteRtContext) -> MicroNeeds:
    """An accumulator of integers too."""
    accumulator = [WORD * elements(c.output())] if is_quantized(c) else []
    return MicroNeeds(1, [REDUCTION], [*accumulator, *comparison(c).scratch])


@tflite_micro.needs("MIRROR_PAD")
def mirror_pad(c: LiteRtContext) -> MicroNeeds:
    """The number of elements behind each axis, of input and output."""
    rank = WORD * len(c.input(0))
    return MicroNeeds(4, [20], [rank, rank])


@tflite_micro.needs("ADD_N")
def add_n(c: LiteRtContext) -> MicroNeeds:
    """A pointer to each input."""
    return MicroNeeds(0, [40] if is_quantized(c) else [], [POINTER * len(c.types)])


@tflite_micro.needs("TFLite_Detection_PostProcess", domain="custom")
def detection(c: LiteRtContext) -> MicroNeeds:
    """Boxes, scores, and lists of detections."""
    boxes = number(c.input(0)[1])
    classes, most = c.integer("num_classes", -1), c.integer("max_detections", -1)
    if classes < 0 or most < 0:
        raise NotKnown("the numbers of classes and detections are not known")
    word = WORD * boxes
    scores = WORD * number(*c.input(1)[1:3])
    lists = [word * most, word * most, word, word * most, word * max(classes, most), word * min(boxes, most)]
    return MicroNeeds(0, [112], [boxes, 4 * word, scores, word, word, *lists])
