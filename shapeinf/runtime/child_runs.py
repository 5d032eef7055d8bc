"""Runs in processes of their own, which may crash: a task and arrays go in as files of a folder, a result comes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from shapeinf.runtime.protocol import Refusal, StoppedRun


def run_child(
    script: str,
    folder: str,
    task: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    title: str,
    timeout: float | None,
    reason_on_stderr: bool = False,
) -> dict[str, Any]:
    """The result of a run of a script: `python SCRIPT FOLDER`.

    `task` is `task.json` of the folder, and `arrays` are files `NAME.npy`. The script writes `done.json`, which has
    `refused` where the runtime does not run the model. Raises Refusal for that and for a crash, with the last line that
    the process wrote to its standard error, which with `reason_on_stderr` also has the reason of the runtime; and
    StoppedRun after the seconds of `timeout`.
    """
    for name, array in arrays.items():
        np.save(os.path.join(folder, f"{name}.npy"), np.ascontiguousarray(array))
    with open(os.path.join(folder, "task.json"), "w", encoding="utf-8") as file:
        json.dump(task, file)
    try:
        child = subprocess.run([sys.executable, script, folder], capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise StoppedRun(timeout) from error
    try:
        with open(os.path.join(folder, "done.json"), encoding="utf-8") as file:
            done: dict[str, Any] = json.load(file)
        has_reason = reason_on_stderr
    except (OSError, ValueError):
        done, has_reason = {"refused": f"{title} ended with code {child.returncode}"}, True
    if "refused" in done:
        lines = child.stderr.decode("utf-8", "replace").split("\n") if has_reason else []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        raise Refusal(": ".join(filter(None, [str(done["refused"]), last])))
    return done
