"""The site of the documentation: `sphinx-build -W -c docs/site . build/site`.

The source is the root of the repository, so that the links between pages are those of the files.
"""

from __future__ import annotations

import builtins
import re
import sys
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.highlighting import lexers

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import shapeinf  # noqa: E402

project = "shapeinf"
author = "the authors of shapeinf"
copyright = "the authors of shapeinf"
version = release = shapeinf.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["docs/**", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASE.md", "SECURITY.md"]
exclude_patterns = ["docs/site/**", "docs/notebooks/**", "**/.*"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
default_role = "code"  # docstrings write code in single backquotes, as Markdown does

html_theme = "furo"
html_title = f"shapeinf {release}"
html_extra_path = ["index.html"]
EXTRA = ROOT / "build" / "extra"
if EXTRA.is_dir():  # `make page` writes the page where one drops a model
    html_extra_path.append(str(EXTRA))
html_copy_source = False
html_theme_options = {"source_repository": "https://github.com/shapeinf/shapeinf", "source_branch": "main"}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
suppress_warnings = ["config.cache"]

lexers["mermaid"] = TextLexer()  # pictures of the maintainers' pages: a forge draws them, the site shows their text

INDEXES = (root_doc, "docs/dev/decisions/README")
LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)")


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Give an index a table of contents: each of its sections with the pages that it links to."""
    if page in INDEXES:
        text = source[0]
        for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
            caption = section.partition("\n")[0]
            pages = "\n".join(dict.fromkeys(LINK.findall(section)))
            if pages:
                text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
        source[0] = text


def add_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Link the page where one drops a model, where it is a part of the site."""
    if page == "docs/page" and EXTRA.is_dir():
        heading, _, text = source[0].partition("\n")
        source[0] = f'{heading}\n\n<p><a href="../try/index.html">Try it: drop a model</a></p>\n{text}'


def skip_repeated(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Describe what `shapeinf` itself exports on its own page only."""
    repeated = app.env.docname != "docs/api/shapeinf" and name in shapeinf.__all__
    return True if repeated and getattr(shapeinf, name) is member else None


def unlink_builtins(app: Sphinx, document: nodes.document) -> None:
    """Leave the names of built-in types without links: attributes of classes have the same names."""
    for reference in list(document.findall(pending_xref)):
        if hasattr(builtins, reference.get("reftarget", "")):
            reference.replace_self(reference.children)


def setup(app: Sphinx) -> None:
    """Connect the events."""
    app.connect("source-read", add_contents)
    app.connect("source-read", add_page)
    app.connect("autodoc-skip-member", skip_repeated)
    app.connect("doctree-read", unlink_builtins)
