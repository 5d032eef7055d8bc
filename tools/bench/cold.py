"""Cold start: CPU seconds of whole processes, the least of several runs of each, in turns.

    python tools/bench/cold.py MODEL.onnx [--large LARGE.onnx] [--repeats 7] [--save-figures]

LARGE has named dims, which `plan` binds to 8. `onnx` is the documented way of the onnx package as a script: load,
`infer_shapes(data_prop=True)`, print every shape.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from bench.figures import save  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402
from shapeinf.compilation import build_name  # noqa: E402

SCRIPT = """
import sys
import onnx
model = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1], load_external_data=False), data_prop=True)
for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
    print(value.name, [d.dim_value or d.dim_param for d in value.type.tensor_type.shape.dim])
"""


def processes(model: str, large: str | None) -> dict[str, list[str]]:
    """The command lines by their names on the page."""
    python, shapeinf = [sys.executable, "-c"], [sys.executable, "-m", "shapeinf"]
    return {
        "python -c pass": [*python, "pass"],
        "import shapeinf": [*python, "import shapeinf"],
        "from shapeinf import infer_shapes": [*python, "from shapeinf import infer_shapes"],
        "import numpy": [*python, "import numpy"],
        "import onnx": [*python, "import onnx"],
        "shapeinf --version": [*shapeinf, "--version"],
        "shapeinf infer MODEL": [*shapeinf, "infer", model],
        "onnx: load, infer_shapes, print": [*python, SCRIPT, model],
        **({} if large is None else questions(large)),
    }


def questions(model: str) -> dict[str, list[str]]:
    """The command lines for a large model by their names on the page."""
    shapeinf = [sys.executable, "-m", "shapeinf"]
    symbols = [f"{name}=8" for name in infer_shapes(model).memory().labels.values()]
    return {
        "shapeinf infer --outputs LARGE": [*shapeinf, "infer", "--outputs", model],
        **{f"shapeinf {name} LARGE": [*shapeinf, name, model] for name in ("memory", "cost", "summary", "check")},
        "shapeinf report LARGE": [*shapeinf, "report", model, "-o", os.devnull],
        "shapeinf plan LARGE": [*shapeinf, "plan", model, "--bind", ",".join(symbols)],
    }


def cpu_seconds(command: list[str]) -> float:
    """CPU seconds of a process, user and system; its modules have bytecode, as those of an installation.

    Not in the current folder: in that of the sources, Python would import these instead of what is installed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print one line per process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--large", metavar="LARGE", help="a model for the commands that answer more than shapes")
    parser.add_argument("--repeats", type=int, default=7, help="processes of each (7)")
    parser.add_argument("--save-figures", action="store_true", help="write to docs/figures.json")
    options = parser.parse_args()
    large = None if options.large is None else os.path.abspath(options.large)
    commands = processes(os.path.abspath(options.model), large)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(options.repeats + 1):
        for name, command in commands.items():
            taken = cpu_seconds(command)
            if turn:  # the first run may write bytecode
                times[name].append(taken)
    for name, taken in times.items():
        print(f"{name:36} {min(taken):.3f} s")
    if options.save_figures:
        rows = [{"name": name, "seconds": round(min(taken), 3)} for name, taken in times.items()]
        models = {"model": options.model, "large": options.large or ""}
        save(f"cold, {build_name()}", rows, **{name: os.path.basename(path) for name, path in models.items()})


if __name__ == "__main__":
    main()
