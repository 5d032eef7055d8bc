"""`normalise_forms`: attributes that became inputs in a later opset become inputs, and replaced operators change.

The opset of the model rises to the highest one that such a form requires, if every node has a form of the same meaning
there; else to the next lower one.
"""

from __future__ import annotations

from shapeinf.passes.editor import Edit, Editor, Leave
from shapeinf.passes.forms import FIRST, edits, form_version


def normalise_forms(editor: Editor) -> None:
    """Raise the opset as far as the forms of the nodes require it, and edit the nodes for it."""
    nodes = [node for scope in editor.scopes() for node in scope if node.domain in ("", "ai.onnx")]
    forms = [(node, version) for node in nodes if (version := form_version(node)) and version > editor.opset]
    for target in sorted({version for _, version in forms}, reverse=True):
        try:
            planned = _plan(editor, target)
        except Leave as reason:
            for node, version in forms:
                if version == target:
                    editor.leave(node, f"the model cannot rise to opset {target}: {reason}")
            continue
        for edit in planned:
            edit()
        editor.raise_opset(target)
        for node, version in forms:
            if version <= target:
                editor.record_change(node, f"has the form of opset {version}")
        return


def _plan(editor: Editor, target: int) -> list[Edit]:
    """All edits for an opset. Raises Leave where one node has no form of the same meaning."""
    if editor.opset < FIRST:
        raise Leave(f"the model has opset {editor.opset}, and the changes before {FIRST} are not known")
    if any(
        function.opset_imports.get("", editor.opset) != editor.opset for function in editor.model.functions.values()
    ):
        raise Leave("a function has another opset than the model")
    planned: list[Edit] = []
    for scope in editor.scopes():
        for node in scope:
            if node.domain in ("", "ai.onnx") and node.op_identifier() not in editor.model.functions:
                if any(attribute.is_ref() for attribute in node.attributes.values()):
                    raise Leave("a function has nodes with attributes that each call sets")
                planned += edits(editor, node, target)
    return planned
