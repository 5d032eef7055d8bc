"""Random messages of TensorFlow's files, as objects of protobuf, and damaged texts of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from shapeinf.formats.tf.encoding import RANGES
from shapeinf.formats.tf.messages import Field, enum_values, message_type
from tests.formats.tf.descriptors import message_class

_TEXTS = ["", "x", "a/b:0", "é\U0001f600", "quote \" and ' and \\", "tab\tline\n", "\x01\x7f", "^control"]
_BYTES = [b"", b"plain", b"\x00\xff\xfe", b'"\\\n', "é".encode(), bytes(range(256))]
_FLOATS = [0.0, -0.0, 1.5, -2.25e-30, 3e38, float("inf"), float("-inf"), float("nan"), 16777217.0]


def random_message(rng: random.Random, name: str, depth: int = 4) -> Any:
    """A message with some of its fields set, nested `depth` deep at most."""
    message = message_class(name)()
    fields = list(message_type(name).by_name.values())
    for field in rng.sample(fields, min(len(fields), rng.randint(0, 4))):
        if not field.is_map and field.kind == "message" and depth == 0:
            continue
        for _ in range(rng.randint(1, 3) if field.repeated else 1):
            _set(rng, message, field, depth)
    return message


def damage_text(rng: random.Random, text: str, pieces: Sequence[str], most: int) -> str:
    """A copy with up to `most` pieces inserted, each instead of at most two characters."""
    letters = list(text)
    for _ in range(rng.randint(1, most)):
        index = rng.randrange(len(letters) + 1)
        letters[index : index + rng.randrange(3)] = rng.choice(pieces)
    return "".join(letters)


def _set(rng: random.Random, message: Any, field: Field, depth: int) -> None:
    target = getattr(message, field.name)
    if field.is_map:
        parts = message_type(field.type).by_name
        key = random_scalar(rng, parts["key"])
        if parts["value"].kind == "message":
            target[key].CopyFrom(random_message(rng, parts["value"].type, max(depth - 1, 0)))
        else:
            target[key] = random_scalar(rng, parts["value"])
    elif field.kind == "message":
        value = random_message(rng, field.type, depth - 1)
        (target.add() if field.repeated else target).MergeFrom(value)
        if not field.repeated:
            target.SetInParent()
    elif field.repeated:
        target.append(random_scalar(rng, field))
    else:
        setattr(message, field.name, random_scalar(rng, field))


def random_scalar(rng: random.Random, field: Field) -> Any:
    """A value of a field, often at the end of its range."""
    if field.kind == "string":
        return rng.choice(_TEXTS)
    if field.kind == "bytes":
        return rng.choice(_BYTES)
    if field.kind in ("float", "double"):
        return rng.choice(_FLOATS)
    if field.kind == "enum":
        return rng.choice([*enum_values(field.type).values()])
    low, high = RANGES[field.kind]
    return rng.choice([low, high, rng.randint(low, high), min(high, 7)])
