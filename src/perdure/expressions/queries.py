"""A way into JSON as people write it: dotted (`items.0.name`), or a JSONPath, which begins with `$`."""

from __future__ import annotations

from perdure.errors import ExpressionError
from perdure.expressions.jsonpath import JsonPath, compile_jsonpath
from perdure.expressions.paths import Path


def compile_query(text: str) -> Path | JsonPath:
    """Raises ExpressionError, with the place. `$.items.0.name`, which is no JSONPath and written all the same, is the
    dotted path behind its `$`."""
    text = text.strip()
    if not text.startswith("$"):
        return Path.parse(text)
    try:
        return compile_jsonpath(text)
    except ExpressionError:
        if any(step.isdecimal() for step in text.split(".")):
            try:
                return Path.parse(text[2:])
            except ExpressionError:
                pass
        raise
