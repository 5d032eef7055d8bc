"""Removes the nodes and initializers on no path to an output, in every scope."""

from __future__ import annotations

import onnx_ir as ir

from shapeinf.passes.editor import Editor


def remove_dead(editor: Editor) -> None:
    """Remove them from the last node to the first: what only a dead node reads is dead too."""
    for scope in list(editor.scopes()):
        for node in reversed(list(scope)):
            if node.graph is scope and not any(output.uses() or output.is_graph_output() for output in node.outputs):
                _release_bodies(node)
                editor.changed(node, "removed: nothing reads it")
                editor.remove(node)
    for scope in editor.scopes():
        for value in list(scope.initializers.values()):
            if editor.is_constant(value) and not value.uses() and not value.is_graph_output():
                editor.changed(value, "removed: nothing reads it")
                editor.drop_unread([value])


def _release_bodies(node: ir.Node) -> None:
    """Make the nodes in the bodies of a dead node readers of nothing."""
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        graphs = [attribute.as_graph()] if attribute.type == ir.AttributeType.GRAPH else []
        if attribute.type == ir.AttributeType.GRAPHS:
            graphs = list(attribute.as_graphs())
        for graph in graphs:
            for inner in graph:
                _release_bodies(inner)
                for index in range(len(inner.inputs)):
                    inner.replace_input_with(index, None)
