"""Files of optimization profiles, read and written: our JSON, options of trtexec, options of ONNX Runtime's provider.

trtexec splits a list of shapes at commas and a shape at its last colon (`sampleOptions.cpp` of TensorRT); ONNX Runtime
splits at commas and at the first colon, and a repeated name begins the next profile (`ParseProfileShapes` of its
TensorRT provider). A name that a form cannot hold is an error when it is written.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

import attrs

from shapeinf.errors import ExportError, ModelError, SpecError
from shapeinf.expr import Scope
from shapeinf.formats.files import read_regular
from shapeinf.inputs.spec import parse_shape_spec, split_specs
from shapeinf.texts import shell_word

ProfileForm = Literal["trtexec", "ort-trt", "json"]
"""The forms that profiles are written in: options of trtexec, options of ONNX Runtime's TensorRT provider, our JSON."""

PROFILE_FORMS: tuple[ProfileForm, ...] = get_args(ProfileForm)

CORNERS = ("min", "opt", "max")
"""The shapes that a profile has of each input."""
Shapes = dict[str, tuple[int, ...]]
"""Shapes of inputs by name."""


@attrs.frozen
class Profile:
    """The min, opt and max shape of each input, by name."""

    corners: dict[str, Shapes]

    @classmethod
    def complete(cls, least: Shapes, usual: Shapes, largest: Shapes) -> Profile:
        """A profile from corners that lack inputs: a missing shape is that of the next corner that has one."""
        names = dict.fromkeys([*least, *usual, *largest])
        middle = {n: usual.get(n, largest.get(n, least.get(n, ()))) for n in names}
        low = {n: least.get(n, middle[n]) for n in names}
        return cls({"min": low, "opt": middle, "max": {n: largest.get(n, middle[n]) for n in names}})


def parse_shapes(text: str) -> Shapes:
    """Read shapes in the syntax of trtexec. Raises SpecError.

    >>> parse_shapes("ids:1x128,mask:1x128")
    {'ids': (1, 128), 'mask': (1, 128)}
    """
    shapes: Shapes = {}
    for piece in split_specs(text):
        spec = parse_shape_spec(piece, Scope())
        dims = spec.dims or ()
        sizes = tuple(d for d in dims if isinstance(d, int))
        if spec.name is None or spec.dims is None or len(sizes) != len(dims):
            raise SpecError(text, text.find(piece), "NAME:SHAPE with numbers only, such as ids:1x128,")
        if spec.name in shapes:
            raise SpecError(text, text.find(piece), f"one shape for {spec.name}, not two")
        shapes[spec.name] = sizes
    return shapes


def read_profiles(path: str) -> list[Profile]:
    """Read a file of one or several profiles, in a form of `ProfileForm`.

    The JSON of a profile is `{"ids": {"min": [1, 1], "opt": [1, 128], "max": [8, 512]}}`. Raises OSError, and
    ModelError for a file of another form.
    """
    content = read_regular(path)
    if content.lstrip().startswith((b"--", b"'--")):  # a name with marks of a shell is quoted
        return _read_trtexec(content.decode("utf-8", "replace"), path)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"is not JSON: {error}", node=path) from None
    if isinstance(data, dict) and data.keys() == set(_PROVIDER_OPTIONS.values()):
        return _read_provider_options(data, path)
    return [_profile(entry, path) for entry in (data if isinstance(data, list) else [data])]


def _profile(data: object, path: str) -> Profile:
    corners: list[Shapes] = [{}, {}, {}]
    for name, entry in (data if isinstance(data, dict) else {"": None}).items():
        if not isinstance(entry, dict) or not entry or not set(entry) <= set(CORNERS):
            raise ModelError(f"expected the shapes min, opt, max of input {name!r}", node=path)
        for corner, shapes in zip(CORNERS, corners, strict=True):
            if corner in entry:
                shapes[name] = _sizes(entry[corner], f"{corner} of {name}", path)
    return Profile.complete(*corners)


def _sizes(data: object, label: str, path: str) -> tuple[int, ...]:
    if not isinstance(data, list) or any(type(size) is not int or size < 0 for size in data):
        raise ModelError(f"{label}: expected a list of sizes", node=path)
    return tuple(data)


# -- trtexec -----------------------------------------------------------------------------------------------------------


def _read_trtexec(text: str, path: str) -> list[Profile]:
    """The profiles of options as `_trtexec_lines` writes them; `--profile=N` begins a profile."""
    profiles: list[dict[str, Shapes]] = []
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ModelError(f"is not a list of options: {error}", node=path) from None
    for word in words:
        option, _, value = word.partition("=")
        corner = option.removeprefix("--").removesuffix("Shapes")
        if option == "--profile" or not profiles:
            profiles.append({})
        if option == "--profile" and value == str(len(profiles) - 1):
            continue
        if option != f"--{corner}Shapes" or corner not in CORNERS or corner in profiles[-1] or not value:
            raise ModelError(f"{word[:80]!r} is not the next option of a profile", node=path)
        profiles[-1][corner] = dict(_split_shapes(value, str.rpartition, path))
    return [Profile.complete(*(corners.get(corner, {}) for corner in CORNERS)) for corners in profiles]


def _trtexec_lines(profiles: Sequence[Profile]) -> Iterator[str]:
    for number, profile in enumerate(profiles):
        if len(profiles) > 1:
            yield f"--profile={number}"
        for corner, shapes in profile.corners.items():
            yield shell_word(f"--{corner}Shapes={_join_shapes(shapes.items(), TRTEXEC_MARKS, 'trtexec')}")


# -- ONNX Runtime ------------------------------------------------------------------------------------------------------

_PROVIDER_OPTIONS = {corner: f"trt_profile_{corner}_shapes" for corner in CORNERS}
"""The options of the TensorRT provider of ONNX Runtime, by the corner of a profile."""

TRTEXEC_MARKS, PROVIDER_MARKS = ",'", ",:"
"""The characters that no name may have in the options of trtexec, and in those of ONNX Runtime."""


def _read_provider_options(data: Mapping[str, object], path: str) -> list[Profile]:
    corners: dict[str, list[Shapes]] = {}
    for corner, option in _PROVIDER_OPTIONS.items():
        profiles = corners.setdefault(corner, [])
        for name, sizes in _split_shapes(str(data[option]), str.partition, path):
            fitting = next((shapes for shapes in profiles if name not in shapes), None)
            if fitting is None:
                profiles.append(fitting := {})
            fitting[name] = sizes
    if len({len(profiles) for profiles in corners.values()}) > 1:
        raise ModelError("min, opt and max have different numbers of profiles", node=path)
    return [Profile.complete(*shapes) for shapes in zip(*corners.values(), strict=True)]


def _provider_options(profiles: Sequence[Profile]) -> dict[str, str]:
    return {
        option: _join_shapes(
            (item for profile in profiles for item in profile.corners[corner].items()), PROVIDER_MARKS, "ONNX Runtime"
        )
        for corner, option in _PROVIDER_OPTIONS.items()
    }


# -- both --------------------------------------------------------------------------------------------------------------


def _split_shapes(
    text: str, split: Callable[[str, str], tuple[str, str, str]], path: str
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names and shapes of a list; `split` divides `name:1x3` at its first or last colon."""
    for piece in text.split(",") if text else ():
        name, _, sizes = split(piece, ":")
        parts = sizes.split("x")
        if not name or not all(part.isdecimal() and part.isascii() for part in parts):
            raise ModelError(f"{piece[:80]!r} is not NAME:SHAPE with sizes only, such as ids:1x128", node=path)
        yield name, tuple(map(int, parts))


def _join_shapes(shapes: Iterable[tuple[str, tuple[int, ...]]], marks: str, reader: str) -> str:
    """A list of shapes. Raises ExportError for a name with one of the characters that its reader splits at."""
    pieces = []
    for name, sizes in shapes:
        if not name or not name.isprintable() or any(mark in name for mark in marks):
            raise ExportError(f"{reader} cannot read the name of the input {name!r} in a list of shapes: write JSON")
        pieces.append(f"{name}:{'x'.join(map(str, sizes))}")
    return ",".join(pieces)


def profile_text(profiles: Sequence[Profile], form: ProfileForm) -> str:
    """Profiles as text that `read_profiles` reads. Raises ExportError for a name that the form cannot hold.

    >>> print(profile_text([Profile.complete({"ids": (1, 128)}, {}, {"ids": (8, 128)})], "trtexec"))
    --minShapes=ids:1x128
    --optShapes=ids:8x128
    --maxShapes=ids:8x128
    """
    if form == "trtexec":
        return "\n".join(_trtexec_lines(profiles))
    if form == "ort-trt":
        return json.dumps(_provider_options(profiles), indent=2)
    entries = [
        {name: {corner: list(profile.corners[corner][name]) for corner in CORNERS} for name in profile.corners["opt"]}
        for profile in profiles
    ]
    return json.dumps(entries[0] if len(entries) == 1 else entries, indent=2)
