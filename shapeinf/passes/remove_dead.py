"""`remove_dead`: nodes and initializers that no output depends on are removed, in every scope."""

from __future__ import annotations

import onnx_ir as ir

from shapeinf.passes.editor import Editor
from shapeinf.passes.types import bodies


def remove_dead(editor: Editor) -> None:
    """Remove nodes from the last to the first, since what only a dead node reads is dead too; then initializers."""
    for root in (editor.model.graph, *(function.graph for function in editor.model.functions.values())):
        _remove_nodes(editor, root)
    for scope in editor.scopes():
        for value in list(scope.initializers.values()):
            if editor.is_unread(value):
                editor.record_change(value, "removed: nothing reads it")
                editor.drop_unread([value])


def _remove_nodes(editor: Editor, scope: ir.Graph) -> None:
    """Remove the dead nodes of a scope; the bodies of a node before the nodes that they may read."""
    for node in reversed(list(scope)):
        if any(output.uses() or output.is_graph_output() for output in node.outputs):
            for body in bodies(node):
                _remove_nodes(editor, body)
        else:
            _release(node)
            editor.record_change(node, "removed: nothing reads it")
            editor.remove(node)


def _release(node: ir.Node) -> None:
    """Disconnect the inputs of all nodes in the bodies of a dead node."""
    for body in bodies(node):
        for inner in body:
            _release(inner)
            for index in range(len(inner.inputs)):
                inner.replace_input_with(index, None)
