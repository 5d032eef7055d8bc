"""Images of another size: resized, cropped, transformed."""

from __future__ import annotations

from opdefs.tf.common import require_scalars, shape_of_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


def image_size(c: TensorFlowContext, index: int) -> tuple[DimSize, DimSize]:
    """The height and the width in an input."""
    c.with_value(c.with_rank(c.input(index), 1)[0], 2)  # which has another text than `shape_of_rank`
    height, width = shape_of_rank(c, index, 2)
    return height, width


@tf("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad")
def resize(c: TensorFlowContext, images: Shape, size: Value) -> Shape:
    """[N, H, W, C], size [2] -> [N, *size, C]."""
    images = c.with_rank(images, 4)
    return Shape((images[0], *image_size(c, 1), images[3]))


@tf("ScaleAndTranslate")
def scale_and_translate(c: TensorFlowContext, images: Shape, size: Value, scale: Shape, translation: Shape) -> Shape:
    """[N, H, W, C], size [2], [2], [2] -> [N, *size, C]."""
    for pair in (scale, translation):
        c.merge(pair, Shape((2,)))
    return resize(c, images, size)


@tf("QuantizedResizeBilinear")
def quantized_resize_bilinear(
    c: TensorFlowContext, images: Shape, size: Value, least: Shape, most: Shape
) -> tuple[Shape, Shape, Shape]:
    """[N, H, W, C], size [2], range -> [N, *size, C], and its range [], []."""
    require_scalars(c, least, most)
    return resize(c, images, size), c.scalar(), c.scalar()


@tf("ResizeBicubicGrad", "ResizeBilinearGrad", "ScaleAndTranslateGrad")
def resize_grad(c: TensorFlowContext, grads: Shape, original_image: Shape, *rest: Shape) -> Shape:
    """[N, H', W', C], [*, H, W, *] -> [N, H, W, C]: batch and channels are those of the gradients, as in the kernel."""
    grads, image = c.with_rank(grads, 4), c.with_rank(original_image, 4)
    return Shape((grads[0], image[1], image[2], grads[3]))


@tf("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def transform_images(
    c: TensorFlowContext, images: Shape, transforms: Shape, output_shape: Value, fill_value: Shape | None = None
) -> Shape:
    """[N, H, W, C], [N or 1, 8], output_shape [2] -> [N, *output_shape, C]."""
    images, transforms = c.with_rank(images, 4), c.with_rank(transforms, 2)
    c.with_value(transforms[1], 8)
    if fill_value is not None:
        c.with_rank(fill_value, 0)
    return Shape((images[0], *image_size(c, 2), images[3]))


@tf("CropAndResize")
def crop_and_resize(c: TensorFlowContext, image: Shape, boxes: Shape, box_ind: Shape, crop_size: Value) -> Shape:
    """[N, H, W, C], boxes [M, 4], their images [M], crop_size [2] -> [M, *crop_size, C]."""
    image, boxes, indices = c.with_rank(image, 4), c.with_rank(boxes, 2), c.with_rank(box_ind, 1)
    count = c.merge(boxes[0], indices[0])
    c.with_value(boxes[1], 4)
    return Shape((count, *image_size(c, 3), image[3]))


@tf("CropAndResizeGradImage")
def crop_and_resize_grad_image(
    c: TensorFlowContext, grads: Shape, boxes: Shape, box_ind: Shape, image_size: Value
) -> Shape:
    """[M, h, w, C], [M, 4], [M], [4] -> the shape in `image_size`."""
    image = shape_of_rank(c, 3, 4)
    channels = c.with_rank(grads, 4)[3]
    return c.replace_dim(image, 3, c.merge(image[3], channels))


@tf("CropAndResizeGradBoxes")
def crop_and_resize_grad_boxes(c: TensorFlowContext, grads: Shape, image: Shape, boxes: Shape, box_ind: Shape) -> Shape:
    """[M, h, w, C], [N, H, W, C], [M, 4], [M] -> [M, 4]."""
    boxes, indices = c.with_rank(boxes, 2), c.with_rank(box_ind, 1)
    return Shape((c.merge(boxes[0], indices[0]), c.with_value(boxes[1], 4)))


@tf("ExtractGlimpse", "ExtractGlimpseV2")
def extract_glimpse(c: TensorFlowContext, input_: Shape, size: Value, offsets: Shape) -> Shape:
    """[N, H, W, C], size [2], [N, 2] -> [N, *size, C]."""
    x, offsets = c.with_rank(input_, 4), c.with_rank(offsets, 2)
    batch = c.merge(x[0], offsets[0])
    c.with_value(offsets[1], 2)
    return Shape((batch, *image_size(c, 1), x[3]))


@tf("RandomCrop")
def random_crop(c: TensorFlowContext, image: Shape, size: Value) -> Shape:
    """[H, W, C], size [2] -> [*size, C]."""
    image = c.with_rank(image, 3)
    c.merge(size.shape, Shape((2,)))
    return Shape((*image_size(c, 1), image[2]))
