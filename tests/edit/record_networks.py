"""Write the networks of `examples/pnnx`, with torch and pnnx: traces at one size and at two, and exports to ONNX.

`python -m tests.edit.record_networks` needs torch and pnnx.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "pnnx"


def networks():
    """The networks by name: the module, the sizes of its inputs in two traces, and the names of open axes."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Convolutions(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn = nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4)
            self.conv2, self.pool = nn.Conv2d(4, 6, 3, padding=1), nn.MaxPool2d(2)
            self.gap, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 5)

        def forward(self, x):
            y = self.pool(functional.relu(self.bn(self.conv1(x))))
            y = functional.relu(self.conv2(y))
            return self.fc(torch.flatten(self.gap(y), 1)), y

    class Slices(nn.Module):
        """The sizes of `m` are those of `x` without the first row: `t == s - 1`."""

        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 4)

        def forward(self, x, m):
            y = self.fc(x)
            z = torch.cat([y[:, 1:], y[:, :-1]], 2)
            return z.transpose(1, 2), z * m, x[:, ::2], (y * m[:, :1, :4]).sum(1)

    yield "cnn", Convolutions(), ([(1, 3, 16, 20)], [(2, 3, 32, 28)]), {"x": {0: "n", 2: "h", 3: "w"}}
    sizes = [(1, 6, 8), (1, 5, 8)], [(3, 9, 8), (3, 8, 8)]
    yield "slices", Slices(), sizes, {"x": {0: "n", 1: "s"}, "m": {0: "n", 1: "t"}}


def write(name, network, sizes, axes):
    """The traces of a network and its export."""
    import pnnx
    import torch

    inputs = tuple(torch.rand(size) for size in sizes[0])
    options = [
        f"inputshape{number}=" + ",".join(f"{list(size)}f32" for size in of_run).replace(" ", "")
        for number, of_run in zip(("", "2"), sizes, strict=True)
    ]
    for suffix, arguments in (("", options[:1]), ("_dyn", options)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}{suffix}.pt"
            torch.jit.trace(network.eval(), inputs, check_trace=False).save(str(path))
            subprocess.run([pnnx.EXEC_PATH, str(path), *arguments], check=True, cwd=folder, stdout=sys.stderr)
            param = path.with_suffix(".pnnx.param")
            (FOLDER / param.name).write_bytes(param.read_bytes())
    target = str(FOLDER / f"{name}.onnx")
    torch.onnx.export(
        network, inputs, target, input_names=list(axes), dynamic_axes=axes, dynamo=False, opset_version=17
    )


if __name__ == "__main__":
    for each in networks():
        write(*each)
