"""OpDefs of the domains of the ONNX dialect, from the tables `schemas.txt` of their packages.

`onnx` itself is imported only for operators that the tables lack: a newer `onnx` has them, or the user registered them.
"""

from __future__ import annotations

import sys
from functools import lru_cache

import attrs

from opdefs.onnx.schema_table import DEFAULT_DOMAIN, SchemaTable
from shapeinf.ops import OpDef
from shapeinf.packages import is_installed

ONNX = SchemaTable("opdefs.onnx")
MICROSOFT = SchemaTable("opdefs.microsoft")


@lru_cache(maxsize=4096)
def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef in force at an opset version (0 for the newest), None for an unknown operator.

    >>> schema("", "Conv", 11).inputs[2].optional, schema("com.microsoft", "Gelu", 1).inputs[0].name
    (True, 'X')
    """
    known = ONNX.newest(domain)
    if not known and MICROSOFT.newest(domain):
        return MICROSOFT.find(domain, op, version)
    if version > known and (known or domain.startswith(f"{DEFAULT_DOMAIN}.")) and is_installed("onnx"):
        from opdefs.onnx import installed

        if installed.newest(domain) > known:
            return installed.installed_schema(domain, op, version)
    return ONNX.find(domain, op, version) or _registered_schema(domain, op, version)


_OLDER_IN_RUNTIME = ("LayerNormalization", "MeanVarianceNormalization", "ThresholdedRelu")
"""The operators of the default domain that ONNX Runtime has in each opset, and onnx from a later opset on."""


@lru_cache(maxsize=4096)
def history(domain: str, op: str, version: int) -> tuple[OpDef, ...]:
    """The OpDefs of all versions of an operator, the oldest first.

    None for an operator that is in no table, at an unknown version, and at an opset version that is newer than the
    table: it may have others. A Constant has any type: before opset 9 the definition has floats only, but ONNX Runtime
    makes an initializer of it.

    >>> [op_def.since for op_def in history("", "Gelu", 17)], history("", "Gelu", 999)
    ([20], ())
    """
    table = ONNX if ONNX.newest(domain) else MICROSOFT
    versions = () if version <= 0 or version > ONNX.newest(domain) > 0 else table.versions(domain, op)
    if not domain and op == "Constant":
        versions = tuple([attrs.evolve(op_def, type_sets={}) for op_def in versions])
    in_runtime = bool(versions) and not domain and op in _OLDER_IN_RUNTIME and version < versions[0].since
    return () if in_runtime else versions


def _registered_schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of a schema that the user registered with `onnx.defs`; None if `onnx.defs` is not imported."""
    if "onnx.defs" not in sys.modules:
        return None
    from opdefs.onnx.installed import installed_schema

    return installed_schema(domain, op, version)
