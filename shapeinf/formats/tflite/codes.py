"""The diagnostic codes of TensorFlow Lite files."""

from __future__ import annotations

from shapeinf.diagnostics import register_code

IN_PLACE = "L101"
OTHER_SIGNATURES = "L102"
READ_BEFORE = "L103"
NO_DATA = "L104"

register_code(
    IN_PLACE,
    "error",
    "a tensor that is an input and an output of one node",
    "LiteRT refuses such a model when it allocates its tensors.",
)
register_code(
    OTHER_SIGNATURES,
    "note",
    "signatures of other subgraphs than the subgraph that is read",
    "Each signature is a model of its own; `--signature` selects it.",
)
register_code(
    READ_BEFORE,
    "error",
    "a node that reads what a later node writes",
    "LiteRT runs the nodes in the order of the file: this one would read memory that nothing has written.",
)
register_code(
    NO_DATA,
    "error",
    "a node that reads a tensor without data, which no node writes",
    "LiteRT loads such a model and fails when it runs the node.",
)
