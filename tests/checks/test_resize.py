"""`check --resize`: what prevents other sizes of inputs, named by node and constant; batches that change silently."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.checks import CheckedModel, check_resize, check_run_time_sizes
from shapeinf.cli.main import main
from shapeinf.diagnostics import Diagnostic
from tests.formats.tflite.files import (
    ADD,
    CONCATENATION,
    CONV_2D,
    RESHAPE,
    Node,
    Subgraph,
    Table,
    Tensor,
    doubled,
    file,
    ints,
    options,
)
from tests.vectors import PROJECT


def findings(*subgraphs: Subgraph) -> list[Diagnostic]:
    return check_resize(CheckedModel(infer_shapes(file(*subgraphs), declared="check")))


def at_axis(listed: Sequence[Diagnostic], axis: int) -> list[tuple[str, str, str]]:
    return [(d.code, d.node, d.op) for d in listed if d.axis == axis]


def reshaping(target: Sequence[int], dims: Sequence[int] = (1, 4, 4), out: Sequence[int] = (1, 16)) -> Subgraph:
    """ADD, then RESHAPE by a constant."""
    return doubled(target, Tensor("x", dims), out)


def test_a_constant_with_the_batch_blocks_it() -> None:
    listed = findings(reshaping([1, 16]))
    assert [at_axis(listed, axis) for axis in range(3)] == [[("C155", "1", "RESHAPE")]] * 3
    first = listed[0]
    assert first.message.startswith("x.shape[0] cannot be resized, it can only be 1: at 2, ")
    assert first.because == "the constant target is [1, 16]"
    assert first.help == "write [-1, 16] into target"
    assert listed[1].help == "compute target from the sizes of the inputs, or convert the model for each size"


def test_a_batch_in_another_axis_is_a_finding() -> None:
    """[1, 896, 16] becomes [1, 1792, 16] at batch 2."""
    listed = findings(reshaping([1, -1, 2], out=(1, 8, 2)))
    [fold] = [d for d in listed if d.code == "C157"]
    assert fold.message == "a batch of 2 becomes part of another axis of y: [1, 8, 2] becomes [1, 16, 2]"
    assert (fold.node, fold.op, fold.because) == ("1", "RESHAPE", "the constant target is [1, -1, 2]")
    assert fold.help == "write [-1, 8, 2] into target"


def test_an_option_is_named_as_a_constant_is() -> None:
    tensors = [Tensor("x", [1, 4, 4]), Tensor("y", [1, 16])]
    node = Node(RESHAPE, [0], [1], options(17, Table({0: [1, 16]})))
    first = findings(Subgraph(tensors, [0], [1], [node]))[0]
    assert (first.code, first.node, first.because) == ("C155", "0", "the option new_shape is [1, 16]")
    assert first.help == "write [-1, 16] into new_shape"


def test_the_constant_may_be_that_of_an_earlier_node() -> None:
    """A branch whose RESHAPE makes a size of its own meets one that grows."""
    tensors = [
        Tensor("x", [1, 16]),
        Tensor("fixed", [2], "int32", data=ints(1, -1)),
        Tensor("wide", [2, 16], data=bytes(128)),
        Tensor("one", [1, 32]),
        Tensor("z", [1, 48]),
    ]
    joined = Node(CONCATENATION, [0, 3], [4], options(10, Table({0: ("i", 1)})))
    listed = findings(Subgraph(tensors, [0], [4], [Node(RESHAPE, [2, 1], [3]), joined]))
    first = listed[0]
    assert (first.code, first.node, first.op, first.axis) == ("C155", "1", "CONCATENATION", 0)
    assert first.because == "the constant fixed is [1, -1] at node 0 (RESHAPE)"


def test_channels_are_fixed_by_weights_and_images_are_not() -> None:
    """Sizes of images are free; channels have the size of the weights, which is a note."""
    window = options(1, Table({0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}))
    weights = [Tensor("w", [4, 3, 3, 3], data=bytes(432)), Tensor("b", [4], data=bytes(16))]
    tensors = [Tensor("x", [1, 8, 8, 3]), *weights, Tensor("y", [1, 8, 8, 4])]
    assert findings(Subgraph(tensors, [0], [3], [Node(CONV_2D, [0, 1, 2], [3], window)])) == []


def test_axes_of_one_size_are_resized_together() -> None:
    tensors = [Tensor("x", [1, 8]), Tensor("y", [1, 8]), Tensor("z", [1, 16])]
    joined = Node(CONCATENATION, [0, 1], [2], options(10, Table({0: ("i", 1)})))
    assert findings(Subgraph(tensors, [0, 1], [2], [joined])) == []


def test_a_model_that_fails_already_has_no_findings() -> None:
    assert findings(reshaping([3, 5])) == []


@pytest.mark.parametrize(("target", "code"), [([1, 16], 1), ([-1, 16], 0)])
def test_the_command(tmp_path_factory: pytest.TempPathFactory, target: list[int], code: int) -> None:
    path = tmp_path_factory.mktemp("resize") / "x.tflite"

    path.write_bytes(file(reshaping(target)))
    run = CliRunner().invoke(main, ["check", str(path), "--resize"])
    assert run.exit_code == code, run.output
    assert ("cannot be resized" in run.output) == bool(code)
    assert CliRunner().invoke(main, ["check", str(path)]).exit_code == 0


def computed_target() -> Subgraph:
    """RESHAPE by the sum of two constants, which LiteRT does not compute before a run (tflite/kernels/add.cc)."""
    numbers = {"a": ints(1, 8), "b": ints(0, 8)}
    constants = [Tensor(name, [2], "int32", data=data) for name, data in numbers.items()]
    tensors = [Tensor("x", (1, 4, 4)), *constants, Tensor("target", [2], "int32"), Tensor("y", (1, 16))]
    return Subgraph(tensors, [0], [4], [Node(ADD, [1, 2], [3]), Node(RESHAPE, [0, 3], [4])])


def test_a_tensor_of_known_size_that_a_run_decides_is_listed() -> None:
    model = CheckedModel(infer_shapes(file(computed_target()), declared="check"))
    [late] = check_run_time_sizes(model)
    assert (late.severity, late.code, late.node, late.op, late.tensor) == ("note", "C158", "1", "RESHAPE", "y")
    assert late.message == "y has the shape [1, 16], but litert knows its sizes only when the node runs"
    assert not check_run_time_sizes(CheckedModel(infer_shapes(file(reshaping([1, 16])), declared="check")))


def test_other_formats_have_no_interpreter() -> None:
    assert not check_run_time_sizes(CheckedModel(infer_shapes(PROJECT / "examples" / "decoder.onnx", declared="check")))
