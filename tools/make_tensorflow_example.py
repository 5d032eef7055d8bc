"""Make examples/recurrent.pbtxt: a GraphDef with a loop and a function of its library, without TensorFlow.

A recurrent network over tokens: the loop reads one step of a TensorList and writes its state into another one, and a
function of the library computes the logits of all steps. Weights have one value, which the file holds once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "recurrent.pbtxt"
WORDS, UNITS, CLASSES = 1000, 16, 10
FLOAT, INT, LIST = "DT_FLOAT", "DT_INT32", "DT_VARIANT"


class Nodes:
    """Collects the nodes of a graph (`field` is "node") or of a function ("node_def")."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.texts: list[str] = []

    def add(self, name: str, op: str, inputs: str = "", **attributes: str) -> None:
        lines = [f'name: "{name}"', f'op: "{op}"', *(f'input: "{value}"' for value in inputs.split())]
        lines += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in sorted(attributes.items())]
        self.texts.append(_message(self.field, lines))

    def floats(self, name: str, value: float, *dims: int) -> None:
        self.add(name, "Const", dtype=f"type: {FLOAT}", value=_tensor(FLOAT, dims, f"float_val: {value}"))

    def ints(self, name: str, *values: int, scalar: bool = False) -> None:
        listed = " ".join(f"int_val: {value}" for value in values)
        dims = () if scalar else (len(values),)
        self.add(name, "Const", dtype=f"type: {INT}", value=_tensor(INT, dims, listed))

    def size(self, name: str, shape: str, axis: int) -> None:
        """The element of a shape at an axis, as a scalar."""
        for part, value in (("begin", axis), ("end", axis + 1), ("strides", 1)):
            self.ints(f"{name}/{part}", value)
        operands = [f"{name}/{part}" + self.output("output") for part in ("begin", "end", "strides")]
        types = {"T": f"type: {INT}", "Index": f"type: {INT}", "shrink_axis_mask": "i: 1"}
        self.add(name, "StridedSlice", " ".join([shape, *operands]), **types)

    def output(self, argument: str) -> str:
        """The end of the name of a value: functions name the output argument."""
        return f":{argument}:0" if self.field == "node_def" else ""


def _message(field: str, lines: Sequence[str]) -> str:
    inner = "\n".join(f"  {line}" for text in lines for line in text.split("\n"))
    return f"{field} {{\n{inner}\n}}"


def _shape(dims: Sequence[int]) -> str:
    return " ".join(f"dim {{ size: {size} }}" for size in dims)


def _declared(dims: Sequence[int]) -> str:
    return f"tensor_shape {{ {_shape(dims)} }} " if dims else "tensor_shape { } "


def _tensor(dtype: str, dims: Sequence[int], values: str) -> str:
    return f"tensor {{ dtype: {dtype} {_declared(dims)}{values} }}"


def _types(*types: str) -> str:
    return "list { " + " ".join(f"type: {dtype}" for dtype in types) + " }"


def _function(name: str, inputs: dict[str, str], outputs: dict[str, tuple[str, str]], nodes: Nodes) -> str:
    arguments = [_message("input_arg", [f'name: "{arg}"', f"type: {dtype}"]) for arg, dtype in inputs.items()]
    arguments += [_message("output_arg", [f'name: "{arg}"', f"type: {outputs[arg][0]}"]) for arg in outputs]
    results = [f'ret {{ key: "{arg}" value: "{value}" }}' for arg, (_, value) in outputs.items()]
    return _message("function", [_message("signature", [f'name: "{name}"', *arguments]), *nodes.texts, *results])


STATE = {"time": INT, "steps": INT, "state": FLOAT, "written": LIST, "read": LIST}


def main_graph() -> Nodes:
    g = Nodes("node")
    g.add("tokens", "Placeholder", dtype=f"type: {INT}", shape=f"shape {{ {_shape((-1, -1))} }}")
    g.floats("table", 0.01, WORDS, UNITS)
    g.ints("axis", 0, scalar=True)
    types = {"Tparams": f"type: {FLOAT}", "Tindices": f"type: {INT}", "Taxis": f"type: {INT}"}
    g.add("embedded", "GatherV2", "table tokens axis", **types)
    g.ints("time_first", 1, 0, 2)
    g.add("by_time", "Transpose", "embedded time_first", T=f"type: {FLOAT}", Tperm=f"type: {INT}")
    g.add("shape", "Shape", "tokens", T=f"type: {INT}", out_type=f"type: {INT}")
    g.size("batch", "shape", 0)
    g.size("seq", "shape", 1)
    g.ints("units", UNITS, scalar=True)
    g.add("state_shape", "Pack", "batch units", T=f"type: {INT}", N="i: 2")
    g.floats("zero", 0.0)
    g.add("start", "Fill", "state_shape zero", T=f"type: {FLOAT}", index_type=f"type: {INT}")
    g.ints("step_shape", -1, UNITS)
    lists = {"element_dtype": f"type: {FLOAT}", "shape_type": f"type: {INT}"}
    g.add("inputs", "TensorListFromTensor", "by_time step_shape", **lists)
    g.add("states", "TensorListReserve", "step_shape seq", **lists)
    g.ints("first", 0, scalar=True)
    functions = {"cond": 'func { name: "more" }', "body": 'func { name: "step" }'}
    g.add("loop", "StatelessWhile", "first seq start states inputs", T=_types(*STATE.values()), **functions)
    g.add("stacked", "TensorListStack", "loop:3 step_shape", element_dtype=f"type: {FLOAT}", num_elements="i: -1")
    g.add("encoded", "Transpose", "stacked time_first", T=f"type: {FLOAT}", Tperm=f"type: {INT}")
    types = {"Tin": _types(FLOAT), "Tout": _types(FLOAT), "f": 'func { name: "classify" }'}
    g.add("logits", "PartitionedCall", "encoded", **types)
    return g


def more() -> str:
    g = Nodes("node_def")
    g.add("less", "Less", "time steps", T=f"type: {INT}")
    return _function("more", STATE, {"runs": ("DT_BOOL", "less:z:0")}, g)


def step() -> str:
    g = Nodes("node_def")
    g.ints("row_shape", -1, UNITS)
    g.add("input", "TensorListGetItem", "read time row_shape:output:0", element_dtype=f"type: {FLOAT}")
    g.ints("last", -1, scalar=True)
    types = {"T": f"type: {FLOAT}", "N": "i: 2", "Tidx": f"type: {INT}"}
    g.add("joined", "ConcatV2", "input:item:0 state last:output:0", **types)
    g.floats("weights", 0.01, 2 * UNITS, UNITS)
    g.add("product", "MatMul", "joined:output:0 weights:output:0", T=f"type: {FLOAT}")
    g.add("next", "Tanh", "product:product:0", T=f"type: {FLOAT}")
    g.add("with_state", "TensorListSetItem", "written time next:y:0", element_dtype=f"type: {FLOAT}")
    g.ints("one", 1, scalar=True)
    g.add("later", "AddV2", "time one:output:0", T=f"type: {INT}")
    values = ["later:z:0", "steps", "next:y:0", "with_state:output_handle:0", "read"]
    outputs = {f"new_{name}": (STATE[name], value) for name, value in zip(STATE, values, strict=True)}
    return _function("step", STATE, outputs, g)


def classify() -> str:
    g = Nodes("node_def")
    g.ints("row_shape", -1, UNITS)
    g.add("rows", "Reshape", "features row_shape:output:0", T=f"type: {FLOAT}", Tshape=f"type: {INT}")
    g.floats("projection", 0.01, UNITS, CLASSES)
    g.add("projected", "MatMul", "rows:output:0 projection:output:0", T=f"type: {FLOAT}")
    g.add("sizes", "Shape", "features", T=f"type: {FLOAT}", out_type=f"type: {INT}")
    g.size("examples", "sizes:output:0", 0)
    g.size("columns", "sizes:output:0", 1)
    g.ints("classes", CLASSES, scalar=True)
    sizes = "examples:output:0 columns:output:0 classes:output:0"
    g.add("scores_shape", "Pack", sizes, T=f"type: {INT}", N="i: 3")
    g.add("scores", "Reshape", "projected:product:0 scores_shape:output:0", T=f"type: {FLOAT}", Tshape=f"type: {INT}")
    return _function("classify", {"features": FLOAT}, {"result": (FLOAT, "scores:output:0")}, g)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    library = _message("library", [more(), step(), classify()])
    text = "\n".join([*main_graph().texts, library, "versions { producer: 2474 }"])
    EXAMPLE.write_text(text + "\n")


if __name__ == "__main__":
    main()
