"""Variables and subgraphs."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import WORD, tflite_micro

tflite_micro.always("VAR_HANDLE", options=16, stored=(8, WORD))
tflite_micro.always("ASSIGN_VARIABLE", "READ_VARIABLE")
tflite_micro.always("CALL_ONCE", options=4, stored=(8,))
tflite_micro.always("IF", options=8, stored=(8,))
tflite_micro.always("WHILE", options=8, stored=(12,))
