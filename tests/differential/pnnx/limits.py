"""Operators at the limits of their sizes: the inputs that torch accepts, with the shapes of outputs, or rejects.

Each case is one line of a `.param` file, so that operators are covered that torch can no longer trace.
`python -m tests.differential.pnnx.limits` records the outcomes, with torch; the tests do not need it.
"""

from __future__ import annotations

import itertools
import json

import attrs

from tests.differential.pnnx.record import RECORDED, describe, tensor_of

FILE = RECORDED.with_name("recorded_limits.json")


@attrs.frozen
class Limit:
    """An operator with its attributes, the same expression in torch over `x` and `y`, and the inputs of its runs.

    `inputs` are texts such as `f32[1,3,?,?] i64[?]`, in which `?` stands for all combinations of `sizes`. `rounded`:
    torch rounds, so that symbolic sizes have no exact result.
    """

    operator: str
    expression: str
    inputs: tuple
    sizes: tuple = tuple(range(7))
    outputs: int = 1
    rounded: bool = False

    def __str__(self):
        return self.operator

    def runs(self):
        """The (element type, sizes) of the inputs of each run."""
        for text in self.inputs:
            for sizes in itertools.product(self.sizes, repeat=text.count("?")):
                filled = text.replace("?", "{}").format(*sizes)
                yield [
                    (i.split("[")[0], [int(d) for d in i[:-1].split("[")[1].split(",") if d]) for i in filled.split()
                ]

    def param(self, inputs):
        """The network with this operator only."""
        count = len(inputs)
        lines = ["7767517", f"{count + 1 + self.outputs} {count + self.outputs}"]
        for i, (dtype, sizes) in enumerate(inputs):
            lines.append(f"pnnx.Input pnnx_input_{i} 0 1 {i} #{i}=({','.join(map(str, sizes))}){dtype}")
        operator, *attributes = self.operator.split()
        blobs = [str(i) for i in range(count + self.outputs)]
        lines.append(" ".join([operator, "op", str(count), str(self.outputs), *blobs, *attributes]))
        lines += [f"pnnx.Output pnnx_output_{blob} 1 0 {blob}" for blob in blobs[count:]]
        return "\n".join(lines) + "\n"


def outcome(limit, inputs):
    """The element types and shapes of the outputs; None if torch raises."""
    import torch
    from torch import nn
    from torch.nn import functional

    names = dict(zip("xyz", (tensor_of(*spec) for spec in inputs), strict=False))
    try:
        with torch.no_grad():
            outputs = eval(limit.expression, {"torch": torch, "nn": nn, "F": functional, **names})
    except (RuntimeError, ValueError, IndexError, NotImplementedError, AssertionError):
        return None
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return [[describe(output)["dtype"], describe(output)["shape"]] for output in outputs]


def main():
    from tests.differential.pnnx.limits_windows import LIMITS

    records = {limit.operator: [outcome(limit, inputs) for inputs in limit.runs()] for limit in LIMITS}
    assert len(records) == len(LIMITS)
    for name, outcomes in records.items():
        if None not in outcomes or not any(outcomes):
            print(name, "always", "fails" if None in outcomes else "runs")
    lines = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(record, separators=(',', ':'))}" for name, record in records.items()
    )
    FILE.write_text("{\n" + lines + "\n}\n", encoding="utf8")


if __name__ == "__main__":
    main()
