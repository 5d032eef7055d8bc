"""GraphDefs of one node, each of which breaks the OpDef of its operator in one place.

For every operator that TensorFlow registers: each input of another type; an input too many, and one too few; each
attribute missing, of another kind, of a value that is not allowed, or below its minimum; attributes that the operator
does not have; another number of values; a graph of the version that removed it. Made from the
OpDefs that the installed TensorFlow lists, not from the table under test.
"""

from __future__ import annotations

import os
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

PRODUCER = 2474
FLOAT, INT32, STRING, RESOURCE = 1, 3, 7, 20
SPATIAL = ("strides", "ksize", "dilations")
"""Attributes with a number for each of four axes."""

CRASHING = {"_QuantizedMatMul"}
"""Operators whose shape functions in TensorFlow end the process."""

OTHER_TYPES = (FLOAT, INT32, STRING, RESOURCE)


class Case(NamedTuple):
    """A graph; `broken` states what is wrong, and is empty for the node as it should be."""

    op: str
    broken: str
    graph: bytes


def op_defs():
    """The OpDefs by name, without those that call functions or end the process."""
    buffer = pywrap_tf_session.TF_GetAllOpList()
    listed = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(buffer))
    checked = (op for op in listed.op if op.name not in CRASHING)
    return {op.name: op for op in checked if not any("func" in attribute.type for attribute in op.attr)}


def refused(graph):
    """Why TensorFlow does not import a graph; empty where it does."""
    message = tf.compat.v1.GraphDef.FromString(graph)
    try:
        with tf.Graph().as_default():
            tf.graph_util.import_graph_def(message, name="")
    except Exception as error:
        return str(error).partition("\n")[0] or type(error).__name__
    return ""


def cases(op):
    """The graphs of an operator, the one that is right first."""
    yield _case(op, "")
    node = _node(op)
    types = _input_types(op, node)
    for index, type_ in enumerate(types):
        other = next(other for other in OTHER_TYPES if other != type_)
        yield _case(op, f"input {index} of another type", types=[*types[:index], other, *types[index + 1 :]])
    yield _case(op, "an input too many", types=[*types, FLOAT])
    if types:
        yield _case(op, "an input too few", types=types[:-1])
    yield _case(op, "an attribute unknown", lambda attr: attr["unknown"].CopyFrom(_int(1)))
    yield _case(op, "an annotation", lambda attr: attr["_unknown"].CopyFrom(_int(1)))
    for attribute in op.attr:
        yield from _attribute_cases(op, attribute, types)
    if op.HasField("deprecation"):
        yield _case(op, f"version {op.deprecation.version}", version=op.deprecation.version)


def _attribute_cases(op, attribute, types):
    name = attribute.name
    yield _case(op, f"{name} missing", lambda attr: attr.pop(name, None), types=types)
    other = tf.compat.v1.AttrValue(f=1.0) if attribute.type == "int" else _int(1)
    yield _case(op, f"{name} of another kind", lambda attr: attr[name].CopyFrom(other), types=types)
    if attribute.HasField("allowed_values"):
        value = tf.compat.v1.AttrValue()
        if "type" in attribute.type:
            allowed = set(attribute.allowed_values.list.type)
            wrong = next(type_ for type_ in (*OTHER_TYPES, 21, 11) if type_ not in allowed)
            if attribute.type == "type":
                value.type = wrong
            else:
                value.list.type.append(wrong)
        else:
            value.s = b"WRONG"
        yield _case(op, f"{name} not allowed", lambda attr: attr[name].CopyFrom(value))
    if attribute.has_minimum and attribute.type == "int":
        yield _case(op, f"{name} too small", lambda attr: attr[name].CopyFrom(_int(attribute.minimum - 1)), types=types)
    elif attribute.has_minimum and attribute.minimum:
        yield _case(op, f"{name} too short", lambda attr: attr[name].list.SetInParent() or attr[name].list.Clear())
    if any(arg.number_attr == name for arg in op.input_arg):
        yield _case(op, f"{name} of more inputs", lambda attr: attr[name].CopyFrom(_int(attr[name].i + 1)), types=types)


def _int(value):
    return tf.compat.v1.AttrValue(i=value)


def _case(op, broken, change=None, types=None, version=None):
    graph = tf.compat.v1.GraphDef()
    last = op.deprecation.version - 1 if op.HasField("deprecation") else PRODUCER
    graph.versions.producer = last if version is None else version
    node = _node(op)
    if change is not None:
        change(node.attr)
    listed = _input_types(op, node) if types is None else types
    references = [arg.is_ref for arg in op.input_arg for _ in range(_count(arg, node))]
    for index, type_ in enumerate(listed):
        source = graph.node.add(name=f"x{index}", op="Placeholder")
        source.attr["dtype"].type = type_
        if index < len(references) and references[index]:
            source.op = "VariableV2"
            source.attr["shape"].shape.unknown_rank = True
        node.input.append(source.name)
    graph.node.append(node)
    return Case(op.name, broken, graph.SerializeToString(deterministic=True))


def _node(op):
    """The node with all attributes, without inputs."""
    node = tf.compat.v1.NodeDef(name="n", op=op.name)
    for attribute in op.attr:
        if attribute.HasField("default_value"):
            node.attr[attribute.name].CopyFrom(attribute.default_value)
        else:
            _fill(node.attr[attribute.name], attribute)
    return node


def _fill(value, attribute):
    kind = attribute.type
    least = max(1, attribute.minimum)
    allowed = attribute.allowed_values.list
    if kind == "type":
        value.type = allowed.type[0] if allowed.type else FLOAT
    elif kind == "string":
        value.s = allowed.s[0] if allowed.s else b"a"
    elif kind == "int":
        value.i = least
    elif kind == "float":
        value.f = 1.0
    elif kind == "bool":
        value.b = True
    elif kind == "shape":
        value.shape.unknown_rank = True
    elif kind == "tensor":
        value.tensor.dtype = FLOAT
        value.tensor.tensor_shape.SetInParent()
        value.tensor.float_val.append(1.0)
    elif kind == "list(type)":
        value.list.type.extend([allowed.type[0] if allowed.type else FLOAT] * least)
    elif kind == "list(int)":
        value.list.i.extend([1] * (max(least, 4) if attribute.name in SPATIAL else least))
    elif kind == "list(float)":
        value.list.f.extend([1.0] * least)
    elif kind == "list(string)":
        value.list.s.extend([allowed.s[0] if allowed.s else b"a"] * least)
    elif kind == "list(bool)":
        value.list.b.extend([True] * least)
    elif kind == "list(shape)":
        for _ in range(least):
            value.list.shape.add(unknown_rank=True)
    else:
        value.list.SetInParent()


def _count(arg, node):
    if arg.number_attr:
        return node.attr[arg.number_attr].i if arg.number_attr in node.attr else 0
    return len(node.attr[arg.type_list_attr].list.type) if arg.type_list_attr in node.attr else 1


def _input_types(op, node):
    """The types of the inputs that the attributes of a node state."""
    types = []
    for arg in op.input_arg:
        if arg.type_list_attr:
            types += node.attr[arg.type_list_attr].list.type if arg.type_list_attr in node.attr else []
        else:
            stated = arg.type or (node.attr[arg.type_attr].type if arg.type_attr in node.attr else FLOAT)
            types += [stated or FLOAT] * max(0, min(_count(arg, node), 9))
    return types
