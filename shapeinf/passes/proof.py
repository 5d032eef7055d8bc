"""The proof that a pass leaves a model the same: the interface, the types of remaining values, the checker."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import onnx
import onnx_ir as ir

from shapeinf.expr import Dimension, DimSize
from shapeinf.formats.annotation import Info
from shapeinf.passes.outline import checker_input, outline
from shapeinf.passes.types import Types

Interface = tuple[tuple[str, ...], ...]
"""A row for each input and output: kind, name, type, and whether it has a default."""


@attrs.frozen
class Snapshot:
    """A model, the inferred types of its values, its interface, and why the checker refuses it (empty: it does not)."""

    model: ir.Model
    types: Types
    interface: Interface
    refusal: str

    @classmethod
    def take(cls, model: ir.Model) -> Snapshot:
        """Infer and check a model. Raises what `infer_shapes` raises."""
        proto = outline(model)
        return cls(model, Types.infer(model, proto), interface(proto, model.ir_version), _refusal(proto))


def _refusal(proto: onnx.ModelProto) -> str:
    """Why the checker refuses a model; empty where it accepts it."""
    try:
        onnx.checker.check_model(checker_input(proto))
    except onnx.checker.ValidationError as error:
        return " ".join(str(error).split())
    return ""


def interface(proto: onnx.ModelProto, ir_version: int) -> Interface:
    """The names and declared types of inputs and outputs, and which inputs have a default."""
    defaults = {tensor.name for tensor in proto.graph.initializer}
    inputs = [v for v in proto.graph.input if ir_version >= 4 or v.name not in defaults]
    described = [("input", v.name, _type_text(v), str(v.name in defaults)) for v in inputs]
    return tuple([*described, *(("output", v.name, _type_text(v), "") for v in proto.graph.output)])


def _type_text(value: onnx.ValueInfoProto) -> str:
    return bytes(value.type.SerializeToString(deterministic=True)).hex()


def differences(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """The differences as texts: of the checker's verdict, of the interface, of the types of values that both have."""
    if after.refusal and not before.refusal:
        yield f"the checker refuses the result: {after.refusal}"
    if before.interface != after.interface:
        changed = set(before.interface) ^ set(after.interface)
        names = sorted({item[1] for item in changed})
        yield f"the interface changed at {', '.join(names)}" if names else "the order of inputs or outputs changed"
    unknowns: dict[str, str] = {}
    for path, old in before.types.by_path.items():
        new = after.types.by_path.get(path)
        if new is not None and not _is_same(old, new, unknowns):
            yield f"{'/'.join(path)} was {old} and is {new}"


def _is_same(old: Info, new: Info, unknowns: dict[str, str]) -> bool:
    """Whether a type is the same; what was unknown before may be known after."""
    if old.kind != new.kind or (old.dtype is not None and old.dtype != new.dtype):
        return False
    if old.shape.dims is None:
        return True
    if new.shape.dims is None or len(old.shape.dims) != len(new.shape.dims):
        return False
    return all(_is_same_dim(a, b, unknowns) for a, b in zip(old.shape.dims, new.shape.dims, strict=True))


def _is_same_dim(old: DimSize, new: DimSize, unknowns: dict[str, str]) -> bool:
    """Whether a size is the same; each unknown of one inference corresponds to one of the other."""
    if isinstance(old, Dimension) and any(s.symbol.anonymous for s in old.symbols()):
        return unknowns.setdefault(str(old), str(new)) == str(new)
    return str(old) == str(new)
