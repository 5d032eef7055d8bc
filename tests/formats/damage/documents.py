"""Damage to NNEF documents, their tensor files and archives."""

from __future__ import annotations

import io
import random
import re
import struct
import tarfile

TOKEN = re.compile(
    r"""\s+|\#[^\n]*\n|"[^"\n]*"|'[^'\n]*'|[A-Za-z_]\w*|\d+\.?\d*(?:[eE][+-]?\d+)?|->|[<>=!&|]{1,2}|.""", re.S
)
EXTREMES = ("-1", "0", "1", "3", "1e999", "9" * 400, "2147483648", "9223372036854775807", "9" * 19, "0.5", "-0.0")
WORDS = ("for", "in", "yield", "if", "else", "shape_of", "length_of", "external", "variable", "graph", "fragment")
PUNCTUATION = (*"()[]{}<>,;=+-*/!?:^", "->", "&&", "||", "==")

FLAT = """version 1.0;
extension KHR_enable_operator_expressions;
graph net(x, z) -> (y, w)
{
    x = external<scalar>(shape = [2, 3, 16, 16]);
    z = external<scalar>(shape = [2, 3]);
    k = variable<scalar>(shape = [8, 3, 3, 3], label = 'k');
    c = conv(x, k, 0.0, padding = [(1, 1), (1, 1)], stride = [2, 2], dilation = [1, 1], groups = 1);
    p = max_pool(c, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'ignore');
    r = reshape(relu(p), shape = [2, -1]);
    t = transpose(slice(x, axes = [2, 3], begin = [1, 2], end = [0, -1]), axes = [0, 2, 3, 1]);
    [a, b] = split(z, axis = 1, ratios = [1, 2]);
    y = concat([a, b, z * 2.0], axis = 1);
    w = mean_reduce(t, axes = [1, 2]) + sum_reduce(r, axes = [1]) * 1.5;
}
"""
COMPOUND = """version 1.0;
extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;
fragment twice(x: tensor<scalar>, n: integer = 2, flags: logical[] = [true, false]) -> (y: tensor<scalar>)
{
    parts = [for i in range_of(flags), f in flags if f yield x * scalar(i + n)];
    y = concat(parts, axis = 0) if length_of(parts) > 1 else x ^ 2.0;
}
fragment deep(x: tensor<scalar>, n: integer) -> (y: tensor<scalar>)
{
    y = deep(relu(x), n = n - 1) if n > 0 else twice(x, flags = [true]);
}
graph net(x) -> (y)
{
    x = external<scalar>(shape = [4, 4]);
    v = deep(x, n = 5);
    y = twice(v, n = shape_of(v)[0], flags = [true, true, false]);
}
"""
TRACT = """version 1.0;
extension tract_registry tract_core;
extension tract_symbol S;
extension tract_assert S <= 128;
extension tract_assert S >= 2;
graph net(x) -> (y)
{
    x = tract_core_external(shape = [S, 3, 2 * S], datum_type = 'f32');
    g = tract_core_gather(x, tract_core_cast([1, 0], to = 'i64'), axis = 1);
    b = tract_core_broadcast(g, shape = [S, 2, 2 * S]);
    y = reshape(b, shape = [2 * S, -1]);
}
"""


DOCUMENTS = [FLAT, COMPOUND, TRACT]


def tokens(text: str) -> list[str]:
    """The tokens with the text between them."""
    return TOKEN.findall(text)


class TextDamage:
    """Damages one of the documents, a token at a time."""

    def __init__(self, draw: random.Random, documents: list[str]) -> None:
        self.draw = draw
        self.documents = [tokens(text) for text in documents]

    def damaged(self) -> str:
        """A damaged text."""
        tokens = list(self.draw.choice(self.documents))
        for _ in range(self.draw.choice((1, 1, 2, 3, 8))):
            indices = [i for i, token in enumerate(tokens) if not token.isspace()]
            if indices:
                getattr(self, self.draw.choice(KINDS))(tokens, self.draw.choice(indices))
        return "".join(tokens)

    def delete(self, tokens: list[str], at: int) -> None:
        del tokens[at : at + self.draw.choice((1, 1, 2, 30))]

    def repeat(self, tokens: list[str], at: int) -> None:
        piece = tokens[at : at + self.draw.choice((1, 3, 20))]
        tokens[at:at] = piece * self.draw.choice((1, 1, 100))

    def swap(self, tokens: list[str], at: int) -> None:
        other = self.draw.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]

    def replace(self, tokens: list[str], at: int) -> None:
        known = [token for token in self.draw.choice(self.documents) if not token.isspace()]
        tokens[at] = self.draw.choice([self.draw.choice(known), self.draw.choice(WORDS), self.draw.choice(PUNCTUATION)])

    def same(self, tokens: list[str], at: int) -> None:
        """Another token of the same kind."""
        alike = [token for token in self.draw.choice(self.documents) if kind_of(token) == kind_of(tokens[at])]
        tokens[at] = self.draw.choice(alike or [tokens[at]])

    def number(self, tokens: list[str], at: int) -> None:
        numbers = [i for i, token in enumerate(tokens) if token[:1].isdigit()] or [at]
        tokens[self.draw.choice(numbers)] = self.draw.choice(EXTREMES)

    def bracket(self, tokens: list[str], at: int) -> None:
        tokens.insert(at, self.draw.choice("()[]{}<>"))

    def nest(self, tokens: list[str], at: int) -> None:
        depth = self.draw.choice((10, 200, 3000))
        left, right = self.draw.choice(("()", "[]", ("relu(", ")"), ("-", ""), ("!", ""), ("x + ", "")))
        tokens[at] = left * depth + tokens[at] + right * depth

    def character(self, tokens: list[str], at: int) -> None:
        tokens.insert(
            at, self.draw.choice(("\0", "\x85", "\ufeff", "\u202e", "\\", '"', "'", "#", "\ud7ff", "\t", "\r"))
        )

    def splice(self, tokens: list[str], at: int) -> None:
        other = self.draw.choice(self.documents)
        start = self.draw.randrange(len(other))
        tokens[at:at] = other[start : start + self.draw.choice((5, 40))]


KINDS = ("delete", "repeat", "swap", "replace", "number", "bracket", "nest", "character", "splice")
KINDS += ("same", "same", "same", "number", "number")
"""The gentle ones more often: a document that cannot be parsed tests little else."""


def kind_of(token: str) -> str:
    """A letter for names, a digit for numbers; others stand for themselves."""
    return "a" if token[0].isalpha() or token[0] == "_" else "1" if token[0].isdigit() else token[0]


def tensor_file(dims: list[int], data: bytes, bits: int = 32, item: int = 0) -> bytes:
    """A `.dat` file: the header of 128 bytes, then the elements."""
    extents = [*dims, *[0] * (8 - len(dims))]
    head = struct.pack("<4BIIQ", 0x4E, 0xEF, 1, 0, len(data), len(dims), 0)[:12] + struct.pack("<8I", *extents)
    return (head + struct.pack("<2I", bits, item)).ljust(128, b"\0") + data


def archive(members: dict[str, bytes]) -> bytes:
    """A tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


class ArchiveDamage:
    """Damages the header of a tensor file, or the bytes of the archive that it lies in."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.text = TextDamage(draw, DOCUMENTS)

    def damaged(self) -> bytes:
        """A damaged archive."""
        draw = self.draw
        kernel = bytearray(tensor_file([8, 3, 3, 3], bytes(4 * 216)))
        if draw.random() < 0.7:
            for _ in range(draw.choice((1, 2, 5))):
                kernel[draw.randrange(128)] = draw.choice((0, 1, 3, 127, 128, 255))
        if draw.random() < 0.2:
            del kernel[draw.randrange(len(kernel)) :]
        text = self.text.damaged() if draw.random() < 0.2 else FLAT
        quant = '"k": linear_quantize(min = -1.0, max = 1.0, bits = 8);\n' * draw.choice((0, 1, 2))
        members = {"graph.nnef": text.encode("utf-8", "surrogatepass"), "k.dat": bytes(kernel)}
        if quant:
            members["graph.quant"] = quant.encode()[: draw.choice((9999, 20))]
        packed = bytearray(archive(members))
        for _ in range(draw.choice((0, 0, 1, 3))):
            packed[draw.randrange(len(packed))] = draw.choice((0, 32, 48, 55, 127, 255))
        return bytes(packed)
