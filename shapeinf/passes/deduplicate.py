"""`deduplicate`: initializers of one scope with equal type, shape and contents become one."""

from __future__ import annotations

from collections import defaultdict

import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.outline import sizes
from shapeinf.passes.weights import raw_bytes


def deduplicate(editor: Editor) -> None:
    """Make all readers of equal constants read the first one, or the one that is an output."""
    for scope in list(editor.scopes()):
        alike: dict[tuple[object, ...], list[ir.Value]] = defaultdict(list)
        for value in scope.initializers.values():
            if editor.is_constant(value) and not editor.is_annotated(value):
                assert value.const_value is not None
                key = (value.const_value.dtype, sizes(value.const_value))
                alike[key].append(value)
        for values in alike.values():
            if len(values) > 1:
                _merge_equal(editor, scope, values)


def _merge_equal(editor: Editor, scope: ir.Graph, values: list[ir.Value]) -> None:
    equal: dict[object, list[ir.Value]] = defaultdict(list)
    for value in values:
        try:
            equal[_contents(value)].append(value)
        except ModelError as error:
            editor.skip(value, str(error))
    for group in equal.values():
        group.sort(key=lambda value: not value.is_graph_output())
        for value in group[1:]:
            if value.is_graph_output():
                editor.skip(value, f"it and '{group[0].name}' are both outputs")
                continue
            try:
                editor.check_visible(group[0].name, scope)
            except Skip as reason:
                editor.skip(value, reason)
                continue
            for reader, index in value.uses():
                reader.replace_input_with(index, group[0])
            editor.record_change(value, f"is '{group[0].name}'")
            editor.drop_unread([value])


def _contents(value: ir.Value) -> object:
    tensor = value.const_value
    assert tensor is not None
    return tuple(tensor.string_data()) if isinstance(tensor, ir.StringTensor) else raw_bytes(tensor)
