"""Convert `examples/enhancer.pnnx.param` with pnnx and torch, from two sizes of its image."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import pnnx
import torch
from torch import nn

TARGET = Path(__file__).resolve().parent.parent / "examples" / "enhancer.pnnx.param"


class Enhancer(nn.Module):
    """Features of an image at two scales, joined: height and width must be even."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 16, 3, padding=1)
        self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.up = nn.Conv2d(32, 64, 1)
        self.shuffle = nn.PixelShuffle(2)
        self.out = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """[N, 3, H, W] -> [N, 3, H, W]."""
        features = torch.relu(self.features(image))
        coarse = self.shuffle(self.up(torch.relu(self.down(features))))
        joined: torch.Tensor = self.out(torch.cat([features, coarse], dim=1))
        return joined


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "enhancer.pt"
        images = torch.rand(1, 3, 32, 48), torch.rand(2, 3, 64, 24)
        pnnx.export(Enhancer().eval(), str(model), images[:1], inputs2=images[1:])
        shutil.copyfile(model.with_suffix(".pnnx.param"), TARGET)


if __name__ == "__main__":
    main()
