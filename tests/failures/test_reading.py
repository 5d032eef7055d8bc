"""Error texts of runtimes as records: of public issues, and of runs."""

from __future__ import annotations

import random

import pytest

from shapeinf.runtime_messages import MAX_TEXT, InputMismatch, find_message, find_messages

TEXTS = [
    (  # NVIDIA/TensorRT#3990
        "DefaultLogger 7: [shapeMachine.cpp::executeContinuation::864] Error Code 7: Internal Error (IShuffleLayer "
        "(Unnamed Layer* 190) [Shuffle]: reshaping failed for tensor: TensorRTInputPH_38 reshape would change volume "
        "97200 to 98100 Instruction: RESHAPE_ZERO_IS_PLACEHOLDER{3240 1 30} {545 180}.)",
        ("tensorrt", "node", "Reshape", ()),
    ),
    (  # lix19937/tensorrt-insight#23
        "[06/27/2024-11:48:30] [E] Error[4]: [graphShapeAnalyzer.cpp::analyzeShapes::1872] Error Code 4: Miscellaneous "
        "(IShuffleLayer Reshape_966: reshape wildcard -1 has no integer solution. Reshaping [6,1000,8,32] to "
        "[6,334,-1].)",
        ("tensorrt", "node", "Reshape", ("Reshape_966",)),
    ),
    (  # NVIDIA/TensorRT#2248
        "Error Code 4: Miscellaneous (IShuffleLayer bbox_pred/reshape: reshape changes volume. Reshaping [2] to [3].)",
        ("tensorrt", "node", "Reshape", ("bbox_pred/reshape",)),
    ),
    (  # bes-dev/random_face#10
        "RuntimeError: Check 'T::broadcast_merge_into(output_shape, input_shapes[1], autob)' failed at "
        "src/core/shape_inference/include/utils.hpp:42:\nWhile validating node 'opset1::Multiply Multiply_10232 "
        "(Mul_39_copy[0]:f32[512,512,3,3], Constant_10185[0]:f32[1,512,4,4]) -> (dynamic[...])' with friendly_name "
        "'Multiply_10232':\nArgument shapes are inconsistent.",
        ("openvino", "node", "Mul", ("Multiply_10232",)),
    ),
    (  # bes-dev/random_face#6, an older version
        "RuntimeError: Check 'PartialShape::broadcast_merge_into(pshape, node->get_input_partial_shape(i), autob)' "
        "failed at core/src/op/util/elementwise_args.cpp:30:\nWhile validating node 'v1::Multiply Multiply_9566 "
        "(Mul_39_copy[0]:f32{512,512,3,3}, Constant_9519[0]:f32{1,512,4,4}) -> (dynamic...)' with friendly_name "
        "'Multiply_9566':\nArgument shapes are inconsistent.",
        ("openvino", "node", "Mul", ("Multiply_9566",)),
    ),
    (  # openvinotoolkit/openvino#28201
        "Caught exception: Check 'TRShape::merge_into(output_shape, in_copy)' failed at "
        "src/core/shape_inference/include/concat_shape_inference.hpp:43:\nWhile validating node 'opset1::Concat "
        "concat:__module.model.model.layers.0.self_attn/aten::cat/Concat_2 () -> ()' with friendly_name "
        "'concat:__module.model.model.layers.0.self_attn/aten::cat/Concat_2':\nShape inference input shapes "
        "{[1,0,0,128],[1,10,2172,128]}\nArgument shapes are inconsistent; they must have the same rank.",
        ("openvino", "node", "Concat", ("concat:__module.model.model.layers.0.self_attn/aten::cat/Concat_2",)),
    ),
    (  # ayush1997/Xvision#7, TensorFlow 1.0
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [9] vs. [25]\n         "
        '[[Node: Equal = Equal[T=DT_INT64, _device="/job:localhost/replica:0/task:0/cpu:0"](ArgMax_1, ArgMax_2)]]',
        ("tensorflow", "node", "Equal", ("Equal",)),
    ),
    (  # dennybritz/chatbot-retrieval#86
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [730,5] vs. [30,5]\n"
        "         [[{{node gradients/Add_4_grad/BroadcastGradientArgs}}]]\n\nDuring handling of the above exception, "
        "another exception occurred:\n\nTraceback (most recent call last):",
        ("tensorflow", "node", None, ("gradients/Add_4_grad/BroadcastGradientArgs",)),
    ),
    (  # ShujinW/Deep-Video-Inpainting-Localization#1, with the line of the source
        "InvalidArgumentError\n2 root error(s) found.\n  (0) Invalid argument: Incompatible shapes: [480,856] vs. "
        "[2,8,1,0,0]\n\t [[node add (defined at /site-packages/tensorflow_core/python/framework/ops.py:1748) ]]\n\t "
        "[[Add_2/_79]]",
        ("tensorflow", "node", None, ("add",)),
    ),
    (  # tensorflow/tensorflow#55284
        "self._interpreter.AllocateTensors() returns with error : +1: Node number 189 (ADD) failed to prepare.",
        ("litert", "node", "ADD", ()),
    ),
    (  # tulasiram58827/craft_tflite#8
        "RuntimeError: tensorflow/lite/kernels/space_to_batch_nd.cc:83 final_dim_size % block_shape[dim] != 0 (4 != 0)"
        "Node number 66 (SPACE_TO_BATCH_ND) failed to prepare.Failed to apply the default delegate indexed at 0.",
        ("litert", "node", "SPACE_TO_BATCH_ND", ()),
    ),
    (  # tensorflow/tensorflow#19982
        "Internal error: Cannot allocate memory for the interpreter: tensorflow/contrib/lite/kernels/conv.cc:191 "
        "input->dims->size != 4 (0 != 4)Node 0 failed to prepare.",
        ("litert", "node", None, ()),
    ),
    (
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        ("torch", "node", "mm", ()),
    ),
    (
        "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Trilu(14) node with name 't'",
        ("onnxruntime", "unsupported", "Trilu", ("t",)),
    ),
    (
        "[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from a.onnx failed:Load model a.onnx failed. "
        "File doesn't exist",
        ("onnxruntime", "file", None, ()),
    ),
    (
        "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unexpected input data type. Actual: (tensor(double)) , expected: "
        "(tensor(float))",
        ("onnxruntime", "type", None, ()),
    ),
    (
        "[ONNXRuntimeError] : 1 : FAIL : Load model from m.onnx failed:Node (Concat_3) Op (Concat) "
        "[ShapeInferenceError] All inputs to Concat must have same rank",
        ("onnxruntime", "node", "Concat", ("Concat_3",)),
    ),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'm.onnx'", ("", "file", None, ())),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts_of_public_issues(text: str, expected: tuple[str, str, str | None, tuple[str, ...]]) -> None:
    message = find_message(text)
    assert message is not None
    runtime, kind, operator, names = expected
    assert (message.runtime, message.kind) == (runtime, kind)
    assert operator is None or operator in message.operators
    assert message.names[: len(names)] == names


BROADCAST = (
    "Non-zero status code returned while running Add node. Name:'/enc/Add_1' Status Message: /onnxruntime_src/x.h:583 "
    "Attempting to broadcast an axis by a dimension other than 1. 2 by 3"
)


def test_sizes_are_read() -> None:
    add = find_message(BROADCAST)
    assert add is not None and add.pair == (2, 3)
    multiply = find_message(TEXTS[3][0])
    assert multiply is not None and multiply.shapes == ((512, 512, 3, 3), (1, 512, 4, 4))
    assert multiply.operands == ("Mul_39_copy", "Constant_10185")
    equal = find_message(TEXTS[6][0])
    assert equal is not None and equal.shapes == ((9,), (25,))
    node = find_message(TEXTS[9][0])
    assert node is not None and node.number == 189


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", (3, 4)),
        ("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 5].", (4, 5)),
        ("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", (3, 4)),
        ("The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.", (4, 3)),
        ("Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor", (2, 3)),
        ("input.size(-1) must be equal to input_size. Expected 4, got 5", (4, 5)),
    ],
)
def test_the_sizes_that_torch_compared_are_read(text: str, pair: tuple[int, int]) -> None:
    message = find_message(f"RuntimeError: {text}")
    assert message is not None and (message.runtime, message.pair) == ("torch", pair)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("Expected input at *args[0].shape[1] to be equal to 4, but got 3", InputMismatch("0", 1, 3, 4)),
        ("Expected input at *args[2].shape[1] to be <= 8, but got 9", InputMismatch("2", 1, 9, None)),
        (
            "Static dimension mismatch while setting input shape for x. Set dimensions are [2,3]. "
            "Expected dimensions are [2,4].",
            InputMismatch("x", 1, 3, 4),
        ),
    ],
)
def test_the_sizes_of_inputs_are_read(text: str, inputs: InputMismatch) -> None:
    message = find_message(text)
    assert message is not None and message.inputs == (inputs,)


def test_inputs_are_read() -> None:
    message = find_message(
        "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got invalid dimensions for input: image for the following "
        "indices\n index: 1 Got: 4 Expected: 3\n index: 2 Got: 225 Expected: 224\n Please fix either the "
        "inputs/outputs or the model."
    )
    assert message is not None
    assert message.inputs == (InputMismatch("image", 1, 4, 3), InputMismatch("image", 2, 225, 224))
    bound = find_message(
        "Supplied binding dimension [4,3,256,256] for bindings[0] exceed min ~ max range at index 0, maximum dimension "
        "in profile is 1, minimum dimension in profile is 1, but supplied dimension is 4."
    )
    assert bound is not None and bound.inputs == (InputMismatch("0", 0, 4, 1),)


@pytest.mark.parametrize(
    ("text", "requested"),
    [
        ("Failed to allocate memory for requested buffer of size 3221225472", 3221225472),
        ("OOM when allocating tensor with shape[2,1024] and type float on /job:localhost by allocator cpu", 8192),
        ("RuntimeError: [enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4096", 4096),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has", 2684354560),
    ],
)
def test_allocations_are_read(text: str, requested: int) -> None:
    message = find_message(text)
    assert message is not None and (message.kind, message.requested) == ("memory", requested)


def test_a_message_is_found_in_a_colored_log() -> None:
    log = f"INFO start\r\n\x1b[1;31m2026-11-27 [E:onnxruntime:, x.cc:677] {BROADCAST}\r\n\x1b[m\r\nTraceback\n" * 3
    messages = find_messages("line\n" * 1000 + log + "end\n" * 10)
    assert len(messages) == 1 and messages[0].names == ("/enc/Add_1",)


def test_a_cut_message_is_read_as_far_as_it_goes() -> None:
    start = BROADCAST.index("Name:")
    for end in range(start + 8, len(BROADCAST)):
        message = find_message(BROADCAST[:end])
        assert message is not None and message.operators[0] == "Add"


def test_nodes_of_bodies_are_innermost_first() -> None:
    inner = "Non-zero status code returned while running Loop node. Name:'loop' Status Message: " + BROADCAST
    message = find_message(inner)
    assert message is not None and message.names == ("/enc/Add_1", "loop")


def test_quotes_belong_to_names() -> None:
    message = find_message(BROADCAST.replace("/enc/Add_1", "it's 'x'"))
    assert message is not None and message.names == ("it's 'x'",)


@pytest.mark.parametrize("text", ["", "hello", "\x00" * 100, "[[{{node", "Name:'", "(" * 1000, "{" * 50_000])
def test_other_texts_have_no_message(text: str) -> None:
    assert find_message(text) is None


PIECES = [
    *("[[{{node ", "}}]]", "Name:'", "' Status Message: ", "While validating node '", "[CPU] Add node with name '"),
    *("Non-zero status code returned while running A node. Name:'", "Node number 1 (ADD) failed to prepare", "\n"),
    *("Got invalid dimensions for input: ", "index: 1 Got: 2 Expected: 3", "\x1b[", "\x1b[1;", "{1,", "[0]:f32["),
    *(
        "Incompatible shapes: [",
        "vs. [",
        "1x",
        "(2x3 and 4",
        "Detected at node '",
        "IShuffleLayer ",
        "a" * 50,
        "9" * 50,
    ),
    *("Load model from ", "argument ", "Guard failed: ", 'File "', ", line ", 'in Node, ("', "Node ", " of type If"),
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_of_one_piece_is_read(piece: str) -> None:
    find_messages(piece * (MAX_TEXT // len(piece)))


@pytest.mark.parametrize("seed", range(4))
def test_a_megabyte_of_pieces_is_read(seed: int) -> None:
    draw = random.Random(seed)
    find_messages("".join(draw.choice(PIECES) for _ in range(MAX_TEXT // 20)))
