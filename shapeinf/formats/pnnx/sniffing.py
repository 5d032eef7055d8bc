"""Recognizes the files of PNNX, and those of ncnn among them, by their names, by their first line, or as a text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

MAGIC = "7767517"
"""The first line of the networks of PNNX and of ncnn."""

BYTE_ORDER_MARK = "\ufeff"

PARAM, WEIGHTS = ".param", ".bin"

_FIRST_LINE = re.compile(rf"{BYTE_ORDER_MARK}?[ \t]*{MAGIC}[ \t]*\r?\n")
_COMPANIONS = (".pnnx.bin", ".ncnn.bin", "_pnnx.py", "_ncnn.py")
"""The suffixes of weights and of scripts."""
_NCNN = ".ncnn.param"
_NUMBERED_KEY = re.compile(r"-?[0-9]+=")
_NCNN_INPUT = "Input"
_LINE_START = 4096


def is_network_text(text: str) -> bool:
    """Whether a text is a network rather than a path."""
    return _FIRST_LINE.match(text) is not None


def is_pnnx_path(path: str) -> bool:
    """Whether a path has the name of a network of PNNX, or of another file that PNNX writes with it."""
    return path.endswith(PARAM) or is_companion(path)


def is_companion(path: str) -> bool:
    """Whether a path has the name of weights or of a script, which PNNX writes with a network."""
    return path.endswith(_COMPANIONS)


def is_param_file(head: bytes) -> bool:
    """Whether the first line of a file is that of a network of PNNX or ncnn."""
    first = head.split(b"\n", 1)[0].removeprefix(BYTE_ORDER_MARK.encode())
    return first.strip() == MAGIC.encode()


def network_path(path: str) -> str:
    """The path of the network that a companion, or a network of ncnn, belongs to.

    >>> network_path("dir/net.pnnx.bin"), network_path("net_pnnx.py"), network_path("net.ncnn.param")
    ('dir/net.pnnx.param', 'net.pnnx.param', 'net.pnnx.param')
    """
    end = next((end for end in (*_COMPANIONS, _NCNN, PARAM) if path.endswith(end)), "")
    return f"{path.removesuffix(end)}.pnnx{PARAM}"


def weights_path(path: str) -> str:
    """The path of the weights of a network.

    >>> weights_path("net.pnnx.param"), weights_path("old.param")
    ('net.pnnx.bin', 'old.bin')
    """
    return path.removesuffix(PARAM) + WEIGHTS


def network_hint(path: str) -> str:
    """Advice for a file that is no network of PNNX: the file to pass instead."""
    network = network_path(path)
    if os.path.isfile(network):
        return f"pass the PNNX network in the same folder, {network!r}"
    return "pass the PNNX network, a .pnnx.param file"


def is_ncnn(lines: Iterable[str]) -> bool:
    """Whether the lines of operators are layers of ncnn: the first one is `Input`, and parameters have numbers as keys.

    PNNX writes operators that ncnn does not have to the network of ncnn too, so not every line is a layer.

    >>> is_ncnn(["Input in0 0 1 in0", "Convolution conv 1 1 in0 out0 0=64 1=3"])
    True
    """
    for line in lines:
        fields = line[:_LINE_START].split()
        if fields and (fields[0] == _NCNN_INPUT or any(map(_NUMBERED_KEY.match, fields[4:]))):
            return True
        if fields and fields[0] == "pnnx.Input":
            return False
    return False
