"""Parameters of states: constants, and paths into the run's context.

Drift's paths are those of Jayway: names behind a dot may hold characters that RFC 9535 wants in brackets
(`$.show_status:viewResponse.selectedOptions`), so these are put into brackets before the path is compiled.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from perdure.errors import ExpressionError
from perdure.expressions.jsonpath import JsonPath, compile_jsonpath

_PLAIN = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*")
_NAME = re.compile(r"[^.\[\]()'\"*\s]+")


def is_path(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("$.", "$["))


@lru_cache(maxsize=1024)
def path(text: str) -> JsonPath:
    """Raises ExpressionError."""
    try:
        return compile_jsonpath(text)
    except ExpressionError:
        return compile_jsonpath(_bracketed(text))


def _bracketed(text: str) -> str:
    """Names behind dots, outside brackets, as the RFC wants them."""
    found, at, depth = [], 0, 0
    while at < len(text):
        sign = text[at]
        if sign in "'\"":
            end = text.find(sign, at + 1)
            end = len(text) if end < 0 else end + 1
            found.append(text[at:end])
            at = end
            continue
        depth += (sign == "[") - (sign == "]")
        name = _NAME.match(text, at + 1) if sign == "." and depth == 0 else None
        if name is not None and not _PLAIN.fullmatch(name[0]) and not text.startswith("..", at):
            found.append(f"[{json.dumps(name[0], ensure_ascii=False)}]")
            at = name.end()
            continue
        found.append(sign)
        at += 1
    return "".join(found)


def value_at(text: str, context: Any) -> Any:
    """What the path finds: one value, or a list where it may find several. Null for whatever goes wrong."""
    try:
        query = path(text)
        return query.first(context) if query.is_singular else query.find(context)
    except ExpressionError:
        return None


def names_in(text: str) -> frozenset[str] | None:
    """The members of the context that it may read; None: any."""
    try:
        return path(text).names
    except ExpressionError:
        return frozenset()
