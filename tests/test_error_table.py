"""docs/errors.md has every exception and every diagnostic code, and the sources report no other code; free codes."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import CODES, register_code

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"""["']([CNPSTXL][1-9]\d\d)["']""")


def tool():
    spec = importlib.util.spec_from_file_location("make_error_table", ROOT / "tools" / "make_error_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def codes_in_sources() -> set[str]:
    sources = [path for name in ("shapeinf", "opdefs") for path in (ROOT / name).rglob("*.py")]
    return {code for path in sources for code in CODE.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("path", [tool().TARGET, tool().GUIDE], ids=lambda path: path.name)
def test_the_tables_of_errors_are_not_stale(path) -> None:
    page = path.read_text(encoding="utf-8")
    assert page == tool().update_page(page), "run: python tools/make_error_table.py"


def test_a_code_has_one_owner() -> None:
    assert CODES["S101"].owner == "shapeinf.diagnostics"
    assert CODES["C110"].owner == "shapeinf.checks.declarations"
    with pytest.raises(ValueError, match=r"S101 is taken by shapeinf\.diagnostics \(a rule of an operator"):
        register_code("S101", "error", "another meaning")
    with pytest.raises(ValueError, match=r"C110 is taken by shapeinf\.checks\.declarations"):
        register_check("C110", "error", "another meaning")(lambda model: [])


def test_the_sources_report_registered_codes_only() -> None:
    tool().load_all()
    used = codes_in_sources()
    assert len(used) > 60
    assert used == CODES.keys()
