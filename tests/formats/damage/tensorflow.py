"""TensorFlow models to damage: loops, functions, SavedModels, and graphs of random operators."""

from __future__ import annotations

import random
from functools import cache

from shapeinf.formats.tf.text import encode_text
from shapeinf.ops import AttrDef, OpDef, default_registry

_TYPES = ("DT_FLOAT", "DT_INT32", "DT_INT64", "DT_STRING", "DT_BOOL", "DT_RESOURCE", "DT_VARIANT")

CONSTANTS = """
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } dim { size: 8 } } } } }
    node { name: "z" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
           attr { key: "value" value {
             tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: [2, 1, 0] } } } }
    node { name: "s" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
           attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { } string_val: "a,b->ab" } } } }
    node { name: "k" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
           attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }
"""

LOOPS = (
    CONSTANTS
    + """
    node { name: "e" op: "Enter" input: "k" attr { key: "T" value { type: DT_INT32 } }
           attr { key: "frame_name" value { s: "f" } } }
    node { name: "m" op: "Merge" input: "e" input: "n" attr { key: "T" value { type: DT_INT32 } }
           attr { key: "N" value { i: 2 } } }
    node { name: "l" op: "Less" input: "m" input: "e" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "c" op: "LoopCond" input: "l" }
    node { name: "w" op: "Switch" input: "m" input: "c" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "a" op: "AddV2" input: "w:1" input: "e" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "n" op: "NextIteration" input: "a" input: "^c" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "o" op: "Exit" input: "w" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "i" op: "While" input: "k" input: "x"
           attr { key: "T" value { list { type: [DT_INT32, DT_FLOAT] } } }
           attr { key: "output_shapes" value { list { shape { } shape { unknown_rank: true } } } }
           attr { key: "cond" value { func { name: "test" } } } attr { key: "body" value { func { name: "step" } } } }
    node { name: "b" op: "If" input: "k" input: "i:1" attr { key: "Tin" value { list { type: DT_FLOAT } } }
           attr { key: "Tcond" value { type: DT_INT32 } } attr { key: "Tout" value { list { type: DT_FLOAT } } }
           attr { key: "then_branch" value { func { name: "half" } } }
           attr { key: "else_branch" value { func { name: "half" } } } }
    node { name: "p" op: "PartitionedCall" input: "b" attr { key: "Tin" value { list { type: DT_FLOAT } } }
           attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "half" } } } }
    node { name: "q" op: "half" input: "p" attr { key: "T" value { type: DT_FLOAT } } }
    library {
      function { signature { name: "test" input_arg { name: "i" type: DT_INT32 } input_arg { name: "v" type: DT_FLOAT }
                             output_arg { name: "o" type: DT_BOOL } }
        node_def { name: "l" op: "Less" input: "i" input: "i" attr { key: "T" value { type: DT_INT32 } } }
        ret { key: "o" value: "l:z:0" } }
      function { signature { name: "step" input_arg { name: "i" type: DT_INT32 } input_arg { name: "v" type: DT_FLOAT }
                             output_arg { name: "j" type: DT_INT32 } output_arg { name: "u" type: DT_FLOAT } }
        node_def { name: "a" op: "AddV2" input: "i" input: "i" attr { key: "T" value { type: DT_INT32 } } }
        node_def { name: "c" op: "ConcatV2" input: "v" input: "v" input: "a:z:0" attr { key: "N" value { i: 2 } }
                   attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "j" value: "a:z:0" } ret { key: "u" value: "c:output:0" }
        arg_attr { key: 1 value { attr { key: "_output_shapes"
                                         value { list { shape { unknown_rank: true } } } } } } }
      function { signature { name: "half" input_arg { name: "v" type_attr: "T" } output_arg { name: "u" type_attr: "T" }
                             attr { name: "T" type: "type" } }
        node_def { name: "s" op: "Square" input: "v" attr { key: "T" value { placeholder: "T" } } }
        ret { key: "u" value: "s:y:0" } }
    }
    versions { producer: 2474 }
"""
)

SAVED = f"""
    saved_model_schema_version: 1
    meta_graphs {{
      meta_info_def {{ tags: "serve" stripped_op_list {{ op {{ name: "Own" output_arg {{ name: "o" number_attr: "N"
        type: DT_INT32 }} attr {{ name: "N" type: "int" default_value {{ i: 2 }} }} }} }} }}
      graph_def {{ {LOOPS} node {{ name: "own" op: "Own" }} }}
      signature_def {{ key: "one" value {{ inputs {{ key: "image" value {{ name: "x:0" dtype: DT_FLOAT tensor_shape {{
        dim {{ size: -1 }} dim {{ size: 4 }} dim {{ size: 8 }} }} }} }}
        outputs {{ key: "y" value {{ name: "p:0" dtype: DT_FLOAT }} }} }} }}
      object_graph_def {{ nodes {{ variable {{ dtype: DT_FLOAT shape {{ dim {{ size: 4 }} }} }} }}
        concrete_functions {{ key: "half" value {{ bound_inputs: 0 }} }} }}
    }}
"""


@cache
def tensorflow_models() -> list[bytes]:
    """Binary GraphDefs and a SavedModel."""
    graphs = [encode_text(of_operators(random.Random(seed)), "GraphDef") for seed in range(60)]
    saved = encode_text(SAVED, "SavedModel")
    return [*graphs, *[encode_text(LOOPS, "GraphDef"), saved] * 6]


@cache
def _operators() -> list[str]:
    dialect = default_registry().dialect("tf")
    assert dialect is not None
    op_defs = [dialect.lookup("", op, 0) for op in sorted({op for _, op, _ in dialect})]
    return [op_def.name for op_def in op_defs if op_def is not None and op_def.deprecation is None]


def of_operators(draw: random.Random) -> str:
    """The text of a graph of a few operators in a row."""
    text, names = CONSTANTS, ["x", "z", "k", "s", "x"]
    for number, op in enumerate(draw.sample(_operators(), 12)):
        op_def = default_registry().lookup("tf", "", op, 0)
        assert op_def is not None
        text += _node(draw, f"n{number}", op_def, names)
        names += [f"n{number}:{index}" for index in range(min(2, len(op_def.outputs)))]
    return text + "versions { producer: 2474 }"


def _node(draw: random.Random, name: str, op_def: OpDef, names: list[str]) -> str:
    count = sum(draw.choice((1, 2)) if arg.repeated else 1 for arg in op_def.inputs)
    inputs = "".join(f' input: "{draw.choice(names)}"' for _ in range(count))
    present = [a for a in op_def.attributes.values() if a.required or draw.random() < 0.3]
    entries = "".join(f' attr {{ key: "{a.name}" value {{ {_attribute(draw, a)} }} }}' for a in present)
    return f'node {{ name: "{name}" op: "{op_def.name}"{inputs}{entries} }}\n'


def _attribute(draw: random.Random, attribute: AttrDef) -> str:
    """A value of the attribute's type."""
    kind = attribute.type
    if kind.startswith("list("):
        field, items = kind[5:-1], [_scalar(draw, kind[5:-1], attribute) for _ in range(draw.randrange(4))]
        field = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(field, field)
        return "list { " + " ".join(item if " {" in item else f"{field}: {item}" for item in items) + " }"
    value = _scalar(draw, kind, attribute)
    field = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(kind, kind)
    return value if " {" in value else f"{field}: {value}"


def _scalar(draw: random.Random, kind: str, attribute: AttrDef) -> str:
    if kind == "string":
        allowed = [text for text in attribute.allowed or ("a", "NHWC", "SAME") if isinstance(text, str)]
        return f'"{draw.choice(allowed)}"'
    simple = {
        "int": lambda: str(draw.choice((0, 1, 2, 3, -1))),
        "float": lambda: str(draw.choice((0.5, 1, -2))),
        "bool": lambda: draw.choice(("true", "false")),
        "type": lambda: draw.choice(_TYPES),
        "shape": lambda: "shape { " + f"dim {{ size: {draw.choice((-1, 3))} }} " * draw.randrange(3) + "}",
        "tensor": lambda: "tensor { dtype: DT_INT32 int_val: 3 }",
        "func": lambda: 'func { name: "f" }',
    }
    return simple[kind]()
