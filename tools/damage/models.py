"""Models whose declarations do not come from shapeinf, and the damages of a model."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import onnx

from damage.patient import KINDS, Damage, Patient, declared_dims


def load_patient(path: Path, seed: int, outputs_only: bool = False) -> Patient:
    """A model with names for all nodes, and declared shapes of onnx's own inference.

    With `outputs_only`, only the outputs have declared shapes. Unknown dims of an output are declared by the name of
    an input's dim that had the same size in every run.
    """
    model = onnx.load(str(path), load_external_data=False)
    truth = json.loads(path.with_name(path.name.removesuffix(".onnx") + ".truth.json").read_text(encoding="utf-8"))
    return prepare_patient(model, truth, f"{seed}:{path.name}", outputs_only)


def prepare_patient(model: onnx.ModelProto, truth: dict[str, Any], seed: str, outputs_only: bool = False) -> Patient:
    """As `load_patient`, of a loaded model and its observed shapes."""
    for i, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{i}"
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    if outputs_only:
        del model.graph.value_info[:]
    result = Patient(model, truth, seed)
    for output in model.graph.output:
        name_dims(result, output)
    return result


def name_dims(p: Patient, value: onnx.ValueInfoProto) -> None:
    """Name the dims of an output that have no name, or one that onnx has invented."""
    shapes = p.shapes(value.name) or []
    for dim, sizes in zip(declared_dims(value), zip(*shapes, strict=False), strict=False):
        if not dim.dim_value and (not dim.dim_param or dim.dim_param.startswith("unk__")):
            names = [n for n in p.truth["bindings"][0] if tuple(b[n] for b in p.truth["bindings"]) == sizes]
            if len(names) == 1 and len(set(sizes)) > 1:
                dim.dim_param = names[0]


def damages(p: Patient, each: int = 1) -> Iterator[Damage]:
    """Up to a number of damages of each kind; each kind is independent of the others."""
    for kind, doctor in KINDS.items():
        p.rng = random.Random(f"{p.seed}:{kind}")
        for number, damage in enumerate(doctor(p)):
            if number == each:
                break
            yield attrs.evolve(damage, kind=kind)
