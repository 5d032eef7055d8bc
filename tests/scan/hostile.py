"""Models that crash, hang or exhaust the process that scans them, by operators of a package that only tests install."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.runtime import parsed
from tests.formats.damage.cases import SUFFIXES, case
from tests.limits.hostile import HOSTILE

ROOT = Path(__file__).resolve().parents[2]

RULES = """
import os
import time

from opdefs.onnx.dialect import onnx
from shapeinf.lattice import Shape, TensorType


@onnx("Abort", since=1, domain="hostile")
def abort(c, x: Shape) -> TensorType:
    os.abort()


@onnx("Leave", since=1, domain="hostile")
def leave(c, x: Shape) -> TensorType:
    os._exit(7)


@onnx("Hang", since=1, domain="hostile")
def hang(c, x: Shape) -> TensorType:
    time.sleep(600)


@onnx("Spin", since=1, domain="hostile")
def spin(c, x: Shape) -> TensorType:
    while True:
        pass


@onnx("Allocate", since=1, domain="hostile")
def allocate(c, x: Shape) -> TensorType:
    return TensorType(c.dtype(0), Shape((len(bytearray(64 << 30)),)))


@onnx("Bug", since=1, domain="hostile")
def bug(c, x: Shape) -> TensorType:
    raise ZeroDivisionError("of a rule")


@onnx("Print", since=1, domain="hostile")
def print_noise(c, x: Shape) -> TensorType:
    print('{"path": "forged", "outcome": "ok"}', flush=True)
    os.write(1, b'{"path": "forged", "outcome": "ok"}\\n')
    return TensorType(c.dtype(0), x)


@onnx("EndWorker", since=1, domain="hostile")
def end_worker(c, x: Shape) -> TensorType:
    os.kill(os.getppid(), 9)
    time.sleep(600)
"""

EXPECTED = {
    "abort.onnx": ("crash", "SIGABRT"),
    "leave.onnx": ("crash", "exit code 7"),
    "hang.onnx": ("timeout", "no result after"),
    "spin.onnx": ("timeout", "no result after"),
    "allocate.onnx": ("memory", "more memory"),
    "print.onnx": ("ok", ""),
    "truncated.onnx": ("unreadable", ""),
    "empty.onnx": ("unreadable", "empty"),
}
"""The outcomes of `write_models`, and a part of their messages."""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the operators known to processes that are started from now on."""
    info = folder / "hostile_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile-rules\nVersion: 1.0\n", encoding="utf-8")
    entry_points = "[shapeinf.opdefs]\nonnx.hostile = hostile_rules:onnx\n"
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    (folder / "hostile_rules.py").write_text(RULES, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))


def model(op: str = "Relu", domain: str = "") -> bytes:
    """A model of one node."""
    name = f"{domain}.{op}" if domain else op
    header = '"" : 19, "hostile" : 1'
    text = f"g (float[n, 4] x) => (float[n, 4] y) {{ y = {name}(x) }}"
    data: bytes = parsed(text, header=header).SerializeToString()
    return data


def write_models(folder: Path) -> None:
    """The models of `EXPECTED`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in EXPECTED:
        op = name.removesuffix(".onnx").capitalize()
        (folder / name).write_bytes(model(op, "hostile") if f'"{op}"' in RULES else b"")
    (folder / "truncated.onnx").write_bytes(model()[:-20])


def write_mixed_models(folder: Path, count: int) -> list[str]:
    """This number of files: the models of `EXPECTED` and of exponential work, damaged files of all forms, copies."""
    write_models(folder)
    for number, (_, build, suffix) in enumerate(HOSTILE.values()):
        (folder / f"hostile{number}.{suffix}").write_bytes(build())
    for number in range(count // 3):
        family = list(SUFFIXES)[number % len(SUFFIXES)]
        data = case(family, 90_000 + number)
        path = folder / f"damaged{number}.{SUFFIXES[family]}"
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    for number in range(count - len(list(folder.iterdir()))):
        (folder / f"m{number}.onnx").write_bytes(model())
    return sorted(path.name for path in folder.iterdir())


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a function returns true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
