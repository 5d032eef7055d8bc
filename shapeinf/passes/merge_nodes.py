"""`merge_nodes`: two nodes in a row that do the work of one, where nothing else reads the result of the first."""

from __future__ import annotations

import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip


def merge_nodes(editor: Editor) -> None:
    """Merge a Transpose into the one before it, and a Concat into the one that it is part of."""
    editor.rewrite_nodes("Transpose", _merge_transpose, lambda _: False)
    editor.rewrite_nodes("Concat", _merge_concat, lambda _: False)


def _before(editor: Editor, node: ir.Node, value: ir.Value | None) -> ir.Node | None:
    """The node of the same operator that produces an input, if this is its only reader."""
    producer = None if value is None else value.producer()
    if value is None or not editor.is_operator(producer, node.op_type) or producer is None:
        return None
    try:
        return producer if editor.only_reader(value) is node else None
    except Skip:
        return None


def _merge_transpose(editor: Editor, node: ir.Node) -> None:
    before = _before(editor, node, node.inputs[0])
    first = None if before is None else before.attributes.get_ints("perm", None)
    second = node.attributes.get_ints("perm", None)
    if before is None or first is None or second is None or sorted(first) != sorted(second):
        return
    source = before.inputs[0]
    assert source is not None
    perm = [first[axis] for axis in second]
    if perm == list(range(len(perm))):
        editor.bypass(node, source)
        editor.remove(before)
        editor.record_change(node, "removed: it undoes the one before it")
        return
    editor.check_visible(source.name, source.graph or _scope(node))
    node.replace_input_with(0, source)
    node.attributes["perm"] = ir.AttrInt64s("perm", perm)
    editor.remove(before)
    editor.record_change(node, "does the work of two")


def _merge_concat(editor: Editor, node: ir.Node) -> None:
    axis = node.attributes.get_int("axis", 1)
    for index, value in enumerate(node.inputs):
        before = _before(editor, node, value)
        if before is None or before.attributes.get_int("axis", 1) != axis:
            continue
        inner = list(before.inputs)
        for source in inner:
            if source is not None:
                editor.check_visible(source.name, source.graph or _scope(node))
        inputs = [*node.inputs[:index], *inner, *node.inputs[index + 1 :]]
        node.resize_inputs(len(inputs))
        for at, source in enumerate(inputs):
            node.replace_input_with(at, source)
        editor.remove(before)
        editor.record_change(node, "has the parts of the one before it")
        return


def _scope(node: ir.Node) -> ir.Graph:
    assert isinstance(node.graph, ir.Graph)
    return node.graph
