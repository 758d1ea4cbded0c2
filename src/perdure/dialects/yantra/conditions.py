"""Conditions, as expressions of ours by the rules of gval.

A condition is written in gval's language, which ours reads with a few exceptions: ids of nodes with a hyphen in them,
text in backticks, and `{{path}}`, which people write although it is not gval. Rows of a form say `left operator right`,
and what stands on the right is text: numbers and truth values are bare, text with a dot is a path, all else is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from perdure.dialects.yantra.texts import PATH

OUTPUTS = "_outputs"
"""The name under which a condition reads the outputs of nodes whose ids are no names."""
OPERATORS = ("eq", "neq", "gt", "lt", "gte", "lte", "contains", "exists")
SIGNS = {"eq": "==", "neq": "!=", "gt": ">", "lt": "<", "gte": ">=", "lte": "<="}
_FIXED = ("data", "input", "workflow")

_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,40})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.\w[\w-]*)+")
_AUTOMATIC = re.compile(r"\s*data\.data\s*={2,3}\s*(true|false)\s*")


def automatic(condition: str) -> str | None:
    """The outcome that the editor means by the conditions that it puts on the edges of a conditional."""
    found = _AUTOMATIC.fullmatch(condition)
    return found[1] if found is not None else None


def expression(text: str, ids: Collection[str]) -> str:
    """The condition as ours reads it. `ids` are those of the nodes."""
    odd = [id for id in ids if not id.isidentifier() and id in text]
    if not odd and "`" not in text and "{{" not in text:
        return text
    longest_first = sorted(odd, key=len, reverse=True)
    named = "|".join(re.escape(id) for id in longest_first) or r"(?!)"
    pattern = re.compile(
        rf"(?P<quoted>{_QUOTED})|`(?P<raw>[^`]*)`|\{{\{{(?P<tag>[^{{}}]*)\}}\}}"
        rf"|(?<![\w.\])])(?P<id>{named})(?=\.[A-Za-z_]|\[|\s*(?:$|[=!<>&|)]))"
    )

    def written(found: re.Match[str]) -> str:
        if found["raw"] is not None:
            return json.dumps(found["raw"])
        if found["tag"] is not None:
            path = found["tag"].strip()
            return f"({expression(path, ids)})" if PATH.fullmatch(path) else found[0]
        return f"{OUTPUTS}[{json.dumps(found['id'])}]" if found["id"] is not None else found[0]

    return pattern.sub(written, text)


class Wrong(NamedTuple):
    """What is wrong with a row, and in which field of it."""

    field: str
    message: str
    expected: str | None = None


def row_expression(row: Any, ids: Collection[str]) -> str | Wrong:
    if not isinstance(row, dict):
        return Wrong("", "a condition is an object", "left, operator and right")
    left, operator, right = row.get("left"), row.get("operator", "eq"), row.get("right")
    if not isinstance(left, str) or not left.strip():
        return Wrong("left", "what is to be compared is not said", "a path or an expression")
    if operator not in OPERATORS:
        return Wrong("operator", f"{str(operator)[:64]!r} is no operator", f"one of {', '.join(OPERATORS)}")
    subject = f"({expression(left, ids)})"
    if operator == "exists":
        return f"{subject} != nil"
    if operator == "contains":
        return f"not empty({subject})" if right in (None, "") else f"({literal(right, ids)}) in {subject}"
    return f"{subject} {SIGNS[operator]} {literal(right, ids)}"


def row_text(row: dict[str, Any]) -> str:
    """As a person reads it."""
    shown = "" if row.get("operator") == "exists" else f" {row.get('right', '')}"
    return f"{row.get('left')} {row.get('operator', 'eq')}{shown}"


def literal(right: Any, ids: Collection[str]) -> str:
    """What stands on the right side of a row, as an expression."""
    if not isinstance(right, str):
        return json.dumps(right)
    text = right.strip()
    if text in ("true", "false", "nil", "null") or _NUMBER.fullmatch(text):
        return text
    if re.fullmatch(_QUOTED, text):
        return text
    if text.startswith("{{") and text.endswith("}}") and PATH.fullmatch(text[2:-2].strip()):
        return expression(text, ids)
    if _DOTTED.fullmatch(text):
        path = expression(text, ids)
        if path == text and "-" in text:
            return json.dumps(right)  # a host name, say
        # `example.com` reads like a path; where it leads nowhere it is what it says
        return path if text.partition(".")[0] in _FIXED else f"({path} ?? {json.dumps(text)})"
    return json.dumps(right)
