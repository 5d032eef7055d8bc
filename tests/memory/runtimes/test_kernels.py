"""The kernels of onnxruntime: what rules predict against what runs allocate, and formulas against numbers."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, DimSize
from shapeinf.memory.runtimes.kernels import KernelContext, KernelOptions, RuntimeKernels, Scratch
from shapeinf.runtime.allocation_counter import AllocationCounter, Allocations, SessionOptions, counter_obstacle
from shapeinf.runtime.protocol import Refusal
from tests.memory.runtimes.kernel_cases import Case, cases
from tests.memory.runtimes.kernel_models import MS, NCHWC, Input, context, held, infer, kernels, peak, rounded
from tests.memory.runtimes.test_kernel_table import MEASURED, base_name, domain_of
from tests.vectors import PROJECT, need

CPU = Path("/proc/cpuinfo")
VERSION = "1.32.0"
"""The version of onnxruntime that the rules describe."""
THREADS = (1, 2, 3)
BYTES_OF_A_THREAD = 128
"""What a session holds for each thread but the first one."""
SLOW = ((3, 1), (4, 2), (5, 3))
UNPACKED = {"session.disable_prepacking": "1"}


@pytest.fixture(scope="module")
def counter() -> Iterator[AllocationCounter]:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be measured")
    obstacle = counter_obstacle()
    if onnxruntime.__version__ != VERSION:
        obstacle = f"the rules are those of onnxruntime {VERSION}, not of {onnxruntime.__version__}"
    if obstacle:
        warnings.warn(f"kernels are not measured: {obstacle}", stacklevel=2)
        pytest.skip(obstacle)
    with AllocationCounter() as running:
        yield running


WIDER = {"avx512f", "avx_vnni", "avx512_vnni", "amx_int8"}
"""Instructions with kernels of their own: other packed sizes of integers, and blocks of more channels."""


def measured_cases(seed: int) -> Sequence[Case]:
    """The cases whose rules hold for this processor; skips the test if it is not of the family that was measured."""
    flags = set(CPU.read_text(encoding="utf-8").split()) if CPU.exists() else set()
    if "avx2" not in flags:
        pytest.skip("the rules are those of processors with AVX2")
    listed = cases(seed)
    if not flags & WIDER:
        return listed
    warnings.warn("products of integers and blocked channels differ on this processor: not measured", stacklevel=2)
    return [case for case in listed if case.domain != NCHWC and not reads_integers(case)]


def reads_integers(case: Case) -> bool:
    dtypes = {value.array.dtype.name for value in case.inputs if value is not None and value.array.ndim > 1}
    return bool(dtypes & {"int8", "uint8"}) or "Quantize" in case.op


def differences(case: Case, folder: Path, counter: AllocationCounter) -> Iterator[str]:
    """What a session of this case allocates, where the rules predict something else."""
    sessions = [(threads, True) for threads in THREADS] + [(1, False)]
    options = [SessionOptions(threads=t, runs=2, entries={} if packs else UNPACKED) for t, packs in sessions]
    try:
        measured = counter.measure_all(str(case.save(folder)), case.feeds(), options)
    except Refusal as refusal:
        yield f"{case.label}: {refusal}"
        return
    result = infer(case)
    for (threads, packs), allocations in zip(sessions, measured, strict=True):
        call = context(result, threads, packs)
        yield from disagreements(case, call, allocations)


def disagreements(case: Case, call: KernelContext, allocations: Allocations) -> Iterator[str]:
    options = call.options
    scratch = kernels().find_scratch(call)
    predicted, observed = peak(scratch, allocations.outputs), allocations.peaks[-1]
    if predicted != observed and not (scratch.is_bound and predicted > observed):
        yield f"{case.label}, {options}: {predicted} bytes predicted, {observed} at the peak"
    total = held(call, case) + BYTES_OF_A_THREAD * (options.threads - 1)
    if total != allocations.held:
        yield f"{case.label}, {options}: {total} bytes predicted, {allocations.held} held"


@pytest.mark.parametrize("seed", range(2))
def test_kernels_allocate_what_the_rules_predict(seed: int, counter: AllocationCounter, tmp_path: Path) -> None:
    """A slice of the cases; the slow test has all of them."""
    chosen = np.random.default_rng(seed).permutation(measured_cases(seed))[:30]
    assert [text for case in chosen for text in differences(case, tmp_path, counter)] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 16))
def test_all_kernels_allocate_what_the_rules_predict(seed: int, counter: AllocationCounter, tmp_path: Path) -> None:
    assert [text for case in measured_cases(seed) for text in differences(case, tmp_path, counter)] == []


def totals(scratch: Scratch, binding: dict[str, int]) -> list[int]:
    sides = (scratch.before_outputs, scratch.with_outputs)
    return [sum(rounded(size, binding) for size in sizes) for sizes in sides]


def symbols_of(size: DimSize) -> frozenset[Dimension]:
    return frozenset() if isinstance(size, int) else size.symbols()


NUMBERS_ONLY = {
    "QLinearConv variable": "the size of a kernel decides which one runs",
    "Conv 1x1 ": "the size of a kernel decides which one runs",
    "Resize sizes": "the sizes of the output are numbers, and those of the input are not",
    "Resize uint8": "the sizes of the output are numbers, and those of the input are not",
    "Resize antialias": "the sizes of the output are numbers, or not known",
    "Einsum ...": "axes of an ellipsis may broadcast",
    "Einsum i...": "axes of an ellipsis may broadcast",
    "Einsum b...": "axes of an ellipsis may broadcast",
    "Einsum a...": "axes of an ellipsis may broadcast",
    "DFT": "the next power of two is no polynomial",
    "STFT": "the next power of two is no polynomial",
}
"""Cases whose temporaries are not known with symbols for all sizes, with the reason."""


@pytest.mark.parametrize(
    ("seed", "threads", "step"),
    [(1, 1, 8), (2, 3, 8), *(pytest.param(seed, threads, 1, marks=pytest.mark.slow) for seed, threads in SLOW)],
)
def test_formulas_have_the_values_of_numbers(seed: int, threads: int, step: int) -> None:
    """With a symbol for each size of an input, the formula at these sizes is what the rule returns for numbers."""
    for case in cases(seed)[seed::step]:
        expected = kernels().find_scratch(context(infer(case), threads))
        call = context(infer(case, symbolic=True), threads)
        try:
            scratch = kernels().find_scratch(call)
        except NotKnown:
            assert case.label.startswith(tuple(NUMBERS_ONLY)), case.label
            continue
        names = {str(s) for size in (*scratch.before_outputs, *scratch.with_outputs) for s in symbols_of(size)}
        if names - case.binding().keys():
            assert case.label.startswith("Resize antialias"), case.label
            continue
        values = totals(scratch, case.binding())
        if scratch.is_bound:
            assert all(a >= b for a, b in zip(values, totals(expected, {}), strict=True)), case.label
        else:
            assert values == totals(expected, {}), case.label


def test_each_rule_is_measured() -> None:
    listed = {(case.domain, case.op) for case in cases(0)} | {("", op) for op in SEQUENCES}
    assert kernels().measured() - listed == set()


X, SEQUENCE = "float[6,30,50] x", "seq(float[A,B,C]) s"
SEQUENCES = {
    "SplitToSequence": (X, "seq(float[A,B,C]) y", "SplitToSequence<axis = 0>(x)", 6 * 6016),
    "SequenceConstruct": (X, "seq(float[A,B,C]) y", "SequenceConstruct(x, x)", 2 * 36032),
    "ConcatFromSequence": (SEQUENCE, "float[A,B,C] y", "ConcatFromSequence<axis = 0>(s)", 72000),
    "SequenceAt": (f"{SEQUENCE}, int64 i", "float[A,B,C] y", "SequenceAt(s, i)", 36032),
    "SequenceErase": (f"{SEQUENCE}, int64 i", "seq(float[A,B,C]) y", "SequenceErase(s, i)", 0),
    "SequenceInsert": (f"{SEQUENCE}, {X}", "seq(float[A,B,C]) y", "SequenceInsert(s, x)", 36032),
    "SequenceLength": (SEQUENCE, "int64 y", "SequenceLength(s)", 64),
    "SequenceEmpty": ("float[1] z", "seq(float[A,B,C]) y", "SequenceEmpty()", 0),
}
"""By operator the inputs, the output, the node, and the bytes of new elements, which are copies: nothing more lives."""


@pytest.mark.parametrize("op", sorted(SEQUENCES))
def test_operators_on_sequences_copy_elements_only(op: str, counter: AllocationCounter, tmp_path: Path) -> None:
    inputs, output, node, expected = SEQUENCES[op]
    text = f'<ir_version: 8, opset_import: ["": 17]> g ({inputs}) => ({output}) {{ y = {node} }}'
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    x = np.ones((6, 30, 50), np.float32)
    feeds = {"x": x, "s": [x, x], "i": np.array(1), "z": np.zeros(1, np.float32)}
    used = {name: value for name, value in feeds.items() if f" {name}" in inputs}
    assert counter.measure(str(path), used).peaks == (expected,)


@pytest.mark.parametrize("label", sorted(label for label, entry in MEASURED.items() if entry == {"scratch": 0}))
def test_operators_without_temporaries_have_a_rule(label: str) -> None:
    """The table has no sizes for these."""
    need(MEASURED, "runtime_memory/scratch.json")
    key = (domain_of(label), base_name(label))
    assert key in kernels().measured() or key in kernels().replaced()


def installed_kernels() -> dict[tuple[str, str], list[Any]]:
    """The kernels for processors in the installed onnxruntime."""
    module = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    listed: dict[tuple[str, str], list[Any]] = {}
    for kernel in module.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            listed.setdefault((kernel.domain, kernel.op_name), []).append(kernel)
    return listed


def test_every_rule_is_for_a_kernel() -> None:
    installed = set(installed_kernels())
    assert kernels().measured() - installed == set()
    assert not kernels().replaced() & installed - {("", "MeanVarianceNormalization")}


def test_the_page_lists_the_kernels_of_today() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if onnxruntime.__version__ != VERSION:
        pytest.skip(f"the lists are those of onnxruntime {VERSION}, not of {onnxruntime.__version__}")
    path = PROJECT / "tools" / "make_kernel_table.py"
    tool = runpy.run_path(str(path))
    assert tool["PAGE"].read_text(encoding="utf-8") == tool["new_page"](), f"run python tools/{path.name}"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_types_that_are_not_converted_have_kernels(dtype: str) -> None:
    installed = installed_kernels()
    for key in kernels().supporting(dtype):
        types = {name for kernel in installed[key] for names in kernel.type_constraints.values() for name in names}
        assert f"tensor({dtype})" in types, key


def test_a_kernel_that_was_not_measured_is_unknown() -> None:
    case = Case("MoE", "Inverse", [Input(np.zeros((2, 3, 3), np.float32))], domain=MS)
    call = context(infer(case))
    assert kernels().find_scratch(call) == Scratch()
    empty = RuntimeKernels("toy", 64)
    with pytest.raises(NotKnown, match="not measured"):
        empty.find_scratch(call)


def test_an_error_of_a_rule_is_an_unknown() -> None:
    toy = RuntimeKernels("toy", 64)

    @toy.scratch("Inverse", domain=MS)
    def broken(c: KernelContext) -> Scratch:
        raise ZeroDivisionError("0")

    call = context(infer(Case("x", "Inverse", [Input(np.zeros((2, 3, 3), np.float32))], domain=MS)))
    with pytest.raises(NotKnown, match="ZeroDivisionError"):
        toy.find_scratch(call)


def test_float16_without_a_kernel_is_unknown() -> None:
    half = Input(np.zeros((2, 3), np.float16))
    with pytest.raises(NotKnown, match="float16"):
        kernels().find_scratch(context(infer(Case("x", "Add", [half, half]))))


def test_the_cache_decides_the_blocks_of_attention() -> None:
    """Flash attention: a smaller cache has smaller blocks."""
    x = Input(np.zeros((1, 600, 64), np.float32))
    call = context(infer(Case("x", "MultiHeadAttention", [x, x, x], {"num_heads": 1}, MS)))
    amounts = []
    for size in (1 << 18, 1 << 19, 1 << 20):
        call.options = KernelOptions(l2_cache_bytes=size)
        amounts.append(kernels().find_scratch(call).with_outputs[-1])
    assert amounts == [4 * (2 * 128 + 128 * keys + 128 * 64) for keys in (128, 256, 512)]
