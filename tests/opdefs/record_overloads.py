"""Run the cases of torch's overloads in torch and record the types that it returns.

`python -m tests.opdefs.record_overloads` needs torch, and runs the cases without results, with `--all` all cases. They
run in another process, which some calls end.
"""

from __future__ import annotations

import json
import os
import sys

from opdefs.torch.schemas import find_schema
from tests.opdefs.overload_cases import DTYPES, Case, Tensor, read_cases, read_recorded, replace, write_recorded


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
    except (RuntimeError, IndexError, ValueError, AssertionError, NotImplementedError, ZeroDivisionError, TypeError):
        return None
    return [text(value) for value in (result if isinstance(result, (tuple, list)) else [result])]


def text(value: object) -> str:
    """A type as `float32[2,3]`; that of a value which is no tensor is empty."""
    import torch

    if not isinstance(value, torch.Tensor):
        return ""
    return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]"


def run_apart(cases: list[Case]) -> list[list[str] | None]:
    """As `run` for several cases, in another process; None for a case that ends its process."""
    results: list[list[str] | None] = []
    while len(results) < len(cases):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as file:
                for case in cases[len(results) :]:
                    file.write(json.dumps(run(case)) + "\n")
                    file.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            results += [json.loads(line) for line in file]
        os.waitpid(child, 0)
        if len(results) < len(cases):
            results.append(None)
    return results


def main() -> None:
    """Record the cases."""
    import torch
    import torch.ao.quantization.fx._decomposed  # registers the operators of quantized programs

    torch.set_num_threads(1)
    cases = read_cases()
    known = {} if "--all" in sys.argv else read_recorded()
    missing = [case for case in cases if case.text not in known]
    runs = [[case, *case.neighbors()] for case in missing]
    results = iter(run_apart([each for listed in runs for each in listed]))
    known |= {case.text: [next(results) for _ in listed] for case, listed in zip(missing, runs, strict=True)}
    for case in missing:
        if known[case.text][0] is None:
            print(f"torch fails: {case.text}", file=sys.stderr)
    write_recorded({case.text: known[case.text] for case in cases})


if __name__ == "__main__":
    main()
