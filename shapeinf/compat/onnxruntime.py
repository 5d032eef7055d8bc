"""The class of `onnxruntime.tools.symbolic_shape_infer`, with shapes by shapeinf; sympy is not needed.

As a script it has the options of onnxruntime's:

    python -m shapeinf.compat.onnxruntime --input model.onnx --output annotated.onnx
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence

import onnx
import onnx.checker

from shapeinf.api import infer
from shapeinf.compat.messages import copy_message, infer_message
from shapeinf.engine.tensor_info import annotation
from shapeinf.errors import Contradiction, ModelError, ShapeInferenceError
from shapeinf.formats.files import WriteOptions, is_same_file
from shapeinf.formats.onnx.writer import write
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.result import Result

__all__ = ["SymbolicShapeInference"]

logger = logging.getLogger(__name__)

INT_MAX = 2**31 - 1

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


class SymbolicShapeInference:
    """Symbolic shape inference as onnxruntime's tool offers it.

    A subclass may run the steps itself: `_preprocess(model)`, then `_infer_impl()` while `run_` holds. `out_mp_` is
    then the annotated copy of the model, `known_vi_` has the declarations of its values by name. If it has a mapping
    `dynamic_axis_mapping_`, the dims of these names have these sizes.
    """

    def __init__(self, int_max: int, auto_merge: bool, guess_output_rank: bool, verbose: int, prefix: str = "") -> None:
        """The options of `infer_shapes`; `prefix` has no effect."""
        self.verbose_ = verbose
        self.run_ = True

    @staticmethod
    def infer_shapes(
        in_mp: onnx.ModelProto,
        int_max: int = INT_MAX,
        auto_merge: bool = False,
        guess_output_rank: bool = False,
        verbose: int = 0,
    ) -> onnx.ModelProto:
        """A copy of a model with the types of all values, in bodies and functions too.

        A value whose shape is not known stays without one: no "Incomplete symbolic shape inference" is raised.

        Args:
            in_mp: the model; it stays as it is.
            int_max: has no effect: ends of slices need no limit from which on they count as open.
            auto_merge: has no effect: dims that the graph requires to be equal are always merged.
            guess_output_rank: has no effect: ranks are not guessed.
            verbose: with 1 or more, the diagnostics are logged as warnings.

        Raises TypeError for what is no `ModelProto`, ModelError for a malformed model.
        """
        if not isinstance(in_mp, onnx.ModelProto):
            raise TypeError(f"infer_shapes takes a ModelProto, not a {type(in_mp).__name__}: load the model with onnx")
        model = copy_message(in_mp)
        _log(_infer(model), verbose)
        return model

    # `patched` gives these steps to onnxruntime's own class: they use no attribute but those that they set.

    def _preprocess(self, in_mp: onnx.ModelProto) -> None:
        """Infer a copy of a model, and set the attributes that callers read."""
        copy = copy_message(in_mp)
        _log(_infer_at(copy, getattr(self, "dynamic_axis_mapping_", {})), getattr(self, "verbose_", 0))
        graph = copy.graph
        constants = {t.name: onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in graph.initializer}
        self.out_mp_ = copy
        self.known_vi_ = {value.name: value for value in graph.input} | constants
        self.known_vi_.update((value.name, value) for value in (*graph.value_info, *graph.output))
        self.run_ = True

    def _infer_impl(self, start_sympy_data: object = None) -> bool:
        """Whether all shapes are known; there is no further step."""
        self.run_ = False
        produced = (name for node in self.out_mp_.graph.node for name in node.output if name)
        return all(name in self.known_vi_ and _is_known(self.known_vi_[name]) for name in produced)

    def _update_output_from_vi(self) -> None:
        """Outputs have their types already."""


def _infer(model: onnx.ModelProto, options: InferenceOptions = DEFAULT_OPTIONS) -> Result:
    """Infer a model, and write all types into it.

    Domains without an opset have version 1 meanwhile: optimizers import those of new nodes when they are done.
    """
    imported = {entry.domain or "ai.onnx" for entry in model.opset_import}
    missing = sorted(_domains(model.graph) - imported)
    model.opset_import.extend(onnx.helper.make_opsetid(domain, 1) for domain in missing)
    try:
        return infer_message(model, options, name_inputs=True)
    finally:
        del model.opset_import[len(model.opset_import) - len(missing) :]


def _domains(graph: onnx.GraphProto) -> set[str]:
    """The domains of the operators of a graph and of the bodies in it."""
    domains = {node.domain or "ai.onnx" for node in graph.node}
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs) if attribute.type in _GRAPHS else ():
                domains |= _domains(body)
    return domains


def _infer_at(model: onnx.ModelProto, sizes: Mapping[str, int]) -> Result:
    """Infer a model, at these sizes of its dims where they are legal."""
    if sizes:
        names = {d.dim_param for value in model.graph.input for d in value.type.tensor_type.shape.dim}
        bind = {name: size for name, size in sizes.items() if name in names}
        try:
            return _infer(model, InferenceOptions(bind=bind))
        except Contradiction:
            logger.warning("The sizes %s are not legal for the model.", bind)
    return _infer(model)


def _is_known(value: onnx.ValueInfoProto) -> bool:
    """Whether the type of a value is declared with all dims of a tensor."""
    type_ = value.type
    if type_.WhichOneof("value") != "tensor_type":
        return type_.WhichOneof("value") is not None
    tensor = type_.tensor_type
    return tensor.elem_type > 0 and tensor.HasField("shape") and all(d.WhichOneof("value") for d in tensor.shape.dim)


def _log(result: Result, verbose: int) -> None:
    if verbose > 0:
        for diagnostic in result.diagnostics:
            logger.warning("%s", diagnostic)


# -- the script --------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script. The status is 2 for a model that cannot be read or written."""
    options = _parser().parse_args(arguments)
    try:
        if options.output and options.save_as_external_data:
            _write_with_data(options)
        else:
            _write(options)
    except (ShapeInferenceError, OSError, onnx.checker.ValidationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _write(options: argparse.Namespace) -> None:
    """Write the annotated model; weights in other files stay there in the folder of the input, else are embedded."""
    result = _read(options)
    if not options.output:
        return
    folders = [os.path.dirname(os.path.abspath(path)) for path in (options.input, options.output)]
    keep = not result.graph.external or is_same_file(*folders)
    how = WriteOptions("keep" if keep else "embed", "all", name_inputs=True)
    write(result.graph, annotation(result.engine.inference), options.output, how)


def _write_with_data(options: argparse.Namespace) -> None:
    """Write the annotated model with its weights in other files, as `onnx.save_model` does."""
    _read(options)  # reports a malformed model
    location = options.external_data_location
    if options.single_file and os.path.normpath(location) == os.curdir:
        location = f"{os.path.basename(options.output)}.data"
    onnx.save_model(
        SymbolicShapeInference.infer_shapes(onnx.load(options.input)),
        options.output,
        **{"save_as_external_data": True, "all_tensors_to_one_file": options.single_file},
        location=location,
        size_threshold=options.external_data_size_threshold,
        convert_attribute=False,
    )


def _read(options: argparse.Namespace) -> Result:
    result = infer(options.input)
    if result.graph.format != "onnx":
        raise ModelError("is not an ONNX model", node=options.input)
    _log(result, options.verbose)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m shapeinf.compat.onnxruntime",
        description="Write a model with the shapes of all its values; the options are those of onnxruntime's "
        "symbolic_shape_infer.",
    )
    option = parser.add_argument
    no_effect = "without effect, for scripts written for onnxruntime"
    option("--input", required=True, help="the model")
    option("--output", help="the file to write")
    option("--auto_merge", action="store_true", help=f"{no_effect}: equal dims are always merged")
    option("--int_max", type=int, default=INT_MAX, help=f"{no_effect}: ends of slices need no limit")
    option("--guess_output_rank", action="store_true", help=f"{no_effect}: ranks are not guessed")
    option("--verbose", type=int, default=0, help="1 or more prints the diagnostics")
    option("--save_as_external_data", action="store_true", help="write the weights to other files")
    option("--all_tensors_to_one_file", dest="single_file", action="store_true", help="write all weights to one file")
    option("--external_data_location", default="./", help="the name of this file; the output with .data by default")
    option("--external_data_size_threshold", type=int, default=1024, help="bytes of the smallest weight in a file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
