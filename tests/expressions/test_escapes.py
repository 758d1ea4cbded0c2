"""The escape corpus: each string is a plain JSON value or an ExpressionError, quickly, and nothing else happens."""

import ast
import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import ExpressionError
from perdure.expressions import check_expression, check_template, compile_expression, compile_template
from perdure.expressions.emit.pieces import FILENAME

CORPUS = [
    line.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in line else line
    for line in (Path(__file__).parent / "escape_corpus.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("# ")
]
LONGEST = 0.05

SECRET = "s3cr3t-canary"
DATA: dict[str, Any] = {
    "order": {"total": 150, "items": [{"name": "Desk"}], "note": None},
    "user": {"name": "Ada", "roles": ["buyer"], "template": "{{secret}} ${secret}"},
    "secret": SECRET,
}

# -- what happens in the process while something is evaluated ----------------------------------------------------------

_seen: list[str] = []
_watching = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    allowed = {
        "compile": lambda: isinstance(arguments[0], ast.Module),  # the rewritten tree; never text
        "builtins.id": lambda: True,
        "object.__getattr__": lambda: arguments[1] in {"tb_frame", "f_code"},  # to find the place of an error
        "object.__setattr__": lambda: arguments[1] == "__kwdefaults__",  # of the function that was just made
        "function.__new__": lambda: arguments[0].co_filename == FILENAME,
    }.get(event)
    if allowed is None or not allowed():
        _seen.append(f"{event} {arguments!r:.80}")


sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Every audited act of the interpreter: imports, files, processes, sockets, frames, `exec` …"""
    global _watching  # noqa: PLW0603 - a hook cannot be removed, so it is switched
    _seen.clear()
    _watching = True
    try:
        yield _seen
    finally:
        _watching = False


def is_json(value: Any) -> bool:
    if value is None or isinstance(value, bool | str):
        return True
    if type(value) is int:
        return value.bit_length() <= 4096
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(is_json(each) for each in value)
    if type(value) is dict:
        return all(type(key) is str and is_json(each) for key, each in value.items())
    return False


def attempt(source: str) -> Any:
    try:
        return compile_expression(source).evaluate(DATA)
    except ExpressionError as fault:
        return fault


def attempt_template(source: str, mode: Any) -> Any:
    try:
        return compile_template(source, mode=mode).resolve(DATA)
    except ExpressionError as fault:
        return fault


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 300
    assert len(set(CORPUS)) >= 300


@pytest.mark.parametrize("source", CORPUS, ids=lambda source: ascii(source)[:50])
def test_an_escape_has_no_effect(source: str) -> None:
    before = json.dumps(DATA)
    with watched() as acts:
        found = attempt(source)
        problems = check_expression(source)
    assert isinstance(found, ExpressionError) or is_json(found), type(found)
    assert isinstance(found, ExpressionError) or not problems
    assert acts == []
    assert json.dumps(DATA) == before
    assert SECRET not in repr(found) or source == "secret"


@pytest.mark.parametrize("source", CORPUS, ids=lambda source: ascii(source)[:50])
@pytest.mark.parametrize("form", ["@@", "${@@}", "{{@@}}", "a ${@@} b {{@@}}"])
def test_an_escape_has_no_effect_inside_a_template(source: str, form: str) -> None:
    text = form.replace("@@", source)
    with watched() as acts:
        strict = attempt_template(text, "strict")
        lenient = attempt_template(text, "lenient")
        check_template(text)
    for found in (strict, lenient):
        assert isinstance(found, ExpressionError) or is_json(found), type(found)
        if "." not in {source, text} and "{{.}}" not in text and "{{#.}}" not in text:
            assert SECRET not in repr(found)
    assert acts == []


@pytest.mark.serial
def test_an_escape_takes_no_longer_than_fifty_milliseconds() -> None:
    slow = []
    for source in CORPUS:
        for _ in range(3):
            start = time.perf_counter()
            attempt(source)
            took = time.perf_counter() - start
            if took <= LONGEST:
                break
        else:
            slow.append((source, took))
    assert slow == []


def test_keys_that_look_like_attributes_are_keys() -> None:
    env = {"x": {"__class__": 1, "__proto__": {"constructor": 2}, "_sa_instance_state": 3}, "__builtins__": 4}
    assert compile_expression("x.__class__").evaluate(env) == 1
    assert compile_expression("x.__proto__.constructor").evaluate(env) == 2
    assert compile_expression("x._sa_instance_state + __builtins__").evaluate(env) == 7
    assert compile_template("{{x.__class__}}/{{x.__proto__.constructor}}").resolve(env) == "1/2"


def test_names_of_the_generated_code_are_out_of_reach() -> None:
    for name in ("env", "site", "meter", "fault", "explain", "FAULTS", "v0", "f_len", "add", "__builtins__"):
        assert isinstance(attempt(name), ExpressionError)
        assert compile_expression(f"[{name} for {name} in [5]]").evaluate({}) == [5]
        assert compile_expression(name).evaluate({name: 6}) == 6


def test_the_seeds_of_the_bad_input_list_are_literal_text_or_errors() -> None:
    """Row 26 of the list of bad inputs."""
    for text in ("{0.__globals__}", "#{7*7}", "<%= 7*7 %>"):
        assert compile_template(text).resolve(DATA) == text
    for text in ("{{ ''.__class__.__mro__ }}", "{{ x | attr('__init__') }}"):
        assert isinstance(attempt_template(text, "strict"), ExpressionError)


def test_a_value_that_looks_like_a_template_is_printed_and_not_rendered() -> None:
    """Row 27."""
    assert compile_template("a {{user.template}} b").resolve(DATA) == "a {{secret}} ${secret} b"
    assert compile_template("a ${user.template} b").resolve(DATA) == "a {{secret}} ${secret} b"
    assert compile_template("{{user.template}}").resolve(DATA) == "{{secret}} ${secret}"
