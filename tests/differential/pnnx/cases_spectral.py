"""Fourier transforms, spectrograms and complex numbers."""

from __future__ import annotations

from tests.differential.pnnx.combine import combine

ONE, TWO = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
X, OTHERS = "f32[2,6,5,8]", "f32[3,6,7,10]"
SIGNAL, OTHER_SIGNAL = "f32[2,400]", "f32[3,517]"
SPECTRUM, OTHER_SPECTRUM = "c64[2,33,20]", "c64[3,33,31]"


def each(names, *arguments):
    return [f"torch.fft.{name}(x{a and ', '}{a})" for name in names for a in arguments]


def transforms(name, *forwards, inputs=X, others=OTHERS):
    return combine(name, inputs, others, *forwards)


def of_type(dtype, *forwards):
    return combine("transforms", f"{dtype}[3,8]", f"{dtype}[3,10]", *forwards)


REAL = ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")
ANY = tuple(name for name in (*ONE, *TWO, *MANY) if name not in REAL)

CASES = [
    *(transforms(name, *each((name,), "", "n=9", "dim=1", "n=4, dim=-2", "n=1")) for name in ONE),
    *(
        transforms(name, *each((name,), "", "s=(7, 12)", "dim=(0, 2)", "s=(4, 6), dim=(-1, 1), norm='ortho'"))
        for name in TWO
    ),
    *(
        transforms(
            name,
            *each((name,), "", "s=(7, 12)", "dim=(0, 2, 1)", "s=(4, 6), dim=(-1, 1), norm='forward'", "dim=(3,)"),
        )
        for name in MANY
    ),
    transforms("missing sizes", "torch.fft.fftn(x, s=(-1, 6))", "torch.fft.irfftn(x, s=(4, -1))"),
    of_type("c64", *each(ANY, "")),
    of_type("f64", *each((*ONE, *TWO, *MANY), "")),
    of_type("i64", *each((*ONE, "fft2", "rfftn"), "")),
    of_type("bool", *each(ONE, "")),
    of_type("c128", *each(ANY, "")),
    combine(
        "stft",
        SIGNAL,
        OTHER_SIGNAL,
        *(
            f"torch.stft(x, {arguments})"
            for arguments in (
                "64, return_complex=True",
                "64, return_complex=False",
                "64, hop_length=20, return_complex=True",
                "63, hop_length=20, win_length=40, center=False, return_complex=True",
                "64, 16, 64, torch.hann_window(64), normalized=True, return_complex=True",
                "64, 16, 50, torch.hann_window(50), onesided=False, return_complex=True",
                "64, pad_mode='constant', return_complex=True",
                "65, 7, onesided=True, return_complex=True",
            )
        ),
    ),
    combine("stft", "f32[400]", "f32[513]", "torch.stft(x, 64, return_complex=True)"),
    combine("stft", "f64[400]", "f64[513]", "torch.stft(x, 64, return_complex=True)"),
    combine("stft", "c64[2,400]", "c64[3,517]", "torch.stft(x, 64, return_complex=True)"),
    combine(
        "istft",
        SPECTRUM,
        OTHER_SPECTRUM,
        *(
            f"torch.istft(x, {arguments})"
            for arguments in (
                "64",
                "64, hop_length=20, window=torch.hann_window(64)",
                "64, 16, 64, torch.ones(64), center=False",
                "64, 16, 50, torch.ones(50)",
                "64, 16, 64, torch.ones(64), length=200",
                "64, length=1000, window=torch.ones(64)",
                "65, 16, 65, torch.ones(65)",
            )
        ),
    ),
    combine("istft", "c64[33,20]", "c64[33,31]", "torch.istft(x, 64)"),
    combine(
        "istft",
        "c64[2,64,20]",
        "c64[3,64,31]",
        "torch.istft(x, 64, 16, return_complex=True, onesided=False, window=torch.ones(64).to(x))",
        "torch.istft(x, 64, 16, onesided=False)",
    ),
    combine("complex", "f32[2,3] f32[3]", "f32[4,3] f32[3]", "torch.complex(x, y)", "torch.real(x)"),
    combine("complex", "f64[2,3] f64[2,1]", "f64[4,3] f64[4,1]", "torch.complex(x, y)"),
    combine("complex", "f16[2] f16[2]", "f16[4] f16[4]", "torch.complex(x, y)"),
    *(
        combine("parts", f"{dtype}[2,3]", f"{dtype}[4,3]", *(f"torch.{n}(x)" for n in ("real", "imag", "view_as_real")))
        for dtype in ("c64", "c128")
    ),
    combine("view_as_complex", "f32[2,3,2]", "f32[4,3,2]", "torch.view_as_complex(x)"),
    combine("view_as_complex", "f64[5,2]", "f64[6,2]", "torch.view_as_complex(x)"),
    combine("view_as_complex", "f16[3,2]", "f16[5,2]", "torch.view_as_complex(x)"),
]
