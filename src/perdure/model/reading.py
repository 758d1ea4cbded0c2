"""Documents as bytes, read with suspicion. What one reader or store would take and another would not is refused here.

Size and nesting are looked at before anything is parsed. Then all that is wrong is named at once: keys that occur
twice, NaN and the infinities, numbers out of range, NUL and lone surrogates. JSON only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NoReturn

from perdure.errors import InvalidInput, TooMuch
from perdure.model.problems import Problem, in_order, pointed
from perdure.model.values import MAX_DEPTH

MAX_BYTES = 2 * 1024 * 1024
LARGEST = 2**63 - 1
"""Integers that every store and every client's 64 bits can hold."""

_TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]+|[\]}]+', re.DOTALL)
_STEPS = re.compile(rb'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)(?P<colon>\s*:)?|(?P<sign>[\[\]{},])', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_document(data: bytes, *, max_bytes: int = MAX_BYTES) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The document, or what keeps it from being one. Never raises."""
    found, problems = read_value(data, max_bytes=max_bytes)
    if not problems and not isinstance(found, dict):
        problems.append(Problem("NOT_OBJECT", "", "the document is no object", expected="an object: { … }"))
    return (None if problems else found), problems


def read_value(data: bytes, *, max_bytes: int = MAX_BYTES) -> tuple[Any, list[Problem]]:
    """Any JSON value, or None and what is wrong with it."""
    if len(data) > max_bytes:
        return None, [Problem("TOO_LARGE", "", f"{len(data)} bytes", expected=f"at most {max_bytes} bytes")]
    if _depth(data) > MAX_DEPTH:
        return None, [Problem("TOO_DEEP", _deep_place(data), f"nested deeper than {MAX_DEPTH} levels")]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        return None, [Problem("NOT_UTF8", "", f"byte {problem.start} is not UTF-8", expected="JSON in UTF-8")]
    reader = _Reader()
    try:
        found = reader.decode(text)
    except json.JSONDecodeError as problem:
        return None, [Problem("NOT_JSON", "", f"not JSON: {problem.msg}", line=problem.lineno, column=problem.colno)]
    except (ValueError, RecursionError) as problem:
        return None, [Problem("NOT_JSON", "", f"not JSON: {problem}")]
    problems = reader.inspect(found)
    return (None if problems else found), in_order(problems)


def read_or_raise(data: bytes, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The same, raising TooMuch or InvalidInput with all problems."""
    found, problems = read_document(data, max_bytes=max_bytes)
    if found is None:
        _refuse(problems)
    return found


def _refuse(problems: list[Problem]) -> NoReturn:
    first = problems[0]
    kind = TooMuch if first.code == "TOO_LARGE" else InvalidInput
    listed = [each.as_dict() for each in problems]
    raise kind(first.message, pointer=first.pointer or None, expected=first.expected, problems=listed)


def _depth(data: bytes) -> int:
    """How deep brackets are nested, as far as it matters; brackets inside strings do not count."""
    depth = deepest = 0
    for token in _TOKENS.finditer(data):
        first = data[token.start()]
        if first in b"[{":
            depth += token.end() - token.start()
            if depth > deepest:
                deepest = depth
                if deepest > MAX_DEPTH:
                    break
        elif first in b"]}":
            depth -= token.end() - token.start()
    return deepest


def _deep_place(data: bytes) -> str:
    """Where the first object or list stands that is nested too deeply."""
    path: list[str | int] = []
    for token in _STEPS.finditer(data):
        text, is_key, sign = token["text"], token["colon"], token["sign"]
        if sign in (b"[", b"{"):
            if len(path) == MAX_DEPTH:
                break
            path.append(0 if sign == b"[" else "")
        elif sign is not None and sign in b"]}":
            del path[-1:]
        elif path and sign == b"," and isinstance(path[-1], int):
            path[-1] += 1
        elif path and is_key and isinstance(path[-1], str):
            path[-1] = _key(text)
    return pointed("", *path)


def _key(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.decode(errors="replace").strip('"')


class _Refused:
    """Stands in the parsed document for a number that cannot be kept, so that its place can be told."""

    __slots__ = ("code", "message")

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


class _Reader:
    def __init__(self) -> None:
        self.twice: dict[int, list[str]] = {}
        """Keys that occur twice, by the identity of their object."""
        self._kept: list[dict[str, Any]] = []
        """Those objects: an identity is given again once its object is gone."""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )

    def decode(self, text: str) -> Any:
        return self._decoder.decode(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.twice[id(made)] = [key for key, count in counts.items() if count > 1]
            self._kept.append(made)
        return made

    def inspect(self, value: Any) -> list[Problem]:
        problems: list[Problem] = []
        todo: list[tuple[str, Any]] = [("", value)]
        while todo:
            pointer, each = todo.pop()
            if isinstance(each, str):
                problems += _text_problems(each, pointer)
            elif isinstance(each, _Refused):
                problems.append(Problem(each.code, pointer, each.message))
            elif isinstance(each, list):
                todo += ((f"{pointer}/{index}", item) for index, item in enumerate(each))
            elif isinstance(each, dict):
                for key in self.twice.get(id(each), ()):
                    problems.append(Problem("KEY_TWICE", pointed(pointer, key), f"the key {key!r} occurs twice"))
                for key, item in each.items():
                    problems += _text_problems(key, pointer)
                    todo.append((pointed(pointer, key), item))
        return problems


def _text_problems(text: str, pointer: str) -> list[Problem]:
    found = []
    if "\0" in text:
        found.append(Problem("TEXT_NUL", pointer, "a NUL character in a string"))
    if not text.isascii() and _SURROGATE.search(text):
        found.append(Problem("TEXT_SURROGATE", pointer, "a lone surrogate in a string"))
    return found


def _integer(text: str) -> int | _Refused:
    if len(text) <= 20:
        number = int(text)
        if -LARGEST - 1 <= number <= LARGEST:
            return number
    shown = text if len(text) <= 24 else f"{text[:16]}… ({len(text)} characters)"
    return _Refused("NUMBER_RANGE", f"the integer {shown} does not fit into 64 bits")


def _float(text: str) -> float | _Refused:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        return _Refused("NUMBER_RANGE", f"the number {text[:24]} is too large")
    return number or 0.0  # minus zero is zero


def _constant(text: str) -> _Refused:
    return _Refused("NUMBER_INVALID", f"{text} is not a JSON number")
