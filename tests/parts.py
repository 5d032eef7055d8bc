"""The parts of the test suite: `make test` runs the quick one, `make test-all` both.

The quick part shows that an installation works, in minutes, with the packages of the extra `test`. The thorough part
compares with other runtimes, runs commands in processes of their own, and needs the packages of the extra `test-all`.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

TESTS = Path(__file__).resolve().parent

THOROUGH = (
    "checks/test_damage.py",
    "checks/test_fresh_exports.py",
    "cli/test_hostile_names.py",
    "cli/test_main.py",
    "cli/test_onnx_forms.py",
    "cli/test_streams_and_files.py",
    "cli/test_written_files.py",
    "codegen/test_hostile_modules.py",
    "codegen/test_shape_programs*.py",
    "compat/test_onnxruntime_tools.py",
    "conformance/test_cost.py",
    "conformance/test_memory.py",
    "conformance/test_passes.py",
    "conformance/test_passes_models.py",
    "core_only/*",
    "differential/*",
    "edit/test_axis_rules.py",
    "expr/test_ratios.py",
    "formats/test_damaged_files.py",
    "formats/test_attribute_kinds.py",
    "layout/*",
    "limits/*",
    "memory/exports/*",
    "memory/test_peak_models.py",
    "memory/test_peak_properties.py",
    "memory/test_planners.py",
    "ops/test_types_after_errors.py",
    "page/*",
    "passes/test_guards.py",
    "public/*",
    "python/*",
    "report/live/*",
    "report/test_json_schemas.py",
    "report/test_memory_picture.py",
    "runtime/*",
    "scan/*",
    "test_ci_files.py",
    "test_exceptions.py",
    "test_figures.py",
    "test_mutate.py",
    "test_operator_table.py",
    "test_plugin.py",
    "test_rule_index.py",
    "threads/*",
    "typing/*",
)
"""The files of the thorough part, relative to the folder of the tests."""


def is_thorough(path: Path) -> bool:
    """Whether a file is in the thorough part.

    >>> is_thorough(TESTS / "differential" / "test_branches.py"), is_thorough(TESTS / "expr" / "test_text.py")
    (True, False)
    """
    if TESTS not in path.parents:
        return False
    name = path.relative_to(TESTS).as_posix()
    return any(fnmatch(name, pattern) for pattern in THOROUGH)
