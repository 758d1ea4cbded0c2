"""Texts with `{{path}}` in them, as templates of ours.

There a text is scanned for `{{path}}` and nothing else: `${x}`, sections and everything else that our templates know
stand for themselves. So they are written here in the way in which ours keep them as they are.
"""

from __future__ import annotations

import re
from typing import Any

from perdure.expressions.gotemplate import is_go_template

_TAG = re.compile(r"\{\{([^{}]*)\}\}")
_WORD = r"[^\s.{}()\[\]<>|\"'`=;,\\#^/!&*?:+%]+"
PATH = re.compile(rf"{_WORD}(?:\.{_WORD}|\[\d+\])*")
_INDEX = re.compile(r"\[(\d+)\]")


def native_text(text: str) -> str:
    """The same text as a template. One without `{{path}}` and `${` is the same text."""
    if "{{" not in text and "${" not in text:
        return text
    parts: list[str] = []
    at = 0
    for tag in _TAG.finditer(text):
        path = tag[1].strip()
        if not PATH.fullmatch(path):
            continue
        before = _kept(text[at : tag.start()])
        # our templates take three braces for one thing
        parts.append(before[:-1] + '${"{"}' if before.endswith("{") else before)
        parts.append("{{" + _INDEX.sub(r".\1", path) + "}}" if "[" in path else tag[0])
        at = tag.end()
    parts.append(_kept(text[at:]))
    return "".join(parts)


def _kept(text: str) -> str:
    return text.replace("${", "$${").replace("{{", '${"{{"}')


def native_letter(text: str) -> str:
    """A mail or a message: a template of Go's, which ours take as it is, or a text."""
    return text if is_go_template(text) else native_text(text)


def native_value(value: Any) -> Any:
    """Every string of a JSON value; keys stand for themselves."""
    if isinstance(value, str):
        return native_text(value)
    if isinstance(value, list):
        return [native_value(each) for each in value]
    if isinstance(value, dict):
        return {key: native_value(each) for key, each in value.items()}
    return value


_SIMPLE = re.compile(r"[^.\[\]\"'\s$]+")


def native_path(text: str) -> str:
    """A dotted path. There any key may stand between two dots; here an odd one is put into brackets."""
    text = text.strip().removeprefix("$.")
    if _INDEX.search(text):
        text = _INDEX.sub(r".\1", text).removeprefix(".")
    steps = [step for step in text.split(".") if step]
    written = ""
    for step in steps:
        if _SIMPLE.fullmatch(step):
            written += f".{step}" if written else step
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            written += f'["{quoted}"]'
    return written
