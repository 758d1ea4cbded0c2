"""Properties that hold for every expression, template and value that Hypothesis thinks of."""

import json
import math
import time
from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ValueMissing
from perdure.expressions import check_expression, check_template, compile_expression, compile_template
from perdure.expressions.functions import TABLE

KEYS = st.sampled_from(["a", "b", "c", "items", "__class__", "a b", "0", "é", "ｏｓ", "len", "in"])
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
ENVIRONMENTS = st.dictionaries(st.sampled_from(["a", "b", "c", "x", "order"]), JSON, max_size=5)

# -- paths -------------------------------------------------------------------------------------------------------------


def walked(env: Any, steps: list[Any]) -> Any:
    """The reference: look-ups by hand."""
    for step in steps:
        by_key = isinstance(env, dict) and isinstance(step, str) and step in env
        if not by_key and not (isinstance(env, list | str) and isinstance(step, int) and -len(env) <= step < len(env)):
            return KeyError
        env = env[step]
    return env


@given(ENVIRONMENTS, st.sampled_from(["a", "b", "c"]), st.lists(st.one_of(KEYS, st.integers(-3, 3)), max_size=4))
def test_a_path_is_a_walk_through_dicts_and_lists(env: dict[str, Any], root: str, steps: list[Any]) -> None:
    source = root + "".join(f"[{json.dumps(step)}]" for step in steps)
    expected = walked(env, [root, *steps])
    tolerant = compile_expression(f"{source} ?? 'nothing'").evaluate(env)
    try:
        found = compile_expression(source).evaluate(env)
    except ExpressionError:
        assert expected is KeyError
        assert tolerant == "nothing" or any(isinstance(step, int) for step in steps)
        return
    assert found is expected or found == expected
    assert tolerant == ("nothing" if found is None else found)
    assert compile_expression(f"exists({source})").evaluate(env) is True
    assert compile_template("${" + source + "}").resolve(env) == found


@given(JSON)
def test_every_json_value_comes_back_as_it_is(value: Any) -> None:
    env = {"x": value}
    assert compile_expression("x").evaluate(env) is value
    assert compile_template("${x}").resolve(env) is value
    assert compile_template("{{x}}").resolve(env) is value
    assert compile_expression("x == x").evaluate(env) is True
    assert json.loads(compile_expression("json(x)").evaluate(env)) == value
    assert compile_expression("parse_json(json(x)) == x").evaluate(env) is True


@given(JSON, JSON)
def test_equality_is_that_of_json(left: Any, right: Any) -> None:
    """Two values are equal when their JSON texts are, but for the spelling of numbers."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
            return a is b
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        return type(a) is type(b) and a == b if isinstance(a, str) or isinstance(b, str) else a == b

    env = {"a": left, "b": right}
    assert compile_expression("a == b").evaluate(env) is same(left, right)
    assert compile_expression("a != b").evaluate(env) is not same(left, right)
    assert compile_expression("a in [b]").evaluate(env) is same(left, right)


@given(st.text())
def test_every_text_survives_as_a_literal(text: str) -> None:
    if any("\ud800" <= each <= "\udfff" for each in text):
        return
    assert compile_expression(json.dumps(text)).evaluate({}) == text


@given(JSON)
def test_every_value_that_is_written_as_a_literal_means_itself(value: Any) -> None:
    source = json.dumps(value)
    if len(source) <= 8_000:
        assert compile_expression(source).evaluate({}) == value


# -- the meaning of operators, against Python --------------------------------------------------------------------------

NUMBERS = st.integers(-20, 20)
ARITHMETIC = st.recursive(
    st.one_of(NUMBERS.map(str), st.sampled_from(["x", "y"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "/"]), inner).map(" ".join),
        inner.map(lambda each: f"({each})"),
        inner.map(lambda each: f"-{each}"),
        st.tuples(inner, inner, inner).map(lambda each: f"({each[0]} if {each[1]} else {each[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        st.tuples(inner, st.sampled_from(["<", "<=", ">", ">="]), inner).map(
            lambda each: f"(1 if {' '.join(each)} else 0)"
        ),
    ),
    max_leaves=10,
)


@given(ARITHMETIC, NUMBERS, NUMBERS)
def test_numbers_mean_what_they_mean_in_python(source: str, x: int, y: int) -> None:
    try:
        expected = eval(source, {"__builtins__": {}}, {"x": x, "y": y})  # noqa: S307 - made of digits and operators
    except (ZeroDivisionError, OverflowError):
        expected = None
    try:
        found = compile_expression(source).evaluate({"x": x, "y": y})
    except ExpressionError:
        found = None
    assert found == expected
    assert type(found) is type(expected)


# -- nothing breaks it -------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *"()[]{}.,:?!+-*/%<>='\"$&|@#;\\ \n\t", "**", "//", "==", "!=", "<=", "===", "&&", "||", "??", "?.", "?:",
        "a", "b", "x", "order", "1", "0", "2.5", "1e9", "'t'", '"t"', "true", "null", "\x00", "é", "ｏ", "😀",
        "${", "}}", "{{", "{{#", "{{/", "and", "or", "not", "in", "is", "if", "else", "for", "for x in", "lambda",
        "__class__", "[0]", ".0", "range(", "len(", "10**", "*10**6", *(f"{name}(" for name in TABLE),
    ]
)  # fmt: skip
GARBAGE = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join))
DEADLINE = 0.5  # seconds; a tenth of it is the promise, the rest is for what Hypothesis does meanwhile


def is_json(value: Any) -> bool:
    if value is None or isinstance(value, bool | str):
        return True
    if type(value) is int or type(value) is float:
        return math.isfinite(value) if type(value) is float else value.bit_length() <= 4096
    if type(value) is list:
        return all(is_json(each) for each in value)
    return type(value) is dict and all(type(key) is str and is_json(each) for key, each in value.items())


def outcome(action: Callable[[], Any]) -> Any:
    """The value, or the error as a value. Any other exception fails the test."""
    try:
        return action()
    except ExpressionError as fault:
        return fault


@settings(max_examples=500)
@given(GARBAGE, ENVIRONMENTS)
@example("range(10**6)", {})
@example("'\\ud800'", {})
def test_any_text_is_an_expression_or_an_expression_error(source: str, env: dict[str, Any]) -> None:
    start = time.thread_time()
    before = json.dumps(env)
    problems = check_expression(source)
    found = outcome(lambda: compile_expression(source).evaluate(env))
    if isinstance(found, ExpressionError):
        assert found.line is not None
        assert found.column is not None
        assert json.dumps(found.as_dict())
    else:
        assert problems == []
        assert is_json(found)
    assert json.dumps(env) == before
    assert time.thread_time() - start < DEADLINE


@settings(max_examples=500)
@given(GARBAGE, ENVIRONMENTS)
def test_any_text_is_a_template_or_an_expression_error(source: str, env: dict[str, Any]) -> None:
    start = time.thread_time()
    problems = check_template({"x": [source]})
    strict = outcome(lambda: compile_template(source).resolve(env))
    assert strict.line is not None if isinstance(strict, ExpressionError) else is_json(strict) and problems == []
    lenient = outcome(lambda: compile_template(source, mode="lenient").resolve(env))
    assert is_json(lenient) or (isinstance(lenient, ExpressionError) and not isinstance(lenient, ValueMissing))
    assert time.thread_time() - start < DEADLINE


@given(st.text(max_size=60), ENVIRONMENTS)
def test_what_a_value_holds_is_never_rendered(text: str, env: dict[str, Any]) -> None:
    hostile = {**env, "hostile": "${a} {{b}} " + text}
    assert (
        compile_template("<{{hostile}}|${hostile}>").resolve(hostile) == f"<{hostile['hostile']}|{hostile['hostile']}>"
    )


@given(st.recursive(st.text(alphabet="ab c$", max_size=8), lambda inner: st.lists(inner, max_size=3)))
def test_a_template_without_placeholders_is_itself(value: Any) -> None:
    template = compile_template(value)
    assert template.is_static
    assert template.resolve({}) is value
