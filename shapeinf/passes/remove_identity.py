"""Removes Identity nodes: their readers read the source, and at an output the producer takes the name of the output."""

from __future__ import annotations

from shapeinf.passes.editor import Editor, Leave


def remove_identity(editor: Editor) -> None:
    """Remove every Identity except those that the interface of a scope needs."""
    for node in editor.nodes("Identity"):
        source = node.inputs[0]
        try:
            assert source is not None
            editor.bypass(node, source)
        except Leave as reason:
            editor.leave(node, reason)
        else:
            editor.record_change(node, "removed")
