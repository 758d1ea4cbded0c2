"""The escape corpus: each string is a plain JSON value or an ExpressionError, quickly, and nothing else happens."""

import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import ExpressionError
from perdure.expressions import check_expression, check_template, compile_expression, compile_template
from tests.expressions.escape_watch import DATA, FORMS, SECRET, read_corpus

CORPUS = read_corpus()
LONGEST = 0.05


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
def test_an_escape_gives_json_or_an_error(source: str) -> None:
    before = json.dumps(DATA)
    found = attempt(source)
    problems = check_expression(source)
    assert isinstance(found, ExpressionError) or is_json(found), type(found)
    assert isinstance(found, ExpressionError) or not problems
    assert json.dumps(DATA) == before
    assert SECRET not in repr(found)


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize("form", FORMS)
def test_an_escape_gives_json_or_an_error_inside_a_template(form: str, mode: str) -> None:
    for source in CORPUS:
        text = form.replace("@@", source)
        check_template(text)
        found = attempt_template(text, mode)
        assert isinstance(found, ExpressionError) or is_json(found), (text, type(found))
        if "{{.}}" not in text and "{{#.}}" not in text:  # the whole environment, which the author may read anyway
            assert SECRET not in repr(found), text


def test_nothing_else_happens_in_the_process() -> None:
    """In a process of its own, because a hook of the interpreter slows it down and cannot be removed."""
    script = Path(__file__).parent / "escape_watch.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=True)
    report = json.loads(done.stdout)
    assert report["evaluated"] == len(CORPUS) * (1 + 2 * len(FORMS))
    assert report["acts"] == []


@pytest.mark.serial
def test_an_escape_takes_no_longer_than_fifty_milliseconds() -> None:
    slow = []
    for source in CORPUS:
        for _ in range(3):
            start = time.thread_time()
            attempt(source)
            took = time.thread_time() - start
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
