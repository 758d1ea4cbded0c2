"""Dotted paths into JSON: `items.0.name`, `a["b c"].d`, `list[-1]`.

A number means an index in a list and a key in an object. The empty path is the value itself. A `Path` is parsed once
and kept; `set` and `remove` leave the given value alone and return a changed copy that shares everything beside the
path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from perdure.errors import ExpressionFailed, ExpressionLimit, ExpressionSyntax, ValueMissing
from perdure.expressions.places import nearest, placed
from perdure.expressions.reach import step as taken
from perdure.expressions.reach import walk
from perdure.expressions.values import MISSING, Json, with_article

_LONGEST = 1_024
_STEPS = 64
_STEP: Final = re.compile(
    r"""\[\s*(?:(?P<index>-?\d{1,9})|"(?P<double>(?:[^"\\]|\\["\\])*)"|'(?P<single>(?:[^'\\]|\\['\\])*)')\s*\]
      | (?P<dot>\.)?(?P<plain>[^.\[\]"'\s]+(?:[ ]+[^.\[\]"'\s]+)*)""",
    re.VERBOSE | re.ASCII,
)
_INDEX: Final = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Path:
    """The steps of a path: text for keys, int for what may be either."""

    steps: tuple[str | int, ...]

    @staticmethod
    def parse(text: str) -> Path:
        """The path that `text` spells. Cached."""
        return _parsed(text)

    def find(self, value: Any) -> Any:
        """What the path leads to, or MISSING."""
        return walk(value, self.steps)

    def has(self, value: Json) -> bool:
        return self.find(value) is not MISSING

    def get(self, value: Json) -> Json:
        """What the path leads to; ValueMissing names the step that led nowhere."""
        found = self.find(value)
        if found is MISSING:
            raise self._lost(value)
        return found

    def set(self, value: Json, new: Json) -> Json:
        """A copy of `value` with `new` at the path. Objects on the way are made; a list grows by one item at most."""
        return _put(value, self.steps, new)

    def remove(self, value: Json) -> Json:
        """A copy of `value` without what the path leads to; `value` itself when it leads nowhere."""
        if not self.steps or not self.has(value):
            return value
        *way, final = self.steps
        holder = Path(tuple(way)).find(value)
        if isinstance(holder, Mapping):
            kept: Json = {key: each for key, each in holder.items() if key != str(final)}
        else:
            kept = list(holder)
            del kept[int(final)]
        return _put(value, tuple(way), kept)

    def __str__(self) -> str:
        written = ""
        for step in self.steps:
            if isinstance(step, int):
                written += f"[{step}]" if step < 0 else f".{step}"
            elif re.fullmatch(r"[^.\[\]\"'\s]+", step) and not step.lstrip("-").isdigit():
                written += f".{step}"
            else:
                written += '["' + step.replace("\\", "\\\\").replace('"', '\\"') + '"]'
        return written.removeprefix(".")

    def _lost(self, value: Json) -> ValueMissing:
        for at, step in enumerate(self.steps):
            found = taken(value, step)
            if found is MISSING:
                meant = nearest(str(step), value) if isinstance(value, Mapping) else None
                hint = f"; did you mean {meant!r}?" if meant else ""
                return ValueMissing(f"`{Path(self.steps[: at + 1])}` leads nowhere{hint}", path=str(self))
            value = found
        raise AssertionError("a path that leads nowhere has a step that does")


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Path:
    if len(text) > _LONGEST:
        raise ExpressionLimit(f"a path has at most {_LONGEST:,} characters")
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        # a plain key needs a dot before it unless it is the first
        if found is None or (found["plain"] is not None and bool(found["dot"]) != bool(steps)):
            raise placed(ExpressionSyntax("this is not a path"), text, at, at + 1)
        steps.append(_step(found))
        at = found.end()
    if len(steps) > _STEPS:
        raise ExpressionLimit(f"a path has at most {_STEPS} steps")
    return Path(tuple(steps))


def as_step(word: str) -> str | int:
    """A word of a dotted path: digits may be an index."""
    return int(word) if _INDEX.fullmatch(word) else word


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["plain"] is not None:
        return as_step(found["plain"])
    quoted = found["double"] if found["double"] is not None else found["single"]
    return re.sub(r"\\(.)", r"\1", quoted)


def _put(value: Json, steps: tuple[str | int, ...], new: Json) -> Json:
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(value, Mapping):
        key = str(step)
        return {**value, key: _put(value.get(key), rest, new)}
    if isinstance(value, list) and isinstance(step, int):
        if not -len(value) <= step <= len(value):
            raise ExpressionFailed(f"item {step} cannot be put into a list of {len(value)}")
        copy = list(value)
        if step == len(value):
            copy.append(_put(None, rest, new))
        else:
            copy[step] = _put(value[step], rest, new)
        return copy
    if value is None:
        return {str(step): _put(None, rest, new)}
    raise ExpressionFailed(f"{str(step)!r} cannot be put into {with_article(value)}")
