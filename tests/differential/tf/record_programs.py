"""Run the programs in TensorFlow and record the shapes: `python -m tests.differential.tf.record_programs`."""

from __future__ import annotations

import json
import sys

from tests.differential.tf.program import constant, value_name
from tests.differential.tf.record import RECORDED
from tests.differential.tf.record import _attribute as plain_attribute

HANDLES = ("resource", "variant", "string_ref")
UNINITIALIZED = ("VariableV2", "TemporaryVariable")


def run(program):
    """{name: [element type, sizes]} of all tensors that are not handles."""
    import tensorflow

    from opdefs.tf import tf

    graph = tensorflow.Graph()
    with graph.as_default():
        values, feeds, fetches, before = {}, {}, {}, []
        for name, array in program.arrays().items():
            values[f"{name}:0"] = placeholder = tensorflow.compat.v1.placeholder(array.dtype, array.shape, name=name)
            feeds[placeholder] = array
        for current in program.steps:
            arguments = _arguments(tf.lookup("", current.op, 0), current, values)
            with graph.control_dependencies(before):
                result = getattr(tensorflow.raw_ops, current.op)(**arguments)
            if isinstance(result, tensorflow.Operation):
                before, outputs = [result], []
            else:
                outputs = tensorflow.nest.flatten(result)
                before = [outputs[0].op]
            for index, tensor in enumerate(outputs):
                values[f"{current.name}:{index}"] = tensor
                if tensor.dtype.name not in HANDLES and current.op not in UNINITIALIZED:
                    fetches[f"{current.name}:{index}"] = tensor
    with tensorflow.compat.v1.Session(graph=graph) as session:
        arrays = session.run([fetches, before], feeds)[0]
    return {
        name: [fetches[name].dtype.base_dtype.name, list(array.shape) if hasattr(array, "shape") else []]
        for name, array in arrays.items()
    }


def _arguments(op_def, current, values):
    """The arguments of TensorFlow's function; it derives the attributes that are types and numbers of inputs."""
    inferred = {name for arg in op_def.inputs for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    kinds = op_def.attributes
    attributes = {n: _attribute(kinds[n].type, v) for n, v in current.attributes.items() if n not in inferred}
    names = [arg.name for arg in op_def.inputs]
    operands = [_operand(values, operand) for operand in current.operands]
    return dict(zip(names, operands, strict=True)) | attributes


def _attribute(kind, value):
    if kind == "list(shape)":
        return [_attribute("shape", item) for item in value]
    if kind == "shape" and value is not None:
        return [None if d == -1 else d for d in value]
    return plain_attribute(kind, value)


def _operand(values, operand):
    if isinstance(operand, list):
        return [_operand(values, item) for item in operand]
    return values[value_name(operand)] if isinstance(operand, str) else constant(operand)


def main():
    from tests.differential.tf.programs import PROGRAMS

    records = {}
    for program in PROGRAMS:
        try:
            records[program.name] = run(program)
        except Exception as error:
            sys.exit(f"{program.name}: {type(error).__name__}: {str(error)[:600]}")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(records.items()))
    (RECORDED / "programs.json").write_text("{\n" + lines + "\n}\n", encoding="utf8")
    print(len(records))


if __name__ == "__main__":
    main()
