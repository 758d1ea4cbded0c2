"""The lines of Python that are written, and the Groovy line that each comes from.

An expression that stretches over several lines of Groovy becomes several lines of Python, so that an error is reported
where its cause stands and not where the statement began. Expressions carry marks for that, a line number between NUL
characters; no literal contains a NUL, since Python's repr writes it as an escape.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_MARK: Final = "\0"
NO_LINE: Final = 0


class Row(NamedTuple):
    indent: int
    origin: int
    text: str


def marked(line: int, text: str) -> str:
    """What follows stands on that line of the source."""
    return f"{_MARK}{line}{_MARK}{text}"


class Lines:
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def __bool__(self) -> bool:
        return bool(self.rows)

    def add(self, origin: int, before: str, expression: str = "", after: str = "") -> None:
        """One statement. Only the expression may have marks."""
        first, *marks = expression.split(_MARK)
        pieces = [(origin, [first])]
        for line, text in zip(map(int, marks[::2]), marks[1::2], strict=True):
            if line == pieces[-1][0]:
                pieces[-1][1].append(text)
            else:
                pieces.append((line, [text]))
        texts = [(line, "".join(parts).strip()) for line, parts in pieces]
        if len(texts) == 1:
            self.rows.append(Row(0, origin, f"{before}{texts[0][1]}{after}"))
            return
        self.rows.append(Row(0, origin, f"{before}({texts[0][1]}"))
        self.rows.extend(Row(1, line, text) for line, text in texts[1:-1])
        last, text = texts[-1]
        self.rows.append(Row(1, last, f"{text}){after}"))

    def block_line(self, origin: int, text: str) -> None:
        """The first line of a block, further in."""
        self.rows.append(Row(1, origin, text))

    def include(self, other: Lines, indent: int = 1) -> None:
        """A block, further in."""
        self.rows.extend(row._replace(indent=row.indent + indent) for row in other.rows)

    def written(self) -> list[str]:
        return [f"{'    ' * row.indent}{row.text}" for row in self.rows]
