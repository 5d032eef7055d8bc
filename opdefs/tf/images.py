"""Images: encoding, decoding, colors."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value

MAX_CHANNELS = 4


def _decoded_channels(c: TensorFlowContext, contents: Shape, channels: int) -> DimSize:
    """The number of channels of a decoded image; for a request of 0, that of the file, an unknown."""
    c.with_rank(contents, 0)
    if channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    return channels or c.fresh("channels", 1, MAX_CHANNELS)


@tf("DecodeJpeg", "DecodePng", "DecodeBmp", "DecodeJxl")
def decode_image_file(c: TensorFlowContext, contents: Shape, *, channels: int = 0) -> Shape:
    """[] -> [height, width, channels]."""
    depth = _decoded_channels(c, contents, channels)
    return Shape((c.fresh("height"), c.fresh("width"), depth))


@tf("DecodeWebP")
def decode_web_p(c: TensorFlowContext, contents: Shape, *, channels: int = 0) -> Shape:
    """[] -> [frames, height, width, channels]."""
    return Shape((c.fresh("frames"), *decode_image_file(c, contents, channels=channels)))


@tf("DecodeGif")
def decode_gif(c: TensorFlowContext, contents: Shape) -> Shape:
    """[] -> [frames, height, width, 3]."""
    return decode_web_p(c, contents, channels=3)


@tf("DecodeImage")
def decode_image(c: TensorFlowContext, contents: Shape, *, channels: int = 0, expand_animations: bool = True) -> Shape:
    """[] -> [height, width, channels]; of unknown rank with `expand_animations`, which adds an axis of frames."""
    image = decode_image_file(c, contents, channels=channels)
    return c.unknown_shape() if expand_animations else image


@tf("DecodeAndCropJpeg")
def decode_and_crop_jpeg(c: TensorFlowContext, contents: Shape, crop_window: Value, *, channels: int = 0) -> Shape:
    """[], window [4] -> [height, width, channels], for a window `[y, x, height, width]`."""
    depth = _decoded_channels(c, contents, channels)
    window = known_dims(crop_window) or ()
    sizes = window[2:] if len(window) == 4 else (None, None)
    return Shape((*(c.unknown_dim() if d is None or c.prove_le(0, d) is not True else d for d in sizes), depth))


@tf("EncodeJpeg")
def encode_jpeg(c: TensorFlowContext, image: Shape) -> Shape:
    """[height, width, channels] -> []."""
    c.with_rank(image, 3)
    return c.scalar()


@tf("EncodeJpegVariableQuality")
def encode_jpeg_of_quality(c: TensorFlowContext, images: Shape, quality: Shape) -> Shape:
    """[height, width, channels], [] -> []."""
    c.with_rank(quality, 0)
    return encode_jpeg(c, images)


@tf("EncodePng")
def encode_png(c: TensorFlowContext, image: Shape) -> Shape:
    """[*B, height, width, channels] -> [*B]."""
    image = c.with_rank_at_least(image, 3)
    return c.unknown_shape() if image.dims is None else Shape(image[:-3])


@tf("ExtractJpegShape")
def extract_jpeg_shape(c: TensorFlowContext, contents: Shape) -> Shape:
    """[] -> [3]: height, width and channels."""
    c.with_rank(contents, 0)
    return c.vector(3)


@tf("RGBToHSV", "HSVToRGB", in_place=(0,))
def convert_colors(c: TensorFlowContext, images: Shape) -> Shape:
    """[*S, 3] -> [*S, 3]."""
    images = c.with_rank_at_least(images, 1)
    return images if images.dims is None else c.replace_dim(images, -1, c.with_value(images[-1], 3))


@tf("AdjustHue", "AdjustSaturation", in_place=(0,))
def adjust_colors(c: TensorFlowContext, images: Shape, amount: Shape) -> Shape:
    """[*B, H, W, 3], [] -> [*B, H, W, 3]."""
    c.with_rank(amount, 0)
    images = c.with_rank_at_least(images, 3)
    return images if images.dims is None else c.replace_dim(images, -1, c.with_value(images[-1], 3))


@tf("AdjustContrast", "AdjustContrastv2", in_place=(0,))
def adjust_contrast(c: TensorFlowContext, images: Shape, *scalars: Shape) -> Shape:
    """[*B, H, W, C], scalars -> [*B, H, W, C]."""
    require_scalars(c, *scalars)
    return c.with_rank_at_least(images, 3)
