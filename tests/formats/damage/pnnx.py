"""Damage to PNNX's networks: lines, fields, and the texts of values."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

from shapeinf.ops import default_registry
from tests.formats.damage.documents import EXTREMES
from tests.formats.pnnx.networks import CONVOLUTION, network

RECORDED = Path(__file__).parents[2] / "differential" / "pnnx" / "recorded"

SMALL = network(
    "pnnx.Input pnnx_input_0 0 1 0 #0=(?,4,%n,?)f32",
    "pnnx.Input pnnx_input_1 0 1 1 #1=(2)i64",
    "pnnx.Attribute table 0 1 2 @data=(2)i64 #2=(2)i64",
    "pnnx.Expression sizes 1 1 0 3 expr=[mul(size(@0,0),2),-1]",
    "Tensor.reshape rows 2 1 0 3 4 $input=0 $shape=3",
    "torch.cat joined 2 1 4 4 5 dim=-1 #4=(?,?)f32",
    "pnnx.Expression sum 2 1 5 5 6 expr=add(@0,mul(@1,0.5))",
    "torch.chunk halves 1 2 6 7 8 chunks=2 dim=0 $input=6",
    "prim::TupleConstruct pair 2 1 7 8 9",
    "prim::TupleConstruct pairs 3 1 9 9 1 10",
    "pnnx.Output pnnx_output_0 1 0 10",
)
FIELDS = """
dim=0 dim=-9 dim=None dim=2147483647 k=() k=[] k=(1,) k=(1,2.5,a) k=True k=-inf shape=(-1,-1) shape=(0,%n) dim=(1,1)
#0=()f32 #0=(?)f32 #0=(1,3)null #0=(%%,1)f32 @w=(0)f32 @w=(99999,99999)f32 $input=0 $x=1 expr=[size(@9,9)]
padding=same kernel_size=(0,0) stride=0 stride=(-1,2) groups=0 dtype=torch.long expr=add(@0,@0) sizes=(0,-1) end=-5
"""
TEXTS = ("", "\0", "\t", "\r", "\x1c", "\u2028", "\ufeff", "%", "=", "#", "@", "$", "(", ")", ",", "?", "\n", "\udc80")


@cache
def networks() -> list[str]:
    """Networks that PNNX wrote of the recorded cases, and small ones."""
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDED.glob("*.json"))]
    params = [case["static"]["param"] for family in recorded for case in family.values() if "static" in case]
    return [CONVOLUTION, *[SMALL] * (1 + len(params) // 4), *params]


@cache
def operators() -> list[str]:
    """The operators that have rules."""
    dialect = default_registry().dialect("pnnx")
    assert dialect is not None
    return sorted({op for _, op, _ in dialect})


class NetworkDamage:
    """Damages one of some networks in a few positions."""

    def __init__(self, draw: random.Random, texts: list[str]) -> None:
        self.draw = draw
        self.texts = texts

    def damaged(self) -> str | bytes:
        """A damaged network; as bytes where it is not text any more."""
        lines = [line.split() for line in self.draw.choice(self.texts).splitlines()]
        for _ in range(self.draw.choice((1, 1, 2, 3, 6))):
            getattr(self, self.draw.choice(KINDS.split()))(lines)
        if self.draw.random() < 0.8 and len(lines) > 1:  # a wrong count hides everything else
            lines[1] = [str(len(lines) - 2), *lines[1][1:]]
        text = "\n".join(" ".join(fields) for fields in lines) + "\n"
        return text if text.isascii() else text.encode("utf-8", "surrogateescape")

    def line(self, lines: list[list[str]]) -> int:
        """The number of an operator's line, seldom of another one."""
        return (
            self.draw.randrange(len(lines)) if self.draw.random() < 0.05 else self.draw.randrange(2, max(3, len(lines)))
        )

    def field(self, lines: list[list[str]]) -> tuple[list[str], int]:
        """The fields of a line that has some, and the index of one."""
        fields = self.draw.choice([fields for fields in lines[2:] if fields] or [["x"]])
        return fields, self.draw.randrange(len(fields))

    def operator(self, lines: list[list[str]]) -> None:
        """An operator of another type."""
        fields, _ = self.field(lines)
        fields[0] = self.draw.choice(operators())

    def remove_line(self, lines: list[list[str]]) -> None:
        del lines[min(self.line(lines), len(lines) - 1)]

    def repeat_line(self, lines: list[list[str]]) -> None:
        """A line again, under a name of its own and with another output."""
        fields = list(self.draw.choice(lines))
        if len(fields) > 4 and self.draw.random() < 0.8:
            number = str(self.draw.randrange(100, 999))
            fields[1] += number
            fields[4:] = [number if field == fields[-1] or field.isdigit() else field for field in fields[4:]]
        lines.insert(self.line(lines), fields)

    def swap_lines(self, lines: list[list[str]]) -> None:
        lines[2:] = self.draw.sample(lines[2:], len(lines[2:]))

    def remove_field(self, lines: list[list[str]]) -> None:
        fields, at = self.field(lines)
        del fields[at]

    def insert_field(self, lines: list[list[str]]) -> None:
        fields, at = self.field(lines)
        others, other = self.field(lines)
        fields.insert(
            self.draw.choice((at, len(fields))), self.draw.choice([self.draw.choice(FIELDS.split()), others[other]])
        )

    def replace_field(self, lines: list[list[str]]) -> None:
        fields, at = self.field(lines)
        others, other = self.field(lines)
        fields[at] = self.draw.choice([self.draw.choice(FIELDS.split()), others[other], self.draw.choice(EXTREMES)])

    def value(self, lines: list[list[str]]) -> None:
        """Another value of a key."""
        fields, _ = self.field(lines)
        keys = [index for index, field in enumerate(fields) if "=" in field]
        if keys:
            at = self.draw.choice(keys)
            value = self.draw.choice([*EXTREMES, *(field.partition("=")[2] for field in FIELDS.split())])
            fields[at] = fields[at].partition("=")[0] + "=" + value

    def blob(self, lines: list[list[str]]) -> None:
        """Another input."""
        fields, _ = self.field(lines)
        if len(fields) > 4:
            fields[4] = str(self.draw.randrange(12))

    def character(self, lines: list[list[str]]) -> None:
        fields, at = self.field(lines)
        cut = self.draw.randrange(len(fields[at]) + 1)
        fields[at] = fields[at][:cut] + self.draw.choice(TEXTS) + fields[at][cut + self.draw.choice((0, 0, 1)) :]

    def count(self, lines: list[list[str]]) -> None:
        """Another number of inputs, outputs, operators or blobs."""
        if self.draw.random() < 0.2:
            lines[1:2] = [[self.draw.choice(EXTREMES), self.draw.choice(EXTREMES)]]
            return
        fields, _ = self.field(lines)
        if len(fields) > 3:
            fields[self.draw.choice((2, 3))] = self.draw.choice(("0", "1", "2", "3", "999999999", "-1"))

    def long(self, lines: list[list[str]]) -> None:
        fields, at = self.field(lines)
        length = self.draw.choice((100, 3000, 70_000))
        fields[at] = fields[at][:1] + self.draw.choice(("1,", "x", "%", "(", "-", "9")) * length


KINDS = """
operator operator remove_line repeat_line swap_lines remove_field insert_field replace_field character count long
value value value value value value blob blob
"""
