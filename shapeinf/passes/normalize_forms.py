"""`normalize_forms`: attributes that became inputs in a later opset become inputs, and replaced operators change.

The opset of the model rises to the highest one that such a node requires, if every node has an equivalent there; else
to the next lower one.
"""

from __future__ import annotations

from shapeinf.passes.editor import Edit, Editor, Skip
from shapeinf.passes.opset_conversion import FIRST, conversion_opset, edits


def normalize_forms(editor: Editor) -> None:
    """Raise the opset as far as a node requires it, and convert all nodes to it."""
    nodes = [node for scope in editor.scopes() for node in scope if node.domain in ("", "ai.onnx")]
    outdated = [(node, version) for node in nodes if (version := conversion_opset(node)) and version > editor.opset]
    for target in sorted({version for _, version in outdated}, reverse=True):
        try:
            planned = _plan(editor, target)
        except Skip as reason:
            for node, version in outdated:
                if version == target:
                    editor.skip(node, f"the model cannot rise to opset {target}: {reason}")
            continue
        for edit in planned:
            edit()
        editor.raise_opset(target)
        for node, version in outdated:
            if version <= target:
                editor.record_change(node, f"converted to opset {version}")
        return


def _plan(editor: Editor, target: int) -> list[Edit]:
    """All edits for an opset. Raises Skip where one node has no equivalent."""
    if editor.opset < FIRST:
        raise Skip(f"the model has opset {editor.opset}, and the changes before {FIRST} are not known")
    if any(
        function.opset_imports.get("", editor.opset) != editor.opset for function in editor.model.functions.values()
    ):
        raise Skip("a function has another opset than the model")
    planned: list[Edit] = []
    for scope in editor.scopes():
        for node in scope:
            if node.domain in ("", "ai.onnx") and node.op_identifier() not in editor.model.functions:
                if any(attribute.is_ref() for attribute in node.attributes.values()):
                    raise Skip("a function has nodes with attributes that each call sets")
                planned += edits(editor, node, target)
    return planned
