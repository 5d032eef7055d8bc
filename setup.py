"""Extension modules, which setuptools takes from here only; everything else stands in pyproject.toml.

Without SHAPEINF_MYPYC=1 in the environment there are none and the wheel is pure Python. With it, mypyc compiles the
modules below, those of the straight path from a file to shapes: docs/dev/compiled.md.
"""

import json
import os
import runpy
import sys
from pathlib import Path

from setuptools import setup

MYPYC = "mypy==2.4.1"
"""The compiler. Its version is fixed: what it accepts, and how it represents numbers, changes between releases."""
COMPILED = {
    "shapeinf/constraints": "common congruences index piecewise records store",
    "shapeinf/engine": "compiled declarations inference session tensor_info type_table",
    "shapeinf/expr": "atoms dimension division equations evaluation extremum file_texts interval nests parsing"
    " usual_bounds",
    "shapeinf/formats/onnx": "assembly attributes scanner tensors types",
    "shapeinf/formats/protobuf": "wire",
    "shapeinf/graph": "rows topology",
    "shapeinf/lattice": "broadcasting index_tuples joins mapping merging relaxer shape shape_store types",
    "shapeinf/ops": "arguments context deferred element_types run",
    "opdefs/onnx": "cast concat constant contraction conv elementwise gather logic normalization pad quantize reduction"
    " reshape select slice",
    "opdefs/tf/context": "contents context structure",
    "opdefs/rules": "contraction gathering operands padding parts reduction repetition reshaping window",
    "opdefs/rules/contents": "arithmetic conversion elements floats integers logic progressions",
}
"""Modules by folder: those in which the time of an inference goes. Each costs time to build and to load."""


def compiled_modules() -> list[str]:
    """The files that mypyc compiles, relative to this folder."""
    return [f"{folder}/{name}.py" for folder, names in COMPILED.items() for name in names.split()]


def require_compiler() -> None:
    """End with a message where nothing can be compiled, before mypy is downloaded."""
    reason = runpy.run_path("tools/c_compiler.py")["missing"]()
    if reason:
        sys.exit(f"error: SHAPEINF_MYPYC=1 compiles shapeinf, and cannot here: {reason}")


def write_parameters() -> None:
    """Write the signatures of shape functions, which compiled ones do not have: `shapeinf/ops/parameters.py`."""
    parameters = runpy.run_path("shapeinf/ops/parameters.py")
    for folder, names in COMPILED.items():
        if folder.startswith("opdefs"):
            sources = {name: Path(folder, f"{name}.py").read_text(encoding="utf-8") for name in names.split()}
            listed = {name: parameters["source_parameters"](source) for name, source in sources.items()}
            Path(folder, parameters["FILE"]).write_text(json.dumps(listed), encoding="utf-8")


if __name__ == "__main__":
    if os.environ.get("SHAPEINF_MYPYC") != "1":
        setup()
    elif not {"bdist_wheel", "build_ext"} & set(sys.argv):  # pip asks what the build needs before it builds
        require_compiler()
        setup(setup_requires=[MYPYC, "attrs", "onnx"])  # besides mypy, packages whose types the modules use
    else:
        from mypyc.build import mypycify

        write_parameters()
        # Values of packages that the build lacks are Any. `make lint` checks the types strictly, with all packages.
        arguments = ["--no-warn-return-any", "--no-warn-unused-ignores", *compiled_modules()]
        setup(ext_modules=mypycify(arguments, multi_file=True, group_name="shapeinf", debug_level="0"))
