"""HTML for pages and notebooks: escaped text and JSON, tables, and the notebook views of objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shapeinf.texts import escape_unprintable

MAX_ROWS = 40
"""Rows of a table in a notebook; the others are counted."""


def escape_html(text: str) -> str:
    r"""The text for an element or a quoted attribute of HTML; control characters and line ends as their escapes.

    Names come from untrusted files.

    >>> escape_html('<b title="x">\n')
    '&lt;b title=&quot;x&quot;&gt;\\n'
    """
    from html import escape  # every model imports this module for diagnostics, and prints no HTML

    return escape(escape_unprintable(text), quote=True)


def script_json(data: object) -> str:
    r"""Data as JSON for `<script type="application/json">`: no text in it can end the element or open another one.

    It is ASCII, so U+2028 and lone surrogates are escapes too.

    >>> print(script_json({"name": "</script><!--"}))
    {"name":"\u003c/script\u003e\u003c!--"}
    """
    import json

    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def html_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table of texts, which are escaped. It sets no colors: light and dark notebooks have their own.

    >>> html_table(["dim"], [["a < b"]])
    '<table><thead><tr><th scope="col">dim</th></tr></thead><tbody><tr><td>a &lt; b</td></tr></tbody></table>'
    """
    title = f"<caption>{escape_html(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col">{escape_html(header)}</th>' for header in headers)
    body = "".join(f"<tr>{''.join(f'<td>{escape_html(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_rows(headers: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table of the first `MAX_ROWS` rows, and the number of the others.

    >>> html_rows(["n"], [[str(n)] for n in range(50)]).endswith("<p>10 more</p>")
    True
    """
    more = f"<p>{len(rows) - MAX_ROWS:,} more</p>" if len(rows) > MAX_ROWS else ""
    return html_table(headers, rows[:MAX_ROWS], caption=caption) + more


def html_fields(fields: Iterable[tuple[str, str]]) -> str:
    """A table of names and texts, a row each; both are escaped.

    >>> html_fields([("coverage", "7 nodes")])
    '<table><tbody><tr><th scope="row">coverage</th><td>7 nodes</td></tr></tbody></table>'
    """
    rows = (f'<tr><th scope="row">{escape_html(n)}</th><td>{escape_html(text)}</td></tr>' for n, text in fields)
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def html_details(summary: str, body: str) -> str:
    """A collapsed section with this summary; `body` is HTML."""
    return f"<details><summary>{escape_html(summary)}</summary>{body}</details>"


def html_block(title: str, *parts: str) -> str:
    """The notebook view of an object: its title, then `parts`, which are HTML. Text is left-aligned, as in a shell."""
    style = ".shapeinf-block td, .shapeinf-block th { text-align: left; vertical-align: top }"
    return (
        f'<div class="shapeinf-block"><style scoped>{style}</style>'
        f"<p><strong>{escape_html(title)}</strong></p>{''.join(parts)}</div>"
    )
