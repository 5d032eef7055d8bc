"""A process that runs commands of the command line, each in a fork of itself with limits of time and memory.

`python -m tests.limits.commands` reads lines of JSON, each the arguments of a command, and answers each with a line:
exit code, CPU seconds, peak memory, and the end of what the command printed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 10
HARD_SECONDS = 30
"""CPU seconds after which a command is killed: a busy machine counts more than a quiet one."""
MOST_RESIDENT = 1 << 20  # KiB
ADDRESS_SPACE = 4 << 30
_WALL = 40
"""Seconds after which a command that waits for something is killed."""
_TIME_SIGNALS = (-signal.SIGXCPU, -signal.SIGKILL)
"""The exit codes of a command that has reached a limit of time."""
_EXPRESSION = 5_000
"""The most characters of an expression, which is an argument."""
_UNPRINTABLE = "\0\a\x1b\u202e\u2066\ufeff"
"""What a terminal obeys, and no command prints."""


def arguments(command: str, model: str, folder: str) -> list[str] | None:
    """The arguments with which a command reads a hostile model; None for one that is not run on these."""
    extra: dict[str, list[str] | None] = {
        "bind": ["bind", model, "n=2", "-o", f"{folder}/bound"],
        "clean": ["clean", model, "-o", f"{folder}/clean.onnx"],
        "diff": ["diff", model, model],
        "expression": ["expression", "--", _start(model), "[n,3]"],
        "ops": ["ops", "missing", model],
        "rebatch": ["rebatch", model, "-o", f"{folder}/rebatched.onnx"],
        "report": ["report", model, "-o", f"{folder}/report.html"],
        "scan": ["scan", model, "-o", f"{folder}/scanned", "--force"],
        "verify": ["verify", model, "--timeout", "5"],
        "view": None,  # serves until it is stopped
    }
    return extra.get(command, [command, model])


def _start(model: str) -> str:
    """The start of a file as text, in place of an expression."""
    path = Path(model)
    return path.read_bytes()[:_EXPRESSION].decode("latin-1") if path.is_file() else model


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


def run(args: list[str]) -> dict[str, Any]:
    """Run a command in a fork, and describe how it ended."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as imported:
        child = os.fork()
        if not child:
            _run_in_child(args, output.fileno(), imported.fileno())
        status, usage = _wait(child)
        imported.seek(0)
        _preload(imported.read().decode().split())
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return {
        "args": args,
        "code": os.waitstatus_to_exitcode(status),
        "seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "kib": usage.ru_maxrss,
        "end": text[-1500:],
        "unprintable": sorted({character for character in text if character in _UNPRINTABLE}),
        "crashed": "this is a bug of shapeinf" in text or "Traceback" in text,
    }


def _wait(child: int) -> tuple[int, resource.struct_rusage]:
    end = time.monotonic() + _WALL * max(1.0, os.getloadavg()[0])
    while time.monotonic() < end:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return status, usage
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return status, usage


def _preload(modules: Iterable[str]) -> None:
    """Import what a command has imported: the next forks need not."""
    missing = [module for module in modules if module not in sys.modules]
    for module in missing:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    if missing:
        gc.collect()
        gc.freeze()  # the collector of a fork then copies no memory of this process


def _run_in_child(args: list[str], output: int, imported: int) -> None:
    code = 99
    try:
        os.setsid()
        devnull = os.open(os.devnull, os.O_RDONLY)
        os.dup2(devnull, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CPU, (HARD_SECONDS, HARD_SECONDS + 1))
        command = importlib.import_module("shapeinf.cli.main").main
        try:
            command(args, prog_name="shapeinf")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        importlib.import_module("traceback").print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
            os.write(imported, " ".join(sys.modules).encode())
        os._exit(code)


# -- the side of the tests -------------------------------------------------------------------------------------------


def outcomes(commands: Iterable[list[str]], cwd: Path | None = None) -> Iterator[dict[str, Any]]:
    """How these commands end, in a process that runs them in turn."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.limits.commands"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd or ROOT,
        env=environment,
    )
    assert child.stdin is not None and child.stdout is not None
    with child:
        for command in commands:
            child.stdin.write(json.dumps(command) + "\n")
            child.stdin.flush()
            yield json.loads(child.stdout.readline())
        child.stdin.close()


def failure(outcome: dict[str, Any], seconds: float = SECONDS) -> str:
    """Why a command did not end as it must; empty where it did."""
    if outcome["args"][0] == "verify" and outcome["code"] in _TIME_SIGNALS:
        return ""  # onnxruntime does not stop while it loads, such as functions in branches, which it inlines
    if outcome["code"] < 0:
        return f"killed by signal {-outcome['code']} after {outcome['seconds']} s"
    if outcome["crashed"] or outcome["code"] not in (0, 1, 2, 3):
        return f"crashed ({outcome['code']})"
    if outcome["unprintable"]:
        return f"printed {outcome['unprintable']}"
    if outcome["seconds"] > seconds:
        return f"took {outcome['seconds']} s"
    if outcome["args"][0] == "verify" and outcome["code"] in (0, 1):
        return ""  # the model ran, whose inputs may have 4 GiB (docs/verify.md)
    return f"took {outcome['kib']} KiB" if outcome["kib"] > MOST_RESIDENT else ""


if __name__ == "__main__":
    main()
