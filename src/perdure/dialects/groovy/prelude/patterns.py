"""split, replaceAll, replaceFirst and matches with a pattern. The translator has checked and rewritten the pattern."""

from __future__ import annotations

import re
from typing import Any

from perdure.dialects.groovy.prelude.failures import failure
from perdure.dialects.groovy.prelude.strings import argument, string, without_empty_end


def split_by_pattern(value: Any, pattern: str, limit: Any = 0) -> list[str]:
    source = string(value, "split")
    return without_empty_end(source, re.split(pattern, source), limit)


def replace_by_pattern(value: Any, pattern: str, new: Any, count: int = 0) -> str:
    source = string(value, "replaceAll")
    return re.sub(pattern, plain_replacement(source, new), source, count=count)


def plain_replacement(source: str, new: Any) -> str:
    if "$" in argument(source, "replaceAll", new) or "\\" in new:
        raise failure("IllegalArgumentException", "$ and \\ in a replacement refer to groups; use replace()")
    return str(new)


def matches_pattern(value: Any, pattern: str) -> bool:
    return re.fullmatch(pattern, string(value, "matches")) is not None
