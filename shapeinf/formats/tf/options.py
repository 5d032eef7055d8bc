"""The options for reading a TensorFlow model."""

from __future__ import annotations

import attrs

from shapeinf.formats.registry import SignatureOptions, command_line


@attrs.frozen
class TensorFlowOptions(SignatureOptions):
    """How a TensorFlow model is read.

    Args:
        signature: the signature whose inputs and outputs become those of the graph, without the nodes that it does not
            need. By default the graph is complete, with the inputs and outputs of all signatures.
        tag: a tag of the MetaGraphDef to read from a SavedModel; by default the only one is read, or that for "serve".
    """

    tag: str | None = attrs.field(
        default=None,
        metadata=command_line("The tag of the graph of a SavedModel to read; `serve` by default.", metavar="TAG"),
    )
