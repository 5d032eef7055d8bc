"""Operators in networks that torch cannot run: old and foreign names, and operators that pnnx does not convert.

The expected types are those of torch's functions, run by hand; for torchaudio, those of its sources, run in torch.
"""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.lattice.dtypes import SHORT_NAMES

SPECTROGRAM, INVERSE = "torchaudio.functional.spectrogram", "torchaudio.functional.inverse_spectrogram"
FRAMES = "center=True hop_length=16 n_fft=64 normalized=False onesided=True pad_mode=reflect win_length=64"
SIGNAL = "(2,400)f32 (64)f32"
HALVED = "center=True hop_length=16 n_fft=64 normalized=False win_length=64"

CASES = [
    (SPECTROGRAM, f"{FRAMES} pad=0 power=None $input=0 $window=1", SIGNAL, "(2,33,26)c64"),
    (
        SPECTROGRAM,
        "center=False hop_length=20 n_fft=50 normalized=False onesided=False pad=3 pad_mode=reflect power=2 "
        "win_length=50 $input=0 $window=1",
        "(400)f32 (50)f32",
        "(50,18)f32",
    ),
    (
        SPECTROGRAM,
        "center=True hop_length=20 n_fft=65 normalized=True onesided=False pad=5 pad_mode=constant power=1 "
        "win_length=65 $input=0 $window=1",
        "(2,3,401)f32 (65)f32",
        "(2,3,65,21)f32",
    ),
    (INVERSE, f"{HALVED} length=None onesided=True pad=0 $input=0 $window=1", "(2,33,20)c64 (64)f32", "(2,304)f32"),
    (INVERSE, f"{HALVED} length=200 onesided=True pad=4 $input=0 $window=1", "(33,20)c64 (64)f32", "(200)f32"),
    (
        INVERSE,
        "center=False hop_length=16 n_fft=64 length=None normalized=False onesided=False pad=4 win_length=64 "
        "$input=0 $window=1",
        "(2,3,64,20)c64 (64)f32",
        "(2,3,368)f32",
    ),
    ("torch.norm", "dim=(1) keepdim=False p=inf $input=0", "(2,3,5)f32", "(2,5)f32"),
    ("torch.var", "dim=(0,2) keepdim=True unbiased=2 $input=0", "(2,3,5)f32", "(1,3,1)f32"),
    ("torch.logsumexp", "dim=None keepdim=True $input=0", "(2,3,5)f32", "(1,1,1)f32"),
    ("torch.clamp", "max=1 min=0 $input=0", "(2,3)bool", "(2,3)i64"),
    ("torch.max", "$input=0 $other=1", "(2,1)i32 (3)f16", "(2,3)f16"),
    ("torch.where", "input=True other=2 $condition=0", "(2,3)bool", "(2,3)i64"),
    ("aten::std", "", "(2,3)c64 null", "()f32"),
    ("aten::var", "", "(2,3)f16 null", "()f16"),
    ("aten::prod", "", "(2,3)bool", "()i64"),
    ("aten::erf", "", "(2,3)i64", "(2,3)f32"),
    ("aten::log", "", "(2,3)c64", "(2,3)c64"),
    ("aten::sigmoid", "", "(2,3)bool", "(2,3)f32"),
    ("aten::sqrt", "", "(2,3)f16", "(2,3)f16"),
    ("aten::tanh", "", "(2,3)f64", "(2,3)f64"),
    ("aten::relu", "", "(2,3)i32", "(2,3)i32"),
    ("aten::relu6", "", "(2,3)i64", "(2,3)i64"),
    ("aten::add", "other=2.5", "(2,3)i32", "(2,3)f32"),
    ("aten::sub", "", "(2,1)f16 (3)i32", "(2,3)f16"),
    ("aten::mul", "", "(2,3)u8 (3)i8", "(2,3)i16"),
    ("aten::div", "", "(2,3)i64 (3)i32", "(2,3)f32"),
    ("aten::cat", "dim=1", "(2,3)i64 (2,4)f16", "(2,7)f16"),
]


def network(operator, parameters, inputs, outputs=1):
    """A file with one operator."""
    lines = [
        f"pnnx.Input in{i} 0 1 {i}" + (f" #{i}={type_}" if type_ != "null" else "") for i, type_ in enumerate(inputs)
    ]
    count = len(inputs)
    names = [str(i) for i in range(count + outputs)]
    lines.append(f"{operator} op {count} {outputs} {' '.join(names)} {parameters}")
    lines += [f"pnnx.Output out{i} 1 0 {names[count + i]}" for i in range(outputs)]
    return "\n".join(["7767517", f"{len(lines)} {len(names)}", *lines, ""])


@pytest.mark.parametrize(
    ("operator", "parameters", "inputs", "expected"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_types(operator, parameters, inputs, expected):
    result = infer_shapes(network(operator, parameters, inputs.split()))
    assert not [d.message for d in result.diagnostics if d.severity == "error"]
    (output,) = (result.tensor(name) for name in result.graph.outputs)
    sizes, dtype = expected[1:].split(")")
    assert output.dtype == SHORT_NAMES[dtype]
    assert tuple(output.shape) == tuple(int(d) for d in sizes.split(",") if d)


@pytest.mark.parametrize(
    ("operator", "parameters", "inputs"),
    [
        ("torch.mean", "dim=(1) keepdim=False $input=0", "(2,3)i64"),
        ("torch.std", "dim=(1) keepdim=False $input=0", "(2,3)i64"),
        ("torch.norm", "dim=(1) keepdim=False p=2 $input=0", "(2,3)bool"),
        ("torch.sum", "dim=(1,-1) keepdim=False $input=0", "(2,3)f32"),
        ("torch.sum", "dim=2 keepdim=False $input=0", "(2,3)f32"),
        ("torch.sum", "dim=0 keepdim=maybe $input=0", "(2,3)f32"),
        ("torch.sum", "dtype=torch.nothing $input=0", "(2,3)f32"),
        ("torch.amax", "dim=(0) keepdim=False $input=0", "(0,3)f32"),
        ("torch.argmax", "dim=0 keepdim=False $input=0", "(2,3)bool"),
        ("torch.topk", "dim=-1 k=7 largest=True sorted=True $input=0", "(2,3)f32"),
        ("torch.topk", "dim=-1 k=-1 largest=True sorted=True $input=0", "(2,3)f32"),
        ("torch.bitwise_and", "$input=0 $other=1", "(2)f32 (2)i64"),
        ("torch.bitwise_left_shift", "$input=0 $other=1", "(2)bool (2)bool"),
        ("torch.eq", "$input=0", "(2)f32"),
        ("torch.eq", "other=some $input=0", "(2)f32"),
        ("torch.gt", "$input=0 $other=1", "(2)f32 (3)f32"),
        ("torch.ge", "$input=0 $other=1", "(2)f32 (2)c64"),
        ("torch.lt", "other=2 $input=0", "(2)c64"),
        ("torch.norm", "dim=(0,1,2) keepdim=False p=fro $input=0", "(2,3,4)f32"),
        ("torch.stft", "center=True n_fft=8 onesided=True pad_mode=reflect return_complex=True $input=0", "(32)c64"),
        ("torch.clamp", "$input=0", "(2)f32"),
        ("torch.where", "$condition=0 $input=1 $other=2", "(2)f32 (2)f32 (2)f32"),
        ("torch.fft.fft", "dim=-1 n=0 norm=None $input=0", "(2)f32"),
        ("torch.fft.irfft", "dim=-1 n=None norm=None $input=0", "(1)c64"),
        ("torch.fft.rfft", "dim=-1 n=None norm=None $input=0", "(4)c64"),
        ("torch.fft.fft2", "dim=(-2,-1) s=None norm=None $input=0", "(4)f32"),
        ("torch.fft.fftn", "dim=(0) s=(2,2) norm=None $input=0", "(4,4)f32"),
        ("torch.fft.fftn", "dim=(0,0) s=None norm=None $input=0", "(4,4)f32"),
        ("torch.stft", "center=True n_fft=64 pad_mode=reflect return_complex=True $input=0", "(32)f32"),
        ("torch.stft", "center=False n_fft=64 pad_mode=reflect return_complex=True $input=0", "(63)f32"),
        ("torch.stft", "center=False n_fft=0 pad_mode=reflect return_complex=True $input=0", "(63)f32"),
        ("torch.istft", "center=True n_fft=64 return_complex=False $input=0", "(32,20)c64"),
        ("torch.istft", "center=True n_fft=64 return_complex=False $input=0", "(33,20)f32"),
        ("torch.complex", "$real=0 $imag=1", "(2)f32 (2)f64"),
        ("torch.view_as_complex", "$input=0", "(2,3)f32"),
        ("torch.view_as_real", "$input=0", "(2,3)f32"),
        ("torch.imag", "$input=0", "(2,3)f32"),
    ],
)
def test_what_torch_refuses_is_an_error(operator, parameters, inputs):
    result = infer_shapes(network(operator, parameters, inputs.split()))
    assert [d for d in result.diagnostics if d.severity == "error"]


def test_an_element_type_that_the_promotion_does_not_determine_is_unknown():
    result = infer_shapes(network("torch.clamp", "$input=0 $min=1", ["(2)i64", "null"]))
    (output,) = result.graph.outputs
    assert result.tensor(output).dtype is None
