"""Provoke error messages of a runtime with models at illegal sizes, and record them in `tests/failures`.

    python tools/make_runtime_messages.py onnxruntime

writes `tests/failures/messages/onnxruntime.json.xz`. Each message has the model, what was fed, the node that fails (it
is the only one that can), and at which other sizes the runtime runs the model. The cases are in `tests/failures`.
"""

from __future__ import annotations

import argparse
import base64
import json
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FOLDER = ROOT / "tests" / "failures" / "messages"

MODULES = {
    "onnxruntime": "record_onnxruntime",
    "openvino": "record_openvino",
    "tensorflow": "record_tensorflow",
    "torch": "record_torch",
    "litert": "record_litert",
}


def record(runtime: str) -> list[dict[str, Any]]:
    """The messages of a runtime as JSON."""
    import importlib

    module = importlib.import_module(f"tests.failures.{MODULES[runtime]}")
    messages: Callable[[], Iterator[dict[str, Any]]] = module.messages
    return list(messages())


def write(runtime: str, messages: list[dict[str, Any]], version: str) -> Path:
    """Write the messages; each model is stored once."""
    models: dict[str, str] = {}
    for message in messages:
        data = message.pop("model")
        if isinstance(data, bytes):
            message["model"] = f"model {len(models)}"
            text = base64.b64encode(data).decode("ascii")
            message["model"] = next((key for key, known in models.items() if known == text), message["model"])
            models[message["model"]] = text
        else:
            message["model"] = data
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{runtime}.json.xz"
    document = {"runtime": runtime, "version": version, "models": models, "messages": messages}
    path.write_bytes(lzma.compress(json.dumps(document, indent=0).encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
    return path


def main() -> None:
    """Record the messages of the runtime that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=list(MODULES))
    arguments = parser.parse_args()
    messages = record(arguments.runtime)
    from importlib.metadata import version

    package = {"litert": "ai-edge-litert", "tensorflow": "tensorflow-cpu"}.get(arguments.runtime, arguments.runtime)
    path = write(arguments.runtime, messages, version(package))
    print(f"{len(messages)} messages in {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
