"""Guards: source text with a function that checks sizes by a contract and returns the violated conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from shapeinf.codegen.c_guard import c_guard
from shapeinf.codegen.conditions import condition_program
from shapeinf.codegen.javascript import js_guard
from shapeinf.contract.stored import StoredContract

GuardLanguage = Literal["c", "js"]
"""The languages of guards: a header of C99 and C++, and a module of ECMAScript."""

GUARD_LANGUAGES: tuple[GuardLanguage, ...] = get_args(GuardLanguage)

_WRITERS: Mapping[str, Callable[..., str]] = {"c": c_guard, "js": js_guard}


def guard_text(contract: StoredContract, language: GuardLanguage, model: str = "") -> str:
    """The source text of a guard; `model` is the name of the model, from which the names in C are made."""
    return _WRITERS[language](condition_program(contract, model))
