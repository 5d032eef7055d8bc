"""Record torch's element types: of `torch.result_type`, and of the results of each function of expressions.

`python -m tests.differential.pnnx.record_types` needs torch. An operand is a tensor with axes (`f32[2]`), a scalar
tensor (`f32`), or a number of Python (`bool`, `int`, `float`, `complex`).
"""

from __future__ import annotations

import itertools
import json

from tests.differential.pnnx.record import DTYPES, RECORDED

FILE = RECORDED.parent / "element_types.json"
NUMBERS = {"True": True, "2": 2, "1.5": 1.5, "1j": 1j}
UNARY = {"neg": "neg", "torch.bool": "bool", "torch.float": "float", "torch.long": "long"}
BINARY = {
    "and": "__and__",
    "or": "__or__",
    "xor": "__xor__",
    "lshift": "__lshift__",
    "rshift": "__rshift__",
}


def operand(text):
    """A tensor or number by its text."""
    import torch

    if text in NUMBERS:
        return NUMBERS[text]
    kind = getattr(torch, DTYPES[text.removesuffix("[2]")])
    return torch.ones([2] if text.endswith("[2]") else [], dtype=kind)


def short(dtype):
    """The short name of an element type, as in `.param` files."""
    import torch

    return {getattr(torch, name): short for short, name in DTYPES.items()}.get(dtype, str(dtype))


def call(function, *texts):
    """The element type of the result of a function; None if torch raises."""
    import torch

    try:
        values = [operand(text) for text in texts]
        if function in ("maximum", "minimum", "max", "min"):
            values = [torch.as_tensor(value) for value in values]
        if function in UNARY:
            return short(getattr(values[0], UNARY[function])().dtype)
        if function in BINARY:
            import operator

            return short(getattr(operator, BINARY[function])(*values).dtype)
        return short(getattr(torch, function)(*values).dtype)
    except (RuntimeError, TypeError):
        return None


def main():
    """Write `element_types.json`."""
    import torch

    from shapeinf.formats.pnnx.expression.functions import BINARY as BINARY_FUNCTIONS
    from shapeinf.formats.pnnx.expression.functions import UNARY as UNARY_FUNCTIONS

    axes = [f"{dtype}[2]" for dtype in DTYPES if dtype != "c32"]
    forms = [*axes, *(dtype for dtype in DTYPES if dtype != "c32"), *NUMBERS]
    promotion = {
        f"{a} {b}": short(torch.result_type(operand(a), operand(b)))
        for a, b in itertools.combinations_with_replacement(forms, 2)
        if not (a in NUMBERS and b in NUMBERS)
    }
    unary = {f: {a: call(f, a) for a in axes} for f in UNARY_FUNCTIONS if f != "int"}
    binary = {f: {f"{a} {b}": call(f, a, b) for a in axes for b in [*axes, *NUMBERS]} for f in BINARY_FUNCTIONS}
    data = {"promotion": promotion, "unary": unary, "binary": binary}
    FILE.write_text(json.dumps(data, separators=(",", ":")).replace("},", "},\n") + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
