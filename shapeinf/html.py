"""HTML for pages and notebooks: one escaping function for text, one for JSON in a page, and tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape

from shapeinf.texts import escape_unprintable


def escape_html(text: str) -> str:
    r"""The text for an element or a quoted attribute of HTML; control characters and line ends as their escapes.

    Names come from untrusted files.

    >>> escape_html('<b title="x">\n')
    '&lt;b title=&quot;x&quot;&gt;\\n'
    """
    return escape(escape_unprintable(text), quote=True)


def script_json(data: object) -> str:
    r"""Data as JSON for `<script type="application/json">`: no text in it can end the element or open another one.

    It is ASCII, so U+2028 and lone surrogates are escapes too.

    >>> print(script_json({"name": "</script><!--"}))
    {"name":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def html_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table of texts, which are escaped. It sets no colours: light and dark notebooks have their own.

    >>> html_table(["dim"], [["a < b"]])
    '<table><thead><tr><th scope="col">dim</th></tr></thead><tbody><tr><td>a &lt; b</td></tr></tbody></table>'
    """
    title = f"<caption>{escape_html(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col">{escape_html(header)}</th>' for header in headers)
    body = "".join(f"<tr>{''.join(f'<td>{escape_html(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
