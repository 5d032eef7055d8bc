"""Images, boxes, audio."""

import io
import struct
import wave
import zlib

import numpy as np

from tests.differential.tf.case import Case, Runtime

IMAGE = "float32[2, 7, 9, 3]"
SIZE = np.array([5, 11], np.int32)


def png(height, width):
    """A gray image, one byte a pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(width) for _ in range(height))
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return np.array(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts), object)


def bmp(height, width):
    """A color image, rows padded to 4 bytes."""
    row = bytes(width * 3 + -width * 3 % 4)
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(row) * height, 0, 0, 0, 0)
    data = header + row * height
    return np.array(b"BM" + struct.pack("<IHHI", 14 + len(data), 0, 0, 54) + data, object)


def gif():
    """One pixel."""
    text = "47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b"
    return np.array(bytes.fromhex(text), object)


def wav(samples, channels):
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        writer.writeframes(bytes(2 * samples * channels))
    return np.array(file.getvalue(), object)


def resizes():
    for op in ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"):
        for sized in (SIZE, Runtime(SIZE)):
            yield Case(op, (IMAGE, sized), {"align_corners": True}, isinstance(sized, Runtime))
        yield Case(op, ("float32[0, 7, 9, 1]", SIZE))
    yield Case("ResizeNearestNeighborGrad", (IMAGE, SIZE))
    for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
        yield Case(op, ("float32[2, 5, 11, 3]", IMAGE), {"half_pixel_centers": True})
        yield Case(op, ("float32[2, 5, 11, 3]", "float32[4, 7, 9, 1]"))
    factors = ("float32[2]", "float32[2]")
    yield Case("ScaleAndTranslate", (IMAGE, SIZE, *factors))
    yield Case("ScaleAndTranslate", (IMAGE, Runtime(SIZE), *factors), {"kernel_type": "box"}, True)
    yield Case("ScaleAndTranslateGrad", ("float32[2, 5, 11, 3]", IMAGE, *factors))
    nearest = {"interpolation": "NEAREST"}
    for batch in (1, 2):
        yield Case("ImageProjectiveTransformV2", (IMAGE, f"float32[{batch}, 8]", SIZE), nearest)
        yield Case("ImageProjectiveTransformV3", (IMAGE, f"float32[{batch}, 8]", SIZE, "float32[]"), nearest)
    boxes, indices = "float32[4, 4]", np.zeros(4, np.int32)
    yield Case("CropAndResize", (IMAGE, boxes, indices, SIZE))
    yield Case("CropAndResize", (IMAGE, boxes, Runtime(indices), Runtime(SIZE)), {"method": "nearest"}, True)
    yield Case("CropAndResize", (IMAGE, "float32[0, 4]", np.zeros(0, np.int32), SIZE))
    shape = np.array([2, 7, 9, 3], np.int32)
    crops = "float32[4, 5, 11, 3]"
    yield Case("CropAndResizeGradImage", (crops, boxes, indices, shape), {"T": "float32"})
    yield Case("CropAndResizeGradImage", (crops, boxes, indices, Runtime(shape)), {"T": "float32"}, True)
    yield Case("CropAndResizeGradBoxes", (crops, IMAGE, boxes, indices))
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        yield Case(op, (IMAGE, SIZE, "float32[2, 2]"))
        yield Case(op, (IMAGE, Runtime(SIZE), "float32[2, 2]"), {"centered": False}, True)
    yield Case("QuantizedResizeBilinear", ("float32[2, 7, 9, 3]", SIZE, "float32[]", "float32[]"))


def codecs():
    for channels in (0, 1, 3, 4):
        for op in ("DecodePng", "DecodeImage"):
            yield Case(op, (Runtime(png(5, 7)),), {"channels": channels}, True, op == "DecodePng")
        still = {"channels": channels, "expand_animations": False}
        yield Case("DecodeImage", (Runtime(png(5, 7)),), still, True)
    for channels in (0, 3):
        yield Case("DecodeBmp", (Runtime(bmp(5, 7)),), {"channels": channels}, True)
    yield Case("DecodePng", (Runtime(png(1, 9)),), {"dtype": "uint16"}, True)
    yield Case("DecodeGif", (Runtime(gif()),), {}, True)
    yield Case("DecodeImage", (Runtime(gif()),), {}, True, False)
    yield Case("EncodePng", ("uint8[5, 7, 3]",))
    yield Case("EncodePng", ("uint8[2, 3, 5, 7, 1]",))
    yield Case("EncodePng", ("uint16[2, 5, 7, 4]",))
    yield Case("EncodeJpeg", ("uint8[5, 7, 3]",))
    yield Case("EncodeJpeg", ("uint8[5, 7, 1]",), {"quality": 50})
    yield Case("EncodeJpegVariableQuality", ("uint8[5, 7, 3]", np.array(50, np.int32)))
    for samples, channels in ((-1, -1), (70, 1), (30, 2)):
        wanted = {"desired_samples": samples, "desired_channels": channels}
        yield Case("DecodeWav", (Runtime(wav(50, 2)),), wanted, True)
    yield Case("EncodeWav", ("float32[50, 2]", np.array(8000, np.int32)))


def colors():
    for op in ("RGBToHSV", "HSVToRGB"):
        for shape in ("[2, 7, 9, 3]", "[4, 3]", "[3]", "[0, 3]"):
            yield Case(op, (f"float32{shape}",))
    for op in ("AdjustHue", "AdjustSaturation"):
        for shape in ("[2, 7, 9, 3]", "[7, 9, 3]", "[4, 2, 7, 9, 3]"):
            yield Case(op, (f"float32{shape}", "float32[]"))
    for shape in ("[2, 7, 9, 3]", "[7, 9, 4]", "[4, 2, 7, 9, 1]"):
        yield Case("AdjustContrastv2", (f"float32{shape}", "float32[]"))


def boxes():
    candidates = ("float32[6, 4]", "float32[6]")
    half, none = np.array(0.5, np.float32), np.array(-1.0, np.float32)
    for count in (3, 10):
        limit = np.array(count, np.int32)
        for size in (limit, Runtime(limit)):
            yield Case("NonMaxSuppression", (*candidates, size), {"iou_threshold": 0.9}, True)
            yield Case("NonMaxSuppressionV2", (*candidates, size, half), {}, True)
            yield Case("NonMaxSuppressionV3", (*candidates, size, half, none), {}, True)
            yield Case("NonMaxSuppressionWithOverlaps", ("float32[6, 6]", "float32[6]", size, half, none), {}, True)
            for pad in (False, True):
                padding = {"pad_to_max_output_size": pad}
                is_data = not pad or isinstance(size, Runtime)
                yield Case("NonMaxSuppressionV4", (*candidates, size, half, none), padding, is_data)
                zero = np.array(0.0, np.float32)
                yield Case("NonMaxSuppressionV5", (*candidates, size, half, none, zero), padding, is_data)
    for classes in (1, 3):
        operands = (f"float32[2, 6, {classes}, 4]", "float32[2, 6, 3]")
        sizes = np.array(4, np.int32), np.array(20, np.int32)
        for pad in (False, True):
            padding = {"pad_per_class": pad}
            yield Case("CombinedNonMaxSuppression", (*operands, *sizes, half, none), padding)
            yield Case("CombinedNonMaxSuppression", (*operands, *map(Runtime, sizes), half, none), padding, True)
    yield Case("DrawBoundingBoxes", (IMAGE, "float32[2, 5, 4]"))
    yield Case("DrawBoundingBoxes", ("float32[1, 7, 9, 4]", "float32[1, 0, 4]"))
    yield Case("DrawBoundingBoxesV2", (IMAGE, "float32[2, 5, 4]", "float32[6, 3]"))
    size = np.array([20, 30, 3], np.int32)
    sample = {"use_image_if_no_bounding_boxes": True}
    yield Case("SampleDistortedBoundingBox", (size, "float32[1, 0, 4]"), sample)
    yield Case("SampleDistortedBoundingBoxV2", (size, "float32[1, 0, 4]", half), sample)
    seed = np.array([1, 2], np.int32)
    yield Case("StatelessSampleDistortedBoundingBox", (size, "float32[1, 0, 4]", half, seed), sample)


def audio():
    for samples, window, stride in ((100, 30, 7), (20, 30, 7), (100, 32, 8), (101, 2, 1), (29, 30, 30), (0, 4, 2)):
        attributes = {"window_size": window, "stride": stride}
        yield Case("AudioSpectrogram", (f"float32[{samples}, 2]",), attributes)
    yield Case("Mfcc", ("float32[2, 5, 129]", np.array(16000, np.int32)))
    yield Case("Mfcc", ("float32[1, 3, 257]", np.array(16000, np.int32)), {"dct_coefficient_count": 7})
    yield Case("Mfcc", ("float32[2, 0, 129]", np.array(16000, np.int32)))


CASES = [*resizes(), *codecs(), *colors(), *boxes(), *audio()]
