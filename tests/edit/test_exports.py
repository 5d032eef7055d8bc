"""SavedModels of TensorFlow and their exports by tf2onnx, which `record_exports` made from the same functions.

An export computes the same outputs from the same inputs under the same conditions: what differs are the values inside.
"""

from __future__ import annotations

import pytest

from shapeinf.edit.comparison import diff
from tests.edit.record_exports import FOLDER

NAMES = ("image", "text")
SAVER = "saver_filename:0"
"""An input that TensorFlow adds to a SavedModel for loading variables."""


def sides(name):
    return FOLDER / f"{name}.saved_model.pb", FOLDER / f"{name}.onnx"


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_an_export_has_the_inputs_outputs_and_conditions_of_the_model(name, backwards):
    saved, exported = sides(name)
    differences = diff(exported, saved) if backwards else diff(saved, exported)
    actual = {(d.part, d.name) for d in differences if d.part in ("input", "output", "condition")}
    assert actual == {("input", SAVER)}
