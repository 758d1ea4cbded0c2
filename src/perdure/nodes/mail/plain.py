"""The text of an HTML mail, for those who read mails as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"head", "script", "style", "template", "title"})
_LINES = frozenset({"br", "div", "dd", "dt", "figure", "footer", "form", "header", "hr", "section", "tr"})
_PARAGRAPHS = frozenset({"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"})
_CELLS = frozenset({"td", "th"})


def text_of(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (re.sub(r"[ \t\xa0]+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag == "a":
            self._links.append((dict(attrs).get("href") or "", len(self.parts)))
        else:
            self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "a" and self._links:
            href, at = self._links.pop()
            said = "".join(self.parts[at:]).strip()
            if href.startswith(("http:", "https:")) and said != href:
                self.parts.append(f" ({href})")
        elif tag in _CELLS:
            self.parts.append(" ")
        elif tag != "br":
            self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))

    def _break(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self.parts.append("\n\n")
        elif tag in _LINES:
            self.parts.append("\n")
