"""tf.image."""

from __future__ import annotations

from functools import partial

from tests.differential.tf.graphs.case import Family, tf

IMAGE = Family("image")


@IMAGE.graph("float32[b, h, w, 3]")
def pads(x):
    return [
        tf.image.resize_with_pad(x, 64, 48),
        tf.image.resize_with_crop_or_pad(x, 18, 30),
        tf.image.central_crop(x, 0.5),
        tf.image.crop_to_bounding_box(x, 1, 2, 9, 8),
        tf.image.pad_to_bounding_box(x, 1, 2, 50, 60),
    ]


@IMAGE.graph("float32[b, h, w, 3]")
def differences(x):
    return [
        *tf.image.image_gradients(x),
        tf.image.sobel_edges(x),
        tf.image.total_variation(x),
        tf.image.ssim(x, x * 0.9, 1.0),
        tf.image.psnr(x, x * 0.9, 1.0),
    ]


@IMAGE.graph("float32[b, h, w, 3]")
def colors(x):
    return [
        tf.image.rgb_to_yuv(x),
        tf.image.rgb_to_grayscale(x),
        tf.image.adjust_gamma(x, 0.5),
        tf.image.per_image_standardization(x),
        tf.image.rgb_to_hsv(x),
        tf.image.rot90(x),
        tf.image.transpose(x),
        tf.image.flip_left_right(x),
    ]


@IMAGE.graph("float32[b, h, w, 3]")
def patches(x):
    return [
        tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        tf.image.extract_patches(x, [1, 5, 4, 1], [1, 1, 3, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.space_to_depth(x[:, : 4 * (tf.shape(x)[1] // 4), : 4 * (tf.shape(x)[2] // 4)], 4),
    ]


@IMAGE.graph("float32[b, h, w, 3]")
def random(x):
    return [
        tf.image.random_crop(x, [1, 8, 8, 3]),
        tf.image.random_flip_left_right(x),
        tf.image.stateless_random_crop(x, [1, 8, 8, 3], seed=[1, 2]),
        tf.image.random_brightness(x, 0.2),
    ]


@IMAGE.graph("float32[n, 4]", "float32[n]")
def boxes(b, s):
    return [
        tf.image.non_max_suppression(b, s, 5),
        *tf.image.non_max_suppression_with_scores(b, s, 4),
        *tf.image.non_max_suppression_padded(b, s, 6, pad_to_max_output_size=True),
    ]


@IMAGE.graph("float32[b, h, w, 3]", "float32[n, 4]", "int32[n]")
def crop_and_resize(x, b, i):
    return tf.image.crop_and_resize(x, b, tf.minimum(i, 0), [7, 9])


@IMAGE.graph("float32[b, h, w, 3]", "float32[b, 2]")
def glimpse(x, o):
    return tf.image.extract_glimpse(x, [5, 6], o)


def resized(x, method):
    height, width = tf.shape(x)[1] * 2, tf.shape(x)[2] // 2
    return [
        tf.image.resize(x, [height, width], method=method, antialias=True),
        tf.image.resize(x, [31, 17], method=method, preserve_aspect_ratio=True),
    ]


METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")

for name in METHODS:
    IMAGE.add(f"resized_{name}", partial(resized, method=name), "float32[b, h, w, 3]")
