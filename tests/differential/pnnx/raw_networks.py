"""Networks of one function each, with raw calls of torch, as pnnx wrote them, with the types that torch returned.

`python -m tests.differential.pnnx.raw_networks PNNX` writes them anew; it needs torch and the program `pnnx`.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("raw_networks.json.xz")
TRACED, RUN = (2, 5, 4), ((3, 7, 6), (4, 6, 5))
"""The sizes with which a function is traced, and those at which torch's results are recorded."""
LEVELS = (0, 2)
"""Levels of optimization: at 0 constants are `prim::Constant`, at 2 `pnnx.Expression`."""


def read() -> dict[str, Any]:
    """By name the texts of the network by level, and the types of the outputs by size of the input."""
    recorded: dict[str, Any] = json.loads(lzma.decompress(RECORDED.read_bytes()))
    return recorded


def record(function: Any, program: str) -> dict[str, Any]:
    """The networks and types of a function."""
    import torch

    class Network(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    types = {}
    for sizes in RUN:
        torch.manual_seed(0)
        result = function(torch.rand(sizes))
        listed = result if isinstance(result, (tuple, list)) else [result]
        types[str(list(sizes))] = [f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}" for x in listed]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib")}
    networks = {}
    with tempfile.TemporaryDirectory() as folder:
        traced = torch.jit.trace(Network().eval(), torch.rand(TRACED), check_trace=False)
        traced.save(f"{folder}/net.pt")
        shapes = [f"inputshape{n}=[{','.join(map(str, s))}]f32" for n, s in (("", TRACED), ("2", RUN[0]))]
        for level in LEVELS:
            command = [program, "net.pt", *shapes, f"optlevel={level}", "pnnxparam=net.param"]
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=120)
            networks[str(level)] = Path(folder, "net.param").read_text()
    return {"networks": networks, "types": types}


def main() -> None:
    """Record all functions."""
    from tests.differential.pnnx.raw_functions import FUNCTIONS

    warnings.simplefilter("ignore")
    recorded = {name: record(function, sys.argv[1]) for name, function in FUNCTIONS.items()}
    RECORDED.write_bytes(lzma.compress(json.dumps(recorded, separators=(",", ":")).encode()))
    print(f"{len(recorded)} functions, {2 * len(recorded)} networks")


if __name__ == "__main__":
    main()
