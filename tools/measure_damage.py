"""How much damage `shapeinf check` finds.

    python tools/measure_damage.py [FOLDER] [--own] [--seed 0] [--each 1] [--declared onnx|bare|shapeinf] [--missed]

Damages every `NAME.onnx` of the folder (with `--own` also the models of this project) in each way of `tools/damage.py`
and prints, for each kind: how many cases there are, the share with a finding, and the share whose first finding is on
the damaged node (or names the damaged input). Damage counts only where onnxruntime shows it: it refuses to run, or it
makes other shapes than declared, with inputs with which the undamaged model runs, or, where an input's declaration is
damaged, with inputs of the shapes that the damaged file declares. Only a misspelt name counts by itself. `--declared`
says what the file declares: what onnx's own inference knows, nothing but the outputs, or what `result.save` writes.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import KINDS, Damage, Patient, damages, patient, prepared
from own_models import own_models

from shapeinf import infer_shapes
from shapeinf.checks import Finding, check

ort.set_default_logger_severity(4)


def feeds(p: Patient, binding: int, model: onnx.ModelProto | None = None) -> dict[str, np.ndarray]:
    """Inputs as the truth was made with, or as the inputs of another model are declared."""
    declared = {} if model is None else {v.name: v.type.tensor_type.shape.dim for v in model.graph.input}
    rng, sizes, found = np.random.default_rng(0), p.truth["gen_bindings"][binding], {}
    for one in p.truth["generator"]:
        shape = p.truth["inputs"][one["name"]]["shapes"][binding]
        names = p.truth["bindings"][binding]
        asked = declared.get(one["name"], [])
        shape = (
            [d.dim_value or names.get(d.dim_param, n) for d, n in zip(asked, shape, strict=True)] if asked else shape
        )
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


def observed(
    model: onnx.ModelProto, p: Patient, folder: Path, as_declared: bool = False
) -> list[dict[str, tuple[int, ...]] | None]:
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
            values = session.run(None, feeds(p, binding, model if as_declared else None))
            found.append({n: np.shape(v) for n, v in zip(names, values, strict=True) if hasattr(v, "shape")})
        except Exception:
            found.append(None)
    return found


def shows(damaged: Damage, p: Patient, folder: Path) -> bool:
    """Whether onnxruntime shows the damage where the undamaged model is fine."""
    if damaged.misnamed:
        return True
    before = p.runs = p.runs or observed(p.model, p, folder)
    of_values = damaged.declaration and not damaged.input
    after = before if of_values else observed(damaged.model, p, folder, as_declared=bool(damaged.input))
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


def patients(paths: Iterable[Path], seed: int, declared: str, folder: Path) -> Iterator[tuple[str, Patient]]:
    """The models of others, by name; their weights are copied into the folder."""
    for path in paths:
        for weights in path.parent.glob("*.bin"):
            shutil.copy(weights, folder)
        yield path.name, patient(path, seed, declared == "bare")


def own_patients(seed: int, declared: str) -> Iterator[tuple[str, Patient]]:
    """The models of this project, by name."""
    for name, model, truth in own_models():
        yield name, prepared(model, truth, f"{seed}:{name}", declared == "bare")


def measured(
    paths: Iterable[Path], seed: int, each: int, declared: str, own: bool = False, only: Collection[str] = ()
) -> Iterator[Case]:
    """Every case, damaged and checked; ValueError for an undamaged model with findings. `only` some kinds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = itertools.chain(patients(paths, seed, declared, folder), own_patients(seed, declared) if own else ())
        for model, p in models:
            p = annotated(p, folder / "model.onnx", declared)
            for one in found(p.model):
                raise ValueError(f"{model} is undamaged: {one.code} {one.place} {one.message}")
            for damaged in damages(p, each):
                if damaged.kind in (only or KINDS) and shows(damaged, p, folder):
                    yield Case(model, damaged, found(damaged.model))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--own", action="store_true", help="the models of this project too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--declared", choices=["onnx", "bare", "shapeinf"], default="onnx")
    parser.add_argument("--missed", action="store_true")
    given = parser.parse_args()
    cases = []
    paths = sorted(given.folder.glob("*.onnx")) if given.folder else []
    for case in measured(paths, given.seed, given.each, given.declared, given.own):
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
