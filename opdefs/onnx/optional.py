"""Values that may be missing."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, MapType, OptionalType, PartialTensor, SequenceType, Shape, TensorType, Type
from shapeinf.ops import InferenceContext


def _declared(c: InferenceContext, declared: DeclaredType | None) -> Type:
    """The type that an attribute spells out."""
    if declared is None:
        return TensorType(None, c.unknown_shape())
    if declared.kind == "tensor":
        if declared.dims is None:
            return TensorType(declared.dtype, c.unknown_shape())
        return TensorType(declared.dtype, Shape(d if isinstance(d, int) else c.fresh("dim") for d in declared.dims))
    inner = _declared(c, declared.of)
    if declared.kind == "map":
        return MapType(declared.dtype or "int64", inner)
    return SequenceType(inner) if declared.kind == "sequence" else OptionalType(inner)


@onnx("Optional", views={0: 0})
def optional(c: InferenceContext, x: Type | None = None, *, type_: DeclaredType | None = None) -> OptionalType:
    """The input, or nothing of the type that the attribute says."""
    if x is None and type_ is None:
        c.fail("an empty optional needs the attribute 'type'")
    return OptionalType(_declared(c, type_) if x is None else x)


@onnx("OptionalGetElement", views={0: 0})
def optional_get_element(c: InferenceContext, x: Type) -> Type:
    """What an optional holds; anything else is given back as it is."""
    return x.element if isinstance(x, OptionalType) else x


@onnx("OptionalHasElement")
def optional_has_element(c: InferenceContext, x: Type | None = None) -> PartialTensor:
    """A scalar: false without an input, true for what is no optional."""
    known = None if isinstance(x, OptionalType) else (x is not None,)
    return PartialTensor("bool", SCALAR, known)
