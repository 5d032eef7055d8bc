"""Write `opdefs/torch/schemas.txt`: the schemas of torch's operators, as the installed torch has them.

Run it with a Python that has torch, after a new release of torch:

    python tools/make_torch_schemas.py

Each line is a schema of torch without its notes on aliases: overload, kinds, names and defaults of arguments, results.
Overloads that write into an argument `out` are omitted: programs do not have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import torch

PATH = Path(__file__).resolve().parent.parent / "opdefs" / "torch" / "schemas.txt"
NAMESPACES = ("aten", "prims", "quantized_decomposed")
_ALIAS = re.compile(r"\((?:[a-z]!?(?:\|[a-z])*|[a-z]!? -> \*)\)")


def main() -> None:
    """Write the table."""
    import torch.ao.quantization.fx._decomposed  # registers the operators of quantized programs

    lines = sorted(set(schemas()))
    head = f"# Schemas of torch {torch.__version__.partition('+')[0]}; made by tools/make_torch_schemas.py.\n\n"
    PATH.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} schemas in {PATH.name}")


def schemas() -> Iterator[str]:
    """The line of each operator."""
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace not in NAMESPACES or any(argument.is_out for argument in schema.arguments):
            continue
        text = _ALIAS.sub("", str(schema))
        arguments = text[text.index("(") :]
        yield f"{namespace}.{name}.{schema.overload_name or 'default'}{arguments}"


if __name__ == "__main__":
    main()
