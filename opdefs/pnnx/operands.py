"""Arguments that are tensors or numbers, and their conversion to the element type of the result."""

from __future__ import annotations

from opdefs.pnnx.promotion import DEFAULT_FLOAT, promote
from opdefs.rules.contents.conversion import convert
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import KINDS, TORCH_NAMES
from shapeinf.ops import InferenceContext

Number = bool | int | float
TensorOrNumber = PartialTensor | Number

_NUMBER_TYPES: dict[type, str] = {bool: "bool", int: "int64", float: DEFAULT_FLOAT}


def tensor_or_number(
    c: InferenceContext, tensor: PartialTensor | None, number: object, name: str
) -> TensorOrNumber | None:
    """The argument `name`, which is an input or an attribute; None if it is absent."""
    if tensor is not None or number is None:
        return tensor
    if not isinstance(number, Number):
        c.fail(f"{name} must be a tensor or a number", number)
    return number


def require_operand(c: InferenceContext, tensor: PartialTensor | None, number: object, name: str) -> TensorOrNumber:
    """The argument `name`, which is an input or an attribute. Raises ShapeError if it is absent."""
    operand = tensor_or_number(c, tensor, number, name)
    if operand is None:
        c.fail(f"the argument {name} is required")
    return operand


def as_tensor(operand: TensorOrNumber) -> PartialTensor:
    """The tensor, or the number as a scalar tensor."""
    if isinstance(operand, PartialTensor):
        return operand
    return PartialTensor(_NUMBER_TYPES[type(operand)], Shape(()), (operand,))


def result_type(*operands: TensorOrNumber) -> str | None:
    """The promoted element type; of numbers alone, torch's default for the widest."""
    if any(isinstance(operand, PartialTensor) for operand in operands):
        return promote(*operands)
    return promote(*(as_tensor(operand) for operand in operands)) if len(operands) == 1 else _type_of_numbers(operands)


def _type_of_numbers(numbers: tuple[TensorOrNumber, ...]) -> str:
    types = (bool, int, float)
    return _NUMBER_TYPES[max((type(number) for number in numbers), key=types.index)]


def convert_operands(c: InferenceContext, dtype: str | None, *operands: TensorOrNumber) -> list[PartialTensor]:
    """The operands as tensors of one element type."""
    tensors = [as_tensor(operand) for operand in operands]
    return [tensor if tensor.dtype == dtype else convert(c, tensor, dtype) for tensor in tensors]


def read_type(c: InferenceContext, text: object) -> str | None:
    """The element type that an argument `dtype` names, such as `torch.float`; None if it is absent."""
    if text is None:
        return None
    name = TORCH_NAMES.get(text.removeprefix("torch.")) if isinstance(text, str) else None
    if name is None:
        c.fail("dtype must be an element type of torch", text)
    return name


def is_kind(dtype: str | None, *kinds: str) -> bool:
    """Whether an element type is known and of one of these kinds (`bool`, `integer`, `float`, `complex`)."""
    return KINDS.get(dtype or "") in kinds


def require_kind(c: InferenceContext, dtype: str | None, message: str, *kinds: str) -> None:
    """Require that an element type, if it is known, is of one of these kinds."""
    if dtype is not None and not is_kind(dtype, *kinds):
        c.fail(message, dtype)
