"""Every link of a page leads somewhere: to a file of the repository, and to a heading of it where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!`)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
REPOSITORY = re.compile(r"https://github\.com/shapeinf/shapeinf/(?:blob|raw)/main/")
"""The links of the README are absolute, since a package index shows it without the other files."""
OTHER_PAGES = (
    "https://distributed.dask.org",
    "https://filesystem-spec.readthedocs.io",
    "https://github.com/google-ai-edge/model-explorer",
    "https://github.com/pnnx/pnnx",
    "https://github.com/shapeinf/shapeinf",
    "https://netron.app",
)


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as forges and Sphinx form them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def problem(page: Path, link: str) -> str:
    if REPOSITORY.match(link):
        page, link = ROOT / "README.md", REPOSITORY.sub("", link)
    elif link.startswith(("https:", "http:")):
        return "" if link.startswith(OTHER_PAGES) else "an address that no test knows: add it to OTHER_PAGES"
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return "no such file"
    return "no such heading" if anchor and anchor not in anchors(target) else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    assert {link: fault for link in links if (fault := problem(page, link))} == {}


def test_the_readme_has_no_relative_links() -> None:
    links = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [link for link in links if not link.startswith("https://")] == []
