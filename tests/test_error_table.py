"""docs/errors.md has every exception and every diagnostic code, and the sources report no other code."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from shapeinf.diagnostics import CODES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
CODE = re.compile(r"""["']([CNPSTX][1-9]\d\d)["']""")


def tool():
    spec = importlib.util.spec_from_file_location("make_error_table", ROOT / "tools" / "make_error_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def codes_in_sources() -> set[str]:
    sources = [path for name in ("shapeinf", "opdefs") for path in (ROOT / name).rglob("*.py")]
    return {code for path in sources for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_the_tables_of_errors_are_not_stale() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == tool().update_page(page), "run: python tools/make_error_table.py"


def test_the_sources_report_registered_codes_only() -> None:
    tool().load_all()
    used = codes_in_sources()
    assert len(used) > 60
    assert used == CODES.keys()
