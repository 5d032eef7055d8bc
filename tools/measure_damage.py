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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
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


@attrs.frozen
class Case:
    """One damage and the findings that it gave, the first one first."""

    model: str
    damage: Damage
    findings: list[Finding]

    @property
    def hit(self) -> bool:
        """Whether the first finding is on the damaged node."""
        return bool(self.findings) and hits(self.findings[0], self.damage)


def measured(paths: Iterable[Path], seed: int, each: int, declared: str) -> Iterator[Case]:
    """Every case, damaged and checked; ValueError for an undamaged model that has findings."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in paths:
            for weights in path.parent.glob("*.bin"):
                shutil.copy(weights, folder)
            p = annotated(patient(path, seed, declared == "bare"), folder / path.name, declared)
            for one in found(p.model):
                raise ValueError(f"{path.name} is undamaged: {one.code} {one.place} {one.message}")
            for damaged in damages(p, each):
                if shows(damaged, p, folder):
                    yield Case(path.name, damaged, found(damaged.model))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--declared", choices=["onnx", "bare", "shapeinf"], default="onnx")
    parser.add_argument("--missed", action="store_true")
    given = parser.parse_args()
    cases = []
    for case in measured(sorted(given.folder.glob("*.onnx")), given.seed, given.each, given.declared):
        cases.append(case)
        if given.missed and not case.hit:
            said = case.findings[0].message if case.findings else "nothing"
            print(f"{case.model} {case.damage.kind} {case.damage.what}: {said}", flush=True)
    print(f"{'kind':26}{'cases':>7}{'found':>8}{'first':>8}")
    for kind in [*dict.fromkeys(case.damage.kind for case in cases), "all"]:
        these = [case for case in cases if kind in ("all", case.damage.kind)]
        seen, first = sum(bool(case.findings) for case in these), sum(case.hit for case in these)
        print(f"{kind:26}{len(these):7}{seen / len(these):8.1%}{first / len(these):8.1%}")


if __name__ == "__main__":
    main()
