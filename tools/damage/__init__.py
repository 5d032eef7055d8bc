"""Realistic damage to ONNX models, to measure what `shapeinf check` detects.

Models are `NAME.onnx` files with a `NAME.truth.json` of observed shapes next to them. `tools/measure_damage.py`
prints how much of the damage is detected.
"""

from damage import constants, declarations, nodes, operands
from damage.models import damages, load_patient, prepare_patient
from damage.patient import KINDS, Damage, Patient

MODULES = (declarations, constants, nodes, operands)
"""The modules whose import registers the kinds of damage."""

__all__ = ["KINDS", "MODULES", "Damage", "Patient", "damages", "load_patient", "prepare_patient"]
