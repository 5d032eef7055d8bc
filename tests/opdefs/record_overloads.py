"""Run the cases of torch's overloads in torch and record the types that it returns.

`python -m tests.opdefs.record_overloads` needs torch. Each case runs in a process of its own: some calls end it.
"""

from __future__ import annotations

import json
import os
import sys

from opdefs.torch.schemas import find_schema
from tests.opdefs.overload_cases import DTYPES, Case, Tensor, read_cases, replace, write_recorded

TIME_LIMIT = 60


def make_tensor(tensor: Tensor) -> object:
    """The tensor in torch."""
    import torch

    dtype = getattr(torch, DTYPES[tensor.name.rstrip("us")])
    if tensor.name.endswith("s"):
        return torch.tensor(tensor.numbers, dtype=dtype)
    make = torch.ones if tensor.name.endswith("u") else torch.zeros
    return make(tensor.numbers, dtype=dtype, device="meta" if tensor.name == "m" else "cpu")


def run(case: Case) -> list[str] | None:
    """The types of the outputs; None if torch fails."""
    import torch

    namespace, name, overload = case.overload.split(".")
    schema = find_schema(case.overload)
    assert schema is not None
    kinds = {argument.name: argument.kind for argument in schema.arguments}
    positional, named = replace([case.positional, case.named], make_tensor)
    named |= dict(zip(schema.names, positional, strict=False))
    for key, value in named.items():
        if kinds[key].startswith("ScalarType") and isinstance(value, str):
            named[key] = getattr(torch, value)
    try:
        result = getattr(getattr(getattr(torch.ops, namespace), name), overload)(**named)
    except (RuntimeError, IndexError, ValueError, AssertionError, NotImplementedError, ZeroDivisionError):
        return None
    return [text(value) for value in (result if isinstance(result, (tuple, list)) else [result])]


def text(value: object) -> str:
    """A type as `float32[2,3]`; that of a value which is no tensor is empty."""
    import torch

    if not isinstance(value, torch.Tensor):
        return ""
    return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]"


def run_apart(case: Case) -> list[str] | None:
    """As `run`, in a process of its own; None if it ends without a result."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reader)
        os.write(writer, json.dumps(run(case)).encode())
        os._exit(0)
    os.close(writer)
    answer = os.read(reader, 1 << 16)
    os.close(reader)
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def main() -> None:
    """Record all cases."""
    import torch
    import torch.ao.quantization.fx._decomposed  # registers the operators of quantized programs

    torch.set_num_threads(1)
    recorded = {}
    for case in read_cases():
        recorded[case.text] = [run_apart(each) for each in (case, *case.neighbors())]
        if recorded[case.text][0] is None:
            print(f"torch fails: {case.text}", file=sys.stderr)
    write_recorded(recorded)


if __name__ == "__main__":
    main()
