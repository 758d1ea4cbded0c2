"""Where in its text an error is: line, column, and the line with a caret under the place.

Errors are raised where they are noticed, often by a function that knows nothing of text, and get their place on the way
out. Lines and columns count from 1, columns in characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from perdure.errors import ExpressionError

Fault = TypeVar("Fault", bound=ExpressionError)

_WIDTH = 100
_KEYS_LOOKED_AT = 500


def line_and_column(source: str, offset: int) -> tuple[int, int]:
    return source.count("\n", 0, offset) + 1, offset - (source.rfind("\n", 0, offset) + 1) + 1


def offset_of(source: str, line: int, column: int) -> int:
    """The inverse of `line_and_column`."""
    start = 0
    for _ in range(line - 1):
        start = source.find("\n", start) + 1
    return start + column - 1


def snippet(source: str, start: int, end: int) -> str:
    """The line of `start`, and a second line with carets under `start` to `end`."""
    begin = source.rfind("\n", 0, start) + 1
    stop = source.find("\n", start)
    stop = len(source) if stop < 0 else stop
    carets = max(1, min(end, stop) - start)
    left = max(begin, start - _WIDTH // 2)
    right = min(stop, max(left + _WIDTH, start + min(carets, _WIDTH // 2)))
    carets = max(1, min(carets, right - start))
    return f"{source[left:right]}\n{' ' * (start - left)}{'^' * carets}"


def shown(source: str, start: int, end: int) -> str:
    """A piece of the source, short enough for a sentence."""
    piece = " ".join(source[start:end].split())
    return piece if len(piece) <= 60 else f"{piece[:57]}..."


def placed(fault: Fault, source: str, start: int, end: int) -> Fault:
    """The same error, knowing its place. A place that it already has stays."""
    if fault.line is None:
        put(fault, source, start, end)
    return fault


def put(fault: ExpressionError, source: str, start: int, end: int) -> None:
    fault.source = source
    fault.line, fault.column = line_and_column(source, start)
    fault.details.update(source=source, line=fault.line, column=fault.column, snippet=snippet(source, start, end))


def moved(fault: Fault, source: str, start: int) -> Fault:
    """The error of an expression that stands at `start` in a longer text, with its place in that text."""
    if fault.line is None or fault.column is None or fault.source is None:
        put(fault, source, start, start + 1)
        return fault
    offset = offset_of(fault.source, fault.line, fault.column)
    carets = str(fault.details.get("snippet", "^")).rpartition("\n")[2].count("^")
    put(fault, source, start + offset, start + offset + max(1, carets))
    return fault


def nearest(wanted: str, keys: Iterable[object]) -> str | None:
    """The key that was probably meant: the same but for case and punctuation, or one slip away."""
    folded = _folded(wanted)
    slip: str | None = None
    for count, key in enumerate(keys):
        if count >= _KEYS_LOOKED_AT:
            break
        if not isinstance(key, str) or key == wanted:
            continue
        if _folded(key) == folded:
            return key
        if slip is None and len(wanted) > 2 and _one_slip(wanted, key):
            slip = key
    return slip


def _folded(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "")


def _one_slip(a: str, b: str) -> bool:
    """One letter added, left out, replaced, or two neighbours exchanged."""
    if abs(len(a) - len(b)) > 1:
        return False
    shorter = min(len(a), len(b))
    at = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    return (
        a[at + 1 :] == b[at:]
        or a[at:] == b[at + 1 :]
        or a[at + 1 :] == b[at + 1 :]
        or (a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :])
    )
