"""The options that rules read are those of the schema, with its defaults."""

from __future__ import annotations

import attrs
import pytest

from opdefs.tflite import tflite
from opdefs.tflite.declared import SHAPES, SIZED_BY_FILE
from opdefs.tflite.schemas import operators
from shapeinf.ops.parameters import REQUIRED


@pytest.mark.parametrize("name", operators())
def test_defaults_are_those_of_the_schema(name: str) -> None:
    op_def = tflite.lookup("", name, 1)
    assert op_def is not None and op_def.rule is not None
    defaults = dict(op_def.rule.attributes)
    for group in op_def.rule.groups.values():
        defaults.update({field.name: field.default for field in attrs.fields(group)})
    if name in {*SIZED_BY_FILE, "WHILE"}:
        assert defaults.pop(SHAPES) == ()
    for option, default in defaults.items():
        attribute = op_def.attributes[option]
        if attribute.type in ("func", "list(func)"):
            assert default in (REQUIRED, None)
        else:
            assert default == attribute.default, option
