"""Operators whose first output may use the memory of an input (`inplace_operator` of their registrations)."""

from __future__ import annotations

from opdefs.litert.kernels import litert

litert.shares("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "BITCAST", copies=False)
litert.shares("ADD", "SUB", "MUL", "DIV", inputs=(0, 1))
litert.shares("SOFTMAX", "DYNAMIC_UPDATE_SLICE")
