"""Runs the cases in torch and writes `recorded.json`: `python -m tests.opdefs.torch_cases.record`; needs torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.opdefs.torch_cases.case import Call, Tensor
from tests.opdefs.torch_cases.cases import CASES

RECORDED = Path(__file__).with_name("recorded.json")


def _value(value: Any, kind: str) -> Any:
    import torch

    if isinstance(value, Tensor):
        dtype = getattr(torch, value.dtype)
        if value.contents is not None:
            return torch.tensor(value.contents, dtype=dtype).reshape(value.sizes)
        count = 1
        for size in value.sizes:
            count *= size
        numbers = torch.arange(count) * 7 % 11 / 16 + 0.125
        filled = torch.zeros(count) if "int" in value.dtype else numbers > 0.4 if value.dtype == "bool" else numbers
        return filled.to(dtype).reshape(value.sizes)
    if isinstance(value, list):
        return [_value(item, kind) for item in value]
    if isinstance(value, tuple):
        return list(value)
    return getattr(torch, value) if kind.startswith("ScalarType") and isinstance(value, str) else value


def run(call: Call) -> list[Any] | None:
    """The element types and sizes of the outputs; None where torch refuses the call."""
    import torch

    from opdefs.torch.schemas import find_schema

    space, name, overload = call.overload.split(".")
    function = getattr(getattr(getattr(torch.ops, space), name), overload)
    schema = find_schema(call.overload)
    assert schema is not None
    kinds = {argument.name: argument.kind for argument in schema.arguments}
    arguments = {name: _value(value, kinds[name]) for name, value in call.arguments.items()}
    positional = [a.name for a in schema.arguments if not a.keyword and a.name in arguments]
    try:
        values = [arguments.pop(name) for name in positional] if _is_prefix(schema.names, positional) else []
        result = function(*values, **arguments)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        return None
    listed = result if isinstance(result, (list, tuple)) else [] if result is None else [result]
    return [
        [str(x.dtype).removeprefix("torch."), list(x.shape)] if isinstance(x, torch.Tensor) else ["bool", []]
        for x in listed
    ]


def _is_prefix(names: tuple[str, ...], given: list[str]) -> bool:
    return list(names[: len(given)]) == given


def main() -> None:
    """Write the results of all cases by their texts."""
    recorded = {call.text: run(call) for call in CASES}
    lines = [f"{json.dumps(text)}: {json.dumps(result)}" for text, result in sorted(recorded.items())]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(recorded)} cases, {sum(result is None for result in recorded.values())} that torch refuses")


if __name__ == "__main__":
    main()
