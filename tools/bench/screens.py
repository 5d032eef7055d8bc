"""The cost of printing: commands against the inference alone, on a model of 20,000 nodes.

    python tools/bench/screens.py [--nodes 20000] [--repeats 5]

All run in one process, in turns; medians of CPU time. Ratios: how many times longer a command takes than the inference.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402
from bench.timing import medians  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402
from shapeinf.cli import main as shapeinf  # noqa: E402

BLOCK = ("Relu", "Sigmoid", "Neg", "Tanh", "Add")


def make_model(nodes: int) -> onnx.ModelProto:
    """A chain of blocks, whose nodes have names of modules."""
    made, last = [], "x"
    for index in range(nodes):
        block, part = divmod(index, len(BLOCK))
        name = f"/model/layers.{block // 10}/block.{block % 10}/{BLOCK[part]}"
        inputs = [last, last] if BLOCK[part] == "Add" else [last]
        last = f"{name}_output_0" if index < nodes - 1 else "y"
        made.append(helper.make_node(BLOCK[part], inputs, [last], name))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64, "height", "width"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(made, "chain", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def command(*options: str) -> Callable[[str], object]:
    """`shapeinf infer MODEL` with these options."""

    def run(path: str) -> object:
        result = CliRunner().invoke(shapeinf, ["infer", path, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result

    return run


WAYS: dict[str, Callable[[str], object]] = {
    "inference": infer_shapes,
    "infer --limit 20": command("--limit", "20"),
    "infer --outputs": command("--outputs"),
    "infer": command(),
    "infer --tree": command("--tree"),
    "infer --json": command("--json"),
}


def main() -> None:
    """Print one line per command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.onnx"
        onnx.save(make_model(options.nodes), path)
        times = medians(str(path), WAYS, options.repeats)
    for name, seconds in times.items():
        print(f"{name:20} {seconds * 1e3:8.1f} ms  {seconds / times['inference']:5.2f}x")


if __name__ == "__main__":
    main()
