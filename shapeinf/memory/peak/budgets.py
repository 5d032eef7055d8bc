"""Amounts of memory as people write them."""

from __future__ import annotations

import operator
import re
from fractions import Fraction

from shapeinf.errors import BudgetError

_AMOUNT = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*([kmgtp]?)(i?)(b?|bytes?)\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def parse_budget(budget: object) -> int:
    """Whole bytes; parts of a byte are cut off. Raises BudgetError.

    `KiB`, `MiB`, `GiB`, `TiB` and `PiB` are powers of 1024, `kB` to `PB` powers of 1000, in any case of letters.

    >>> parse_budget("64MiB"), parse_budget("1.5 GB"), parse_budget(4096)
    (67108864, 1500000000, 4096)
    """
    if isinstance(budget, str):
        match = _AMOUNT.fullmatch(budget)
        if match is None or (match[3] and not match[2]) or (match[2] and match[4].lower().startswith("byte")):
            raise BudgetError(budget)
        base = 1024 if match[3] else 1000
        return int(Fraction(match[1]) * base ** _POWERS[match[2].lower()])
    try:
        number = -1 if isinstance(budget, bool) else operator.index(budget)  # type: ignore[arg-type]
    except TypeError:
        raise BudgetError(budget) from None
    if number < 0:
        raise BudgetError(budget)
    return number
