"""Records SavedModels of TensorFlow (without variables) and their exports by tf2onnx; needs both.

PYTHONPATH=. python -m tests.edit.record_exports
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "exports"


def networks(tf):
    """A convolution with pooling, and attention of tokens to each other: functions with an input signature, by name."""
    kernel, dense = tf.Variable(tf.zeros((3, 3, 3, 4)), name="kernel"), tf.Variable(tf.zeros((4, 5)), name="dense")
    table, heads = tf.Variable(tf.zeros((20, 8)), name="table"), tf.Variable(tf.zeros((8, 6)), name="heads")

    @tf.function(input_signature=[tf.TensorSpec((None, None, None, 3), tf.float32, name="image")])
    def image(image):
        pooled = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(image, kernel, 2, "SAME")), (1, 2))
        return {"scores": tf.nn.softmax(pooled @ dense)}

    tokens = tf.TensorSpec((None, None), tf.int32, name="ids"), tf.TensorSpec((None, None), tf.float32, name="mask")

    @tf.function(input_signature=tokens)
    def text(ids, mask):
        embedded = tf.gather(table, ids) * tf.expand_dims(mask, -1)
        mixed = tf.nn.softmax(tf.matmul(embedded, embedded, transpose_b=True)) @ embedded
        return {"hidden": tf.reshape(mixed @ heads, (-1, tf.shape(ids)[1], 2, 3)), "pooled": tf.reduce_max(mixed, 1)}

    return {"image": (image, (kernel, dense)), "text": (text, (table, heads))}


def record():
    import numpy as np
    import tensorflow as tf

    if not hasattr(np, "object"):
        np.object = object  # tf2onnx 1.17 reads this name, which numpy 2 does not have
    import tf2onnx

    FOLDER.mkdir(exist_ok=True)
    for name, (function, variables) in networks(tf).items():
        module = tf.Module()
        module.function, module.variables_of_function = function, variables
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures={"serving_default": function})
            shutil.copy(Path(folder, "saved_model.pb"), FOLDER / f"{name}.saved_model.pb")
        output = str(FOLDER / f"{name}.onnx")
        tf2onnx.convert.from_function(function, function.input_signature, opset=17, output_path=output)


if __name__ == "__main__":
    record()
