"""The files that hold programs of torch.export: zip archives of two layouts, and the program alone as JSON.

torch 2.8 and later write a folder with `models/NAME.json` for each program, earlier ones the file
`serialized_exported_program.json`. Archives are read in memory, and pickles in them never.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownNameError
from shapeinf.formats.files import check_path, open_regular
from shapeinf.formats.read_files import ReadFiles
from shapeinf.formats.zipped import zip_members

MAX_PROGRAM = 1 << 28
"""Bytes of the JSON of a program."""
MAX_CONTENTS = 1 << 10
"""Bytes of a weight or constant whose contents are read."""
MAX_MEMBERS = 1 << 20

ZIP = b"PK\x03\x04"
FLAT_NAMES = ("serialized_exported_program.json", "serialized_exported_program")
_PROGRAM = re.compile(r"(?:[^/]+/)?models/([^/]+)\.json")

_PICKLE = (
    "a zip archive with a pickle, which is never loaded since it may run code: "
    "export the model with torch.export, or with torch.onnx.export"
)

DEFAULT_PROGRAM = "model"
"""The name of the program that `torch.export.save` writes."""


@attrs.frozen
class Package:
    """The program that is read from a file, and what else the file has about it.

    Args:
        text: the JSON of the program.
        name: its name in the package; empty in a file of one program.
        source: the file in messages.
        configs: the JSON of the listings of weights and of constants, by `weights` and `constants`.
        read: returns the bytes of a file of weights or constants, None for one that is missing or too long.
        files: the files that were read.
        origin: the path or the bytes of the file, or the live program.
        is_json: whether the file is the JSON alone.
        has_weights: whether the file has files of weights.
    """

    text: bytes
    name: str
    source: str
    configs: Mapping[str, bytes] = attrs.Factory(dict)
    read: Callable[[str], bytes | None] = lambda name: None
    files: ReadFiles = attrs.Factory(ReadFiles)
    origin: Any = None
    is_json: bool = False
    has_weights: bool = True


def is_archive(names: Sequence[str]) -> bool:
    """Whether a zip archive with these files is one of torch, with or without a program."""
    return any(_is_program(name) or _is_mark(name) for name in names)


def _is_program(name: str) -> bool:
    return name in FLAT_NAMES or _PROGRAM.fullmatch(name) is not None


def _is_mark(name: str) -> bool:
    """Whether a file of an archive is one that archives of torch have and others do not."""
    file = name.partition("/")[2]
    return file in ("archive_format", "data.pkl", "constants.pkl") or file.startswith("data/aotinductor/")


def list_names(file: BinaryIO, source: str) -> list[str]:
    """The files of an archive; raises what `zip_members` raises."""
    names: list[str] = []
    for _ in zip_members(file, source, MAX_MEMBERS, lambda name, size: names.append(name)):
        pass
    return names


def archive_names(model: str | bytes) -> list[str]:
    """The files of an archive, a path or bytes; none for a file that is damaged or cannot be read."""
    try:
        with io.BytesIO(model) if isinstance(model, bytes) else open_regular(model) as file:
            return list_names(file, "")
    except (OSError, ModelError):
        return []


def open_package(model: str | os.PathLike[str] | bytes, program: str | None) -> Package:
    """The program of this name in a file or its bytes, by default the only one, or `model`.

    Raises UnknownNameError for a name that a package does not have, ModelError for a damaged file and for an archive
    without a program, LimitError past a limit.
    """
    if isinstance(model, bytes):
        opened = _open(io.BytesIO(model), "<bytes>", program, lambda: io.BytesIO(model), ReadFiles())
        return attrs.evolve(opened, origin=model)
    path = check_path(model)
    files = ReadFiles()
    try:
        with open_regular(path) as file:
            files.add(os.path.abspath(path), file)
            opened = _open(file, path, program, lambda: open_regular(path), files)
            return attrs.evolve(opened, origin=path)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", node=path) from error


def _open(
    file: BinaryIO, source: str, program: str | None, reopen: Callable[[], BinaryIO], files: ReadFiles
) -> Package:
    head = file.read(len(ZIP))
    file.seek(0)
    if not head.startswith(ZIP):
        text = file.read(MAX_PROGRAM + 1)
        if len(text) > MAX_PROGRAM:
            raise LimitError(f"has more than {MAX_PROGRAM} bytes", node=source)
        _require_program("", program, source)
        return Package(text, "", source, files=files, is_json=True, has_weights=False)
    names = list_names(file, source)
    member, name = _choose_program(names, source, program)
    root = member.rpartition("models/")[0] if name else ""
    wanted = {member: "program"}
    for kind in ("weights", "constants") if name else ():
        wanted[f"{root}data/{kind}/{name}_{kind}_config.json"] = kind
    texts = _read_members(file, source, wanted, MAX_PROGRAM)
    configs = {kind: text for kind, text in texts.items() if kind != "program"}
    return Package(
        *(texts["program"], name, source, configs, _ContentsReader(reopen, source, root), files),
        has_weights=any(_is_weight(file, root) for file in names),
    )


def _is_weight(name: str, root: str) -> bool:
    """Whether a file of an archive has weights: one of them, or, in archives before torch 2.8, all."""
    folder = f"{root}data/weights/"
    return name.startswith("serialized_state_dict") or (name.startswith(folder) and not name.endswith("_config.json"))


def _choose_program(names: Sequence[str], source: str, program: str | None) -> tuple[str, str]:
    """The file of the program in an archive, and the name of the program."""
    flat = next((name for name in FLAT_NAMES if name in names), None)
    if flat is not None:
        _require_program("", program, source)
        return flat, ""
    programs: dict[str, str] = {}
    for name in names:
        match = _PROGRAM.fullmatch(name)
        if match is not None:
            programs.setdefault(match[1], name)
    if not programs:
        raise ModelError(describe_archive(names), node=source)
    if program is None and len(programs) > 1 and DEFAULT_PROGRAM not in programs:
        listed = ", ".join(map(repr, sorted(programs)))
        raise ModelError(f"has several programs, and one of them must be chosen: {listed}", node=source)
    chosen = program or (DEFAULT_PROGRAM if DEFAULT_PROGRAM in programs else next(iter(programs)))
    if chosen not in programs:
        raise UnknownNameError("program", chosen, sorted(programs))
    return programs[chosen], chosen


def _require_program(name: str, program: str | None, source: str) -> None:
    if program not in (None, name):
        raise UnknownNameError("program", str(program), (), hint=f"{source} has a single program, without a name")


def describe_archive(names: Sequence[str]) -> str:
    """What an archive without a program is."""
    if any("/data/aotinductor/" in name for name in names):
        return "is a package of compiled code only (AOTInductor), without a program: pass what torch.export.save writes"
    if any(name.endswith("/constants.pkl") for name in names):
        return f"is a TorchScript archive, {_PICKLE}"
    if any(name.endswith("/data.pkl") for name in names):
        return f"is a checkpoint of PyTorch, {_PICKLE}"
    return "is an archive without a program of torch.export"


def _read_members(file: BinaryIO, source: str, wanted: Mapping[str, str], limit: int) -> dict[str, bytes]:
    """The contents of files of an archive by their role; of two files of one name those of the first."""
    contents: dict[str, bytes] = {}
    seen: set[str] = set()

    def length_of(name: str, size: int) -> int | None:
        if name not in wanted or name in seen:
            return None
        seen.add(name)
        if size > limit:
            raise LimitError(f"the archive holds {name!r} of more than {limit} bytes", node=source)
        return size

    for name, _, data in zip_members(file, source, MAX_MEMBERS, length_of):
        contents[wanted[name]] = data
    return contents


@attrs.frozen
class _ContentsReader:
    """Reads small files of weights and constants of an archive."""

    reopen: Callable[[], BinaryIO]
    source: str
    root: str

    def __call__(self, name: str) -> bytes | None:
        path = self.root + name
        try:
            with self.reopen() as file:
                return _read_members(file, self.source, {path: "contents"}, MAX_CONTENTS).get("contents")
        except (OSError, ModelError):
            return None
