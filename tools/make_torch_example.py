"""Make `examples/patches.pt2`: a small vision model that torch.export saved.

    python tools/make_torch_example.py

It needs torch. The image is cut into patches of 8x8, and a table has a position for each of the 16 patches of an image
of 32x32. The batch is a `Dim`; height and width are `Dim.AUTO`.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import torch
from torch import nn
from torch.export import Dim, export, save

PATH = Path(__file__).resolve().parent.parent / "examples" / "patches.pt2"
OWN = "make_torch_example.py"


class Patches(nn.Module):
    """Images [n, 3, h, w] -> scores [n, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, 8, 8, stride=8)
        self.position = nn.Parameter(torch.zeros(1, 16, 8))
        self.head = nn.Linear(8, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """The scores of images."""
        patches = self.cut(image).flatten(2).transpose(1, 2)
        placed = patches + self.position
        scores: torch.Tensor = self.head(placed.mean(1))
        return scores


def exported() -> bytes:
    """The file as torch writes it."""
    torch.manual_seed(0)
    dims = {0: Dim("n", max=64), 2: Dim.AUTO, 3: Dim.AUTO}
    program = export(Patches().eval(), (torch.zeros(2, 3, 32, 32),), dynamic_shapes=(dims,))
    file = io.BytesIO()
    save(program, file)
    return file.getvalue()


def without_paths(text: str) -> str:
    """A program whose stack traces have no folders of this machine, and whose lines are those of this tool."""
    data = json.loads(text)
    for node in data["graph_module"]["graph"]["nodes"]:
        trace = node["metadata"].get("stack_trace", "")
        node["metadata"] = {"stack_trace": re.sub(rf'File "[^"]*{OWN}"', f'File "{OWN}"', trace)} if trace else {}
    return json.dumps(data)


def main() -> None:
    """Write the example, without the inputs at which it was exported, which are a pickle."""
    with zipfile.ZipFile(io.BytesIO(exported())) as source, zipfile.ZipFile(PATH, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if "sample_inputs" not in name:
                data = source.read(name)
                is_program = "/models/" in name
                target.writestr(zipfile.ZipInfo(name), without_paths(data.decode()) if is_program else data)


if __name__ == "__main__":
    main()
