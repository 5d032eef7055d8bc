"""Measure how much damage to ONNX models `shapeinf check` detects.

    python tools/measure_damage.py [FOLDER] [--own] [--seed 0] [--each 1] [--declared onnx|bare|shapeinf] [--missed]
                                   [--half dev|held] [--every 1] [--only KIND...]

Damages every `NAME.onnx` of the folder (with `--own` also the models of this project) in each way of `tools/damage` and
prints, for each kind: the number of cases, the share with a diagnostic, the share whose first diagnostic is at the
damaged node (or names the damaged input), and the share where it is there or at a neighboring node. The hash of a
family's name assigns its models to one of two halves, one for development and one held out. Damage counts only where
onnxruntime confirms it: it rejects the model, or it computes other shapes than declared, with inputs with which the
undamaged model runs, or, where an input's declaration is damaged, with inputs of the shapes that the damaged file
declares. A misspelled name always counts. `--declared` selects the declarations of the file: the shapes of onnx's own
inference, those of the outputs only, or those that `result.save` writes.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import KINDS, Damage, Patient, damages, load_patient, prepare_patient
from own_models import own_models

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.diagnostics import Diagnostic

ort.set_default_logger_severity(4)


def make_feeds(p: Patient, binding: int, model: onnx.ModelProto | None = None) -> dict[str, np.ndarray]:
    """The inputs of an observed run, or inputs of the shapes that another model declares."""
    declared = {} if model is None else {v.name: v.type.tensor_type.shape.dim for v in model.graph.input}
    rng, sizes, arrays = np.random.default_rng(0), p.truth["gen_bindings"][binding], {}
    for spec in p.truth["generator"]:
        shape = p.truth["inputs"][spec["name"]]["shapes"][binding]
        names = p.truth["bindings"][binding]
        dims = declared.get(spec["name"], [])
        shape = [d.dim_value or names.get(d.dim_param, n) for d, n in zip(dims, shape, strict=True)] if dims else shape
        dtype = p.truth["inputs"][spec["name"]]["dtype"]
        array = make_contents(spec, shape, sizes, rng)
        arrays[spec["name"]] = array.astype({"string": object, "float": np.float32}.get(dtype, dtype))
    return arrays


def make_contents(
    spec: dict[str, Any], shape: list[int], sizes: dict[str, int], rng: np.random.Generator
) -> np.ndarray:
    kind = spec["kind"]
    if kind == "str":
        return rng.choice(spec["hi"], shape)
    if kind in ("int", "scalar_int"):
        return rng.integers(spec["lo"], spec["hi"], shape)
    if kind == "arange_past":
        return np.broadcast_to(np.arange(shape[-1]) + sizes.get("past", 0), shape)
    return rng.standard_normal(shape) if kind == "float" else np.ones(shape)


def observe(
    model: onnx.ModelProto, p: Patient, folder: Path, as_declared: bool = False
) -> list[dict[str, tuple[int, ...]] | None]:
    """The shapes of the declared values at each binding; None where onnxruntime rejects the model."""
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    known = {value.name for value in extended.graph.output}
    extended.graph.output.extend(value for value in extended.graph.value_info if value.name not in known)
    path = folder / "damaged.onnx"
    path.write_bytes(extended.SerializeToString())
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    bindings = range(len(p.truth["bindings"]))
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:
        return [None for _ in bindings]
    names = [value.name for value in session.get_outputs()]
    shapes: list[dict[str, tuple[int, ...]] | None] = []
    for binding in bindings:
        try:
            values = session.run(None, make_feeds(p, binding, model if as_declared else None))
            shapes.append({n: np.shape(v) for n, v in zip(names, values, strict=True) if hasattr(v, "shape")})
        except Exception:
            shapes.append(None)
    return shapes


def confirms_damage(damaged: Damage, p: Patient, folder: Path) -> bool:
    """Whether onnxruntime shows the damage where the undamaged model is fine."""
    if damaged.misnamed:
        return True
    before = p.runs = p.runs or observe(p.model, p, folder)
    of_values = damaged.declaration and not damaged.input
    after = before if of_values else observe(damaged.model, p, folder, as_declared=bool(damaged.input))
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
    wanted = [d.dim_value if d.HasField("dim_value") else size_of(d.dim_param, sizes) for d in dims]
    return len(wanted) != len(shape) or any(m not in (None, n) for m, n in zip(wanted, shape, strict=True))


def size_of(text: str, sizes: dict[str, int]) -> int | None:
    """The size that a name means, or a multiple of one."""
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    if not names or not names <= sizes.keys() or not re.fullmatch(r"[\w+* ]+", text):
        return None
    return int(eval(text, {"__builtins__": {}}, sizes))


def failing_diagnostics(model: onnx.ModelProto) -> list[Diagnostic]:
    """The diagnostics that make a check fail."""
    return [diagnostic for diagnostic in check(infer_shapes(model, declared="check")) if diagnostic.fails]


def hits(first: Diagnostic, damaged: Damage) -> bool:
    """Whether a diagnostic is at the damaged node or tensor, or names the damaged input."""
    named = bool(damaged.input) and f"{damaged.input}.shape[" in first.message
    return named or first.node in damaged.labels or first.tensor in damaged.labels


def annotate(p: Patient, path: Path, declared: str) -> Patient:
    """The patient with the requested declarations."""
    if declared == "shapeinf":
        target = path.parent / "annotated.onnx"
        infer_shapes(p.model).save(target)
        p.model = onnx.load(str(target), load_external_data=False)
    return p


@attrs.frozen
class Case:
    """A damaged model and its diagnostics in order."""

    model: str
    damage: Damage
    diagnostics: list[Diagnostic]
    seconds: float = 0.0

    @property
    def held_out(self) -> bool:
        """Whether the model is of the half that is held out."""
        return is_held_out(self.model)

    @property
    def near(self) -> bool:
        """Whether the first diagnostic is at the damaged node or at a neighbor."""
        return self.hit or (bool(self.diagnostics) and self.diagnostics[0].subject in neighbors(self.damage))

    @property
    def hit(self) -> bool:
        """Whether the first diagnostic is at the damaged node."""
        return bool(self.diagnostics) and hits(self.diagnostics[0], self.damage)


def is_held_out(model: str) -> bool:
    """Half of the models, by the family that a name begins with: exports of one network are in one half."""
    return hashlib.sha256(model.partition(".")[0].encode()).digest()[0] % 2 == 1


def neighbors(damage: Damage) -> set[str]:
    """The names of producers of the damaged nodes' inputs, and of consumers of their outputs."""
    nodes = list(damage.model.graph.node)
    here = [n for n in nodes if damage.labels & {n.name, *n.output}]
    read = {name for node in here for name in node.input}
    written = {name for node in here for name in node.output}
    near = [n for n in nodes if read & set(n.output) or written & set(n.input)]
    return {name for node in near for name in (node.name, *node.output)} | read


def patients(paths: Iterable[Path], seed: int, declared: str, folder: Path) -> Iterator[tuple[str, Patient]]:
    """The models of others, by name; their weights are copied into the folder."""
    for path in paths:
        for weights in path.parent.glob("*.bin"):
            shutil.copy(weights, folder)
        yield path.name, load_patient(path, seed, declared == "bare")


def own_patients(seed: int, declared: str) -> Iterator[tuple[str, Patient]]:
    """The models of this project, by name."""
    for name, model, truth in own_models():
        yield name, prepare_patient(model, truth, f"{seed}:{name}", declared == "bare")


def measure(
    paths: Iterable[Path], seed: int, each: int, declared: str, own: bool = False, only: Collection[str] = ()
) -> Iterator[Case]:
    """Every case, damaged and checked; ValueError for an undamaged model with diagnostics. `only` some kinds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = itertools.chain(patients(paths, seed, declared, folder), own_patients(seed, declared) if own else ())
        for model, p in models:
            p = annotate(p, folder / "model.onnx", declared)
            for diagnostic in failing_diagnostics(p.model):
                raise ValueError(f"{model} is undamaged: {diagnostic.code} {diagnostic.subject} {diagnostic.message}")
            for damaged in damages(p, each):
                if damaged.kind in (only or KINDS) and confirms_damage(damaged, p, folder):
                    begun = time.perf_counter()
                    yield Case(model, damaged, failing_diagnostics(damaged.model), time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--own", action="store_true", help="also damage the models of this project")
    parser.add_argument("--seed", type=int, default=0, help="selects the positions of the damage (0)")
    parser.add_argument("--each", type=int, default=1, help="cases of each kind in a model (1)")
    parser.add_argument(
        "--declared", choices=["onnx", "bare", "shapeinf"], default="onnx", help="declarations of the file"
    )
    parser.add_argument("--missed", action="store_true", help="print cases without a diagnostic at the damage")
    parser.add_argument("--half", choices=["dev", "held"], help="one half of the models only")
    parser.add_argument("--every", type=int, default=1, help="every N-th model only")
    parser.add_argument("--only", nargs="*", default=(), help="these kinds of damage only")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.onnx")) if options.folder else []
    if options.half:
        paths = [path for path in paths if is_held_out(path.name) == (options.half == "held")]
    cases = []
    for case in measure(
        paths[:: options.every], options.seed, options.each, options.declared, options.own, options.only
    ):
        cases.append(case)
        if options.missed and not case.hit:
            print(describe_miss(case), flush=True)
    kinds = {kind: [c for c in cases if c.damage.kind == kind] for kind in sorted({c.damage.kind for c in cases})}
    halves = {half: [c for c in cases if c.held_out == (half == "held out")] for half in ("dev", "held out")}
    print(f"{'':26}{'cases':>7}{'detected':>10}{'at node':>10}{'adjacent':>10}")
    for name, these in {**kinds, **halves, "all": cases}.items():
        counts = [sum(map(bool, flags)) for flags in zip(*((c.diagnostics, c.hit, c.near) for c in these), strict=True)]
        print(f"{name:26}{len(these):7}" + "".join(f"{count / len(these):10.1%}" for count in counts))


def describe_miss(case: Case) -> str:
    """A case whose first diagnostic is not at the damaged node, on one line."""
    first = case.diagnostics[0] if case.diagnostics else None
    reported = f"{first.code} {first.subject}: {first.message}" if first else "nothing"
    how = "MISSED" if first is None else "near" if case.near else "elsewhere"
    return f"{how} {case.model} {case.damage.kind} {case.damage.description} [{case.seconds:.1f} s]: {reported}"


if __name__ == "__main__":
    main()
