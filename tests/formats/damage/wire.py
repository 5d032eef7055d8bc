"""Damage to the bytes of a protobuf message, with and without knowledge of its fields."""

from __future__ import annotations

import random

from shapeinf.formats.protobuf.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    DamagedError,
    encode_tag,
    encode_varint,
    fields,
)

HUGE = (0, 1, 127, 128, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
TEXTS = (b"", b"\xff\xfe\xc0", b"\0", b"\xed\xa0\x80", b"x" * 5000, b"N//0", b"\xe2\x80\xae", b"(" * 300, b"a+" * 900)

Field = list  # [number, kind, an int, bytes or a list of fields]


def parsed(data: bytes, depth: int = 0) -> list[Field] | bytes:
    """The fields of a message; a field that is no message stays bytes."""
    message: list[Field] = []
    try:
        for number, kind, start, end in fields(data, 0, len(data)):
            if not 0 < number < 600:
                return data
            if kind == VARINT:
                message.append([number, kind, start])
            elif kind == BYTES and depth < 12 and end - start > 1:
                message.append([number, kind, parsed(data[start:end], depth + 1)])
            else:
                message.append([number, kind, data[start:end]])
    except (DamagedError, IndexError):
        return data
    return message


def written(message: list[Field] | bytes, lies: dict[int, int] | None = None) -> bytes:
    """The bytes of fields; `lies` has wrong lengths, by the identity of the field."""
    if isinstance(message, bytes):
        return message
    out = bytearray()
    for field in message:
        number, kind, value = field
        out += encode_tag(number, kind)
        if kind == VARINT:
            out += encode_varint(value)
            continue
        data = written(value, lies) if kind == BYTES else value
        if kind == BYTES:
            out += encode_varint((lies or {}).get(id(field), len(data)))
        out += data
    return bytes(out)


def messages_in(message: list[Field] | bytes) -> list[list[Field]]:
    """The message and all that are in it."""
    if isinstance(message, bytes):
        return []
    return [message, *(inner for field in message if field[1] == BYTES for inner in messages_in(field[2]))]


def damage_bytes(draw: random.Random, data: bytes) -> bytes:
    """A copy with bytes changed, deleted, inserted or copied, at a few positions, or cut off."""
    damaged = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 5, 20))):
        if not damaged:
            return data
        at, kind = draw.randrange(len(damaged)), draw.randrange(6)
        if kind == 0:
            damaged[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            damaged[at] = draw.choice((0, 1, 127, 128, 255))
        elif kind == 2:
            del damaged[at : at + draw.choice((1, 2, 8, 100))]
        elif kind == 3:
            damaged[at:at] = draw.randbytes(draw.choice((1, 2, 8)))
        elif kind == 4:
            other = draw.randrange(len(damaged))
            damaged[at : at + 20] = damaged[other : other + 20]
        else:
            del damaged[at:]
    return bytes(damaged)


class WireDamage:
    """Damages one of some models, with pieces of the others."""

    def __init__(self, draw: random.Random, models: list[bytes]) -> None:
        self.draw = draw
        self.models = models

    def damaged(self) -> bytes:
        """A damaged model."""
        data = self.draw.choice(self.models)
        if self.draw.random() < 0.35:
            return damage_bytes(self.draw, data)
        message = parsed(data)
        lies: dict[int, int] = {}
        for _ in range(self.draw.choice((1, 1, 1, 2, 4))):
            messages = [fields for fields in messages_in(message) if fields]
            if not messages:
                break
            self.field(self.draw.choice(messages), lies)
        data = written(message, lies)
        return damage_bytes(self.draw, data) if data and self.draw.random() < 0.1 else data

    def field(self, message: list[Field], lies: dict[int, int]) -> None:
        """Damage one field of a message."""
        draw = self.draw
        at = draw.randrange(len(message))
        field = message[at]
        getattr(self, draw.choice(KINDS))(message, at, field, lies)

    def repeat(self, message: list[Field], at: int, field: Field, _: dict[int, int]) -> None:
        message[at:at] = [[*field]] * self.draw.choice((1, 1, 2, 50))

    def reorder(self, message: list[Field], *_: object) -> None:
        self.draw.shuffle(message)

    def drop(self, message: list[Field], at: int, *_: object) -> None:
        del message[at]

    def renumber(self, _: list[Field], __: int, field: Field, ___: dict[int, int]) -> None:
        field[0] = self.draw.randrange(1, 25)

    def retype(self, message: list[Field], at: int, field: Field, _: dict[int, int]) -> None:
        kind = self.draw.choice((VARINT, FIXED64, BYTES, FIXED32))
        value = {VARINT: self.draw.choice(HUGE), FIXED64: b"\xff" * 8, FIXED32: b"\x7f" * 4}
        message[at] = [field[0], kind, value.get(kind, self.draw.choice(TEXTS))]

    def number(self, message: list[Field], at: int, field: Field, lies: dict[int, int]) -> None:
        if field[1] == VARINT:
            field[2] = self.draw.choice(HUGE)
        else:
            self.text(message, at, field, lies)

    def text(self, message: list[Field], at: int, field: Field, lies: dict[int, int]) -> None:
        if field[1] == BYTES:
            field[2] = self.draw.choice(TEXTS)
        else:
            self.number(message, at, [field[0], VARINT, 0], lies)

    def lie(self, _: list[Field], __: int, field: Field, lies: dict[int, int]) -> None:
        lies[id(field)] = self.draw.choice((*HUGE, 2, 3, 5))

    def splice(self, message: list[Field], at: int, field: Field, _: dict[int, int]) -> None:
        """A message of another model in this position."""
        others = messages_in(parsed(self.draw.choice(self.models)))
        message[at] = [field[0], BYTES, self.draw.choice(others)]

    def nest(self, _: list[Field], __: int, field: Field, ___: dict[int, int]) -> None:
        """Deep: each message in a field of its own kind."""
        if field[1] == BYTES and not isinstance(field[2], bytes):
            data = written(field[2])
            for _ in range(self.draw.choice((3, 40, 200))):
                data = encode_tag(field[0], BYTES) + encode_varint(len(data)) + data
            field[2] = data


KINDS = ("repeat", "reorder", "drop", "renumber", "retype", "number", "text", "lie", "splice", "nest")
