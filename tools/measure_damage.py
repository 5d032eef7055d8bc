"""How much damage `shapeinf check` finds.

    python tools/measure_damage.py FOLDER [--seed 0] [--each 1] [--declared onnx|bare|shapeinf] [--missed]

Damages every `NAME.onnx` of the folder in each way of `tools/damage.py` and prints, for each kind: how many cases there
are, the share with a finding, and the share whose first finding is on the damaged node (or names the damaged input).
Damage to a node counts only where onnxruntime shows it: it refuses to run, or it makes other shapes than declared, with
inputs with which the undamaged model runs. `--declared` says what the file declares: what onnx's own inference knows,
nothing but the outputs, or what `result.save` writes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import Damage, Patient, damages, patient

from shapeinf import infer_shapes
from shapeinf.checks import Finding, check

ort.set_default_logger_severity(4)


def feeds(p: Patient, binding: int) -> dict[str, np.ndarray]:
    """Inputs as the truth was made with."""
    rng, sizes, found = np.random.default_rng(0), p.truth["gen_bindings"][binding], {}
    for one in p.truth["generator"]:
        shape = p.truth["inputs"][one["name"]]["shapes"][binding]
        dtype = p.truth["inputs"][one["name"]]["dtype"]
        made = contents(one, shape, sizes, rng)
        found[one["name"]] = made.astype({"string": object, "float": np.float32}.get(dtype, dtype))
    return found


def contents(one: dict[str, Any], shape: list[int], sizes: dict[str, int], rng: np.random.Generator) -> np.ndarray:
    kind = one["kind"]
    if kind == "str":
        return rng.choice(one["hi"], shape)
    if kind in ("int", "scalar_int"):
        return rng.integers(one["lo"], one["hi"], shape)
    if kind == "arange_past":
        return np.broadcast_to(np.arange(shape[-1]) + sizes.get("past", 0), shape)
    return rng.standard_normal(shape) if kind == "float" else np.ones(shape)


def observed(model: onnx.ModelProto, p: Patient, folder: Path) -> list[dict[str, tuple[int, ...]] | None]:
    """The shapes of the declared values at each binding; None where onnxruntime refuses."""
    one = onnx.ModelProto()
    one.CopyFrom(model)
    known = {value.name for value in one.graph.output}
    one.graph.output.extend(value for value in one.graph.value_info if value.name not in known)
    path = folder / "damaged.onnx"
    path.write_bytes(one.SerializeToString())
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    bindings = range(len(p.truth["bindings"]))
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:
        return [None for _ in bindings]
    names = [value.name for value in session.get_outputs()]
    found: list[dict[str, tuple[int, ...]] | None] = []
    for binding in bindings:
        try:
            values = session.run(None, feeds(p, binding))
            found.append({n: np.shape(v) for n, v in zip(names, values, strict=True) if hasattr(v, "shape")})
        except Exception:
            found.append(None)
    return found


def shows(damaged: Damage, p: Patient, folder: Path) -> bool:
    """Whether onnxruntime shows the damage where the undamaged model is fine."""
    if damaged.declaration:
        return True
    before, after = observed(p.model, p, folder), observed(damaged.model, p, folder)
    declared = {v.name: v for v in [*damaged.model.graph.output, *damaged.model.graph.value_info]}
    for binding, (a, b) in enumerate(zip(before, after, strict=True)):
        if a is not None and (b is None or any(contradicts(declared[n], b[n], p, binding) for n in b)):
            return True
    return False


def contradicts(value: onnx.ValueInfoProto, shape: tuple[int, ...], p: Patient, binding: int) -> bool:
    """Whether a shape is not the one that is declared; names mean the dims of the inputs."""
    if not value.type.tensor_type.HasField("shape"):
        return False
    dims = value.type.tensor_type.shape.dim
    sizes = p.truth["bindings"][binding]
    meant = [d.dim_value if d.HasField("dim_value") else sizes.get(d.dim_param) for d in dims]
    return len(meant) != len(shape) or any(m not in (None, n) for m, n in zip(meant, shape, strict=True))


def found(model: onnx.ModelProto) -> list[Finding]:
    """The findings that make a check fail."""
    return [one for one in check(infer_shapes(model, declared="check")) if one.fails]


def hits(first: Finding, damaged: Damage) -> bool:
    """Whether a finding is on the damaged node or tensor, or names the damaged input."""
    named = bool(damaged.input) and f"{damaged.input}.shape[" in first.message
    return named or first.node in damaged.places or first.tensor in damaged.places


def annotated(p: Patient, path: Path, declared: str) -> Patient:
    """The patient with the declarations that are asked for."""
    if declared == "shapeinf":
        target = path.parent / "annotated.onnx"
        infer_shapes(p.model).save(target)
        p.model = onnx.load(str(target), load_external_data=False)
    return p


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--declared", choices=["onnx", "bare", "shapeinf"], default="onnx")
    parser.add_argument("--missed", action="store_true")
    given = parser.parse_args()
    cases: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    first: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for weights in given.folder.glob("*.bin"):
            shutil.copy(weights, folder)
        for path in sorted(given.folder.glob("*.onnx")):
            p = annotated(patient(path, given.seed, given.declared == "bare"), folder / path.name, given.declared)
            for one in found(p.model):
                print(f"{path.name} is undamaged: {one.code} {one.place} {one.message}")
            for damaged in damages(p, given.each):
                if not shows(damaged, p, folder):
                    continue
                findings = found(damaged.model)
                cases[damaged.kind] += 1
                seen[damaged.kind] += bool(findings)
                first[damaged.kind] += bool(findings) and hits(findings[0], damaged)
                if given.missed and not (findings and hits(findings[0], damaged)):
                    said = f"{findings[0].code} {findings[0].place}: {findings[0].message}" if findings else "nothing"
                    print(f"{path.name} {damaged.kind} {damaged.what}: {said}")
    print(f"{'kind':26}{'cases':>7}{'found':>8}{'first':>8}")
    for kind in [*cases, "all"]:
        parts = [sum(c.values()) if kind == "all" else c[kind] for c in (cases, seen, first)]
        print(f"{kind:26}{parts[0]:7}{parts[1] / max(1, parts[0]):8.1%}{parts[2] / max(1, parts[0]):8.1%}")


if __name__ == "__main__":
    main()
