"""`split_parameters`: each reader of an initializer gets its own copy, for tools that attach a scale to each weight."""

from __future__ import annotations

from shapeinf.passes.editor import Editor


def split_parameters(editor: Editor) -> None:
    """Copy every constant with several readers; the first reader keeps the original, unless that is an output."""
    for scope in list(editor.scopes()):
        for value in list(scope.initializers.values()):
            if editor.is_constant(value) and not editor.is_annotated(value):
                uses = tuple(value.uses())
                for reader, index in uses if value.is_graph_output() else uses[1:]:
                    editor.set_input(reader, index, editor.copy_constant(value))
                if len(uses) > 1 or (uses and value.is_graph_output()):
                    editor.record_change(value, f"has a copy for each of its {len(uses)} readers")
            elif len(value.uses()) > 1:
                reason = "has a quantization annotation" if editor.is_constant(value) else "a caller can override it"
                editor.skip(value, reason)
