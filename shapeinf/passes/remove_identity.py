"""`remove_identity`: readers of an Identity read its source, or the source gets the name of the output."""

from __future__ import annotations

import onnx_ir as ir

from shapeinf.passes.editor import Editor


def remove_identity(editor: Editor) -> None:
    """Remove every Identity except those that the interface of a scope needs."""
    editor.rewrite_nodes("Identity", _remove)


def _remove(editor: Editor, node: ir.Node) -> None:
    source = node.inputs[0]
    assert source is not None
    editor.bypass(node, source)
    editor.record_change(node, "removed")
