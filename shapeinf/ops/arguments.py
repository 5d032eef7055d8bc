"""`ArgumentReader`: the positional arguments of a shape function, from the types of a node's inputs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from shapeinf.errors import ShapeError
from shapeinf.lattice import PartialTensor, Progression, Shape, TensorType, Type, to_partial


class InputUse(enum.Enum):
    """The part of an input that a rule reads."""

    SHAPE = enum.auto()
    OPERAND = enum.auto()
    VALUE = enum.auto()
    TYPE = enum.auto()


_SHAPE = InputUse.SHAPE
_PARTIAL = frozenset({PartialTensor})
_shape_of: Callable[[object], Shape] = attrgetter("shape")


class Param(NamedTuple):
    """One input of a rule; `tensor`: it must be a tensor, and no sequence, optional or map."""

    name: str
    use: InputUse
    optional: bool
    variadic: bool
    tensor: bool = True


class ArgumentReader:
    """Converts the types of inputs into what the parameters of a shape function are annotated with."""

    def __init__(self, params: tuple[Param, ...]) -> None:
        """`params` are the parameters of the inputs."""
        self._params = params
        self._variadic = bool(params) and params[-1].variadic
        self._shape_only = () if self._variadic else tuple([param.use is _SHAPE for param in params])
        """For each input whether only its shape is read; empty for a variadic rule."""
        self._all_shapes = all(self._shape_only)
        self._mixed = len(set(self._shape_only)) > 1

    def read(self, inputs: Sequence[Type | None]) -> Sequence[object]:
        """The positional arguments of the function for inputs of these types.

        Raises ShapeError for a missing or superfluous input, and for one that must be a tensor and is none.
        """
        shape_only = self._shape_only
        if shape_only and len(inputs) == len(shape_only) and _PARTIAL.issuperset(map(type, inputs)):  # most calls
            if self._mixed:
                return [_shape_of(tensor) if only else tensor for tensor, only in zip(inputs, shape_only, strict=True)]
            return list(map(_shape_of, inputs)) if self._all_shapes else inputs
        return self._convert(inputs)

    def _convert(self, inputs: Sequence[Type | None]) -> list[object]:
        """As `read`, for inputs of any kind and number."""
        params = self._params
        if len(inputs) > len(params) and not self._variadic:
            if any(t is not None for t in inputs[len(params) :]):
                raise ShapeError(f"Wrong number of inputs passed: {len(inputs)}, at most {len(params)} expected")
            inputs = inputs[: len(params)]
        last = len(params) - 1
        args: list[object] = []
        for index, type_ in enumerate(inputs):
            param = params[index if index < last else last]
            if type_.__class__ is PartialTensor or type_.__class__ is Progression:
                args.append(type_.shape if param.use is _SHAPE else type_)
            else:
                args.append(_argument(param, type_))
        for param in params[len(inputs) :]:
            if not param.variadic:
                args.append(_argument(param, None))
        return args


def _argument(param: Param, type_: Type | None) -> Any:
    if type_ is None:
        if param.optional:
            return None
        raise ShapeError(f"the required input {param.name!r} is missing", code="S103")
    use = param.use
    if use is InputUse.TYPE and not param.tensor:
        return type_
    if not isinstance(type_, TensorType):
        raise ShapeError(f"input {param.name!r} must be a tensor, not {type_!r}", code="S104")
    if use is InputUse.TYPE:
        return type_
    if use is InputUse.SHAPE:
        return type_.shape
    return to_partial(type_)
