"""Convert the cases of a family with pnnx, run them in torch, and record both.

`python -m tests.differential.pnnx.record FAMILY...` needs torch and pnnx.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.differential.pnnx.case import parse_types

RECORDED = Path(__file__).parent / "recorded"
DTYPES = {
    "f32": "float",
    "f64": "double",
    "f16": "half",
    "bf16": "bfloat16",
    "i64": "long",
    "i32": "int",
    "i16": "short",
    "i8": "int8",
    "u8": "uint8",
    "bool": "bool",
    "c64": "complex64",
    "c128": "complex128",
    "c32": "complex32",
}


def record(case):
    """The networks of a case, each with its runs: {"static": {"param": ..., "runs": [...]}, "dynamic": ...}."""
    kinds = {"static": [case.inputs]} | ({"dynamic": [case.inputs, case.others]} if case.others else {})
    untraced = {"dynamic": [case.third] if case.third else []}
    return {kind: convert(case, texts, untraced.get(kind, [])) for kind, texts in kinds.items()}


def convert(case, texts, untraced=()):
    """The `.param` text that pnnx writes for a case, and the values in torch for each of these inputs.

    `untraced` are further inputs, with sizes that pnnx did not trace.
    """
    with tempfile.TemporaryDirectory() as folder:
        param = run_pnnx(case, texts, Path(folder))
        inputs = [tensors_of(text) for text in (*texts, *untraced)]
        return {"param": param.read_text(), "runs": [run(param, tensors) for tensors in inputs]}


def run_pnnx(case, texts, folder):
    """Convert a case with these traced inputs. The path of the `.param` file."""
    import pnnx
    import torch

    path = folder / "m.pt"
    inputs = [tensors_of(text) for text in texts]
    torch.jit.trace(network(case), tuple(inputs[0]), check_trace=False).save(str(path))
    shapes = [
        f"inputshape{'' if i == 0 else i + 1}="
        + ",".join(
            str(list(x.shape)).replace(" ", "") + dtype
            for x, (dtype, _) in zip(tensors, parse_types(text), strict=True)
        )
        for i, (tensors, text) in enumerate(zip(inputs, texts, strict=True))
    ]
    done = subprocess.run([pnnx.EXEC_PATH, str(path), *shapes], capture_output=True, text=True, cwd=folder)
    param = path.with_suffix(".pnnx.param")
    if done.returncode or not param.exists():
        raise RuntimeError(f"pnnx: {done.returncode}: {done.stderr[-300:]}")
    return param


def tensors_of(text):
    """The inputs that a text describes, with random contents."""
    return [tensor_of(*spec) for spec in parse_types(text)]


def network(case):
    """The module of a case, for evaluation."""
    import torch
    from torch import nn
    from torch.nn import functional

    if case.network:
        torch.manual_seed(0)
        return getattr(importlib.import_module("tests.differential.pnnx.networks"), case.network)().eval()
    names = {"torch": torch, "nn": nn, "F": functional}

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            for name, text in case.modules.items():
                setattr(self, name, eval(text, names))

        def forward(self, *inputs):
            tensors = dict(zip("xyzuvw", inputs, strict=False))
            return eval(case.forward, names | {name: getattr(self, name) for name in case.modules} | tensors)

    return Network().eval()


def tensor_of(dtype, shape):
    """A tensor with random contents: integers from 0 to 3, floats between 0 and 1."""
    import torch

    torch.manual_seed(0)
    kind = getattr(torch, DTYPES[dtype])
    if kind.is_floating_point or kind.is_complex:
        return torch.rand(shape).to(kind)
    return torch.randint(0, 2 if dtype == "bool" else 4, shape).to(kind)


def index(x, indices):
    """The operator `aten::index`; None, which pnnx may write as `...`, stands for a whole axis."""
    import torch

    return torch.ops.aten.index(x, [None if i is None or i is ... else torch.as_tensor(i) for i in indices])


def repair(program):
    """The program with calls of `index` for `x[[None, y]]`, as pnnx writes it: Python reads None as a new axis."""
    computed = re.sub(r"^( +v_\w+ = )(v_\w+)\[(\[.*\bv_.*\])\]$", r"\1index(\2, \3)", program, flags=re.MULTILINE)
    return re.sub(r"^( +v_\w+ = )(v_\w+)\[([^:\n]*\[[^:\n]*)\]$", r"\1index(\2, [\3])", computed, flags=re.MULTILINE)


def run(path, inputs):
    """The values of all operands when torch runs the Python program that pnnx writes next to a network."""
    import torch

    program = path.with_name("m_pnnx.py")
    program.write_text(repair(program.read_text()))
    spec = importlib.util.spec_from_file_location("network", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.index = index
    values = {}

    def note(frame, event, _):
        if event == "return" and frame.f_code.co_filename == spec.origin and frame.f_code.co_name == "forward":
            values.update({k[2:]: v for k, v in frame.f_locals.items() if k.startswith("v_")})

    net = module.Model().eval()
    sys.setprofile(note)
    try:
        with torch.no_grad():
            net(*inputs)
    finally:
        sys.setprofile(None)
    return {"inputs": [describe(x) for x in inputs], "blobs": {name: describe(v) for name, v in values.items()}}


def describe(value):
    """A value as JSON: a tensor by element type and sizes, numbers and lists of them by their values."""
    import torch

    if isinstance(value, torch.Tensor):
        names = {str(getattr(torch, name)).removeprefix("torch."): short for short, name in DTYPES.items()}
        dtype = str(value.dtype).removeprefix("torch.")
        return {"kind": "tensor", "dtype": names.get(dtype, dtype), "shape": list(value.shape)}
    if isinstance(value, (list, tuple)) and any(isinstance(item, (torch.Tensor, list, tuple)) for item in value):
        return {"kind": "tuple", "items": [describe(item) for item in value]}
    if isinstance(value, (list, tuple)):
        return {"kind": "list", "value": list(value)}
    return {"kind": "scalar", "value": value}


def main(families):
    from tests.differential.pnnx.families import FAMILIES

    for family in families or FAMILIES:
        file = RECORDED / f"{family}.json"
        known = json.loads(file.read_text(encoding="utf8")) if file.exists() else {}
        records = {}
        for case in FAMILIES[family]:
            try:
                key = f"{case.forward} {case.modules} {case.inputs} {case.others}"
                key += f"{case.network} {case.third}" if case.network else ""
                old = known.get(case.name)
                records[case.name] = old if old and old["source"] == key else {"source": key, **record(case)}
            except Exception as error:
                print(f"{case}: {type(error).__name__}: {str(error)[:500]}", file=sys.stderr)
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(records.items()))
        file.write_text("{\n" + lines + "\n}\n", encoding="utf8")
        print(family, len(records), "of", len(FAMILIES[family]))


if __name__ == "__main__":
    main(sys.argv[1:])
