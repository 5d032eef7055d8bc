"""NNEF models for tests: documents, and folders with tensor files, which the nnef package writes."""

from __future__ import annotations

import tarfile

import numpy as np
import pytest

nnef = pytest.importorskip("nnef", reason="the nnef package writes the tensor files of these tests")

HEAD = "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n"
PLAIN = HEAD + "    w = variable(shape = [3, 4], label = 'block/w');\n    y = matmul(x, w);\n}\n"


def write_tensor(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        nnef.write_tensor(file, np.asarray(array), **options)


def model_in(folder, text=PLAIN, quantization=None, **tensors):
    folder.mkdir(exist_ok=True)
    (folder / "graph.nnef").write_text(text)
    if quantization is not None:
        (folder / "graph.quant").write_text(quantization)
    for label, array in tensors.items():
        write_tensor(folder / f"{label.replace('__', '/')}.dat", array)
    return folder


def packed(folder):
    path = folder.parent / "model.nnef.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "model")
    return path


def shapes(result):
    return {name: str(info.shape) for name, info in result.tensors.items()}
