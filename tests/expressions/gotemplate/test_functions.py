"""Functions: those of Go, `printf` with its verbs, and those that Yantra adds. AS_GO was checked against Go 1.19."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionFailed
from perdure.expressions.gotemplate import compile_go_template
from perdure.expressions.gotemplate.functions import FUNCTIONS

DATA: Any = {
    "s": "hi",
    "list": [1, "x", None, 2.5],
    "map": {"z": 1, "b": {"c": [True]}},
    "null": None,
    "f": 3.5,
    "t": True,
    "html": "é<&>\"'",
    "text": "o'neil of aberdeen",
}


def render(template: str, data: Any = DATA) -> str:
    return compile_go_template(template).render(data)


AS_GO: dict[str, str] = {
    # len, index, slice
    "len .s": "2",
    "len .list": "4",
    "len .map": "2",
    'len ""': "0",
    "index .list 0": "1",
    'index .map "b" "c" 0': "true",
    'index .map "q"': "<no value>",
    "index .list": "[1 x <nil> 2.5]",
    "index .s 0": "104",
    "slice .s 1": "i",
    "slice .s 0 1": "h",
    "slice .s 2": "",
    "slice .list 1 3": "[x <nil>]",
    "slice .list": "[1 x <nil> 2.5]",
    "slice .list 1 2 3": "[x]",
    # print
    'print 1 2 "a" 3 4': "1 2a3 4",
    "print .f .s .null .nope": "3.5hi<nil> <nil>",
    "print .list .map .t": "[1 x <nil> 2.5] map[b:map[c:[true]] z:1] true",
    "print": "",
    'println 1 "x" .list': "1 x [1 x <nil> 2.5]\n",
    "println": "\n",
    # comparisons
    'eq .s "hi"': "true",
    'eq .s "x" "hi"': "true",
    'eq .s "x" "y"': "false",
    "eq .f 3.5": "true",
    "eq .t true": "true",
    "eq .null nil": "true",
    "eq .nope nil": "true",
    'eq .nope "x"': "false",
    'ne .s "x"': "true",
    "lt .f 4.0": "true",
    'lt "a" "b"': "true",
    "le 1 1": "true",
    "gt 2 1": "true",
    "ge 1 2": "false",
    'ge "b" "a"': "true",
    # logic: the argument that decides is the value
    'and 1 "" .nope': "",
    "and .t .s": "hi",
    "and 1 2 3": "3",
    'or "" 0 .s 1': "hi",
    'or "" 0': "0",
    "or .nope .null": "<no value>",
    "and 1 0 (index .list 99)": "0",
    "or 0 1 (index .list 99)": "1",
    "not .s": "false",
    "not .nope": "true",
    # escaping
    "html .html": "é&lt;&amp;&gt;&#34;&#39;",
    'html 1 "<" .list': "1&lt;[1 x &lt;nil&gt; 2.5]",
    "html .nope": "&lt;no value&gt;",
    'urlquery "a b&c=é/~_-."': "a+b%26c%3D%C3%A9%2F~_-.",
    'urlquery 1 "x"': "1x",
    # text
    "upper .s": "HI",
    'lower "ABÇ"': "abç",
    'upper "straße ı"': "STRAßE I",
    "title .text": "O'Neil Of Aberdeen",
    'title "foo-bar a_b 1st éa wOrld ǆ"': "Foo-Bar A_b 1st Éa WOrld ǅ",
    # whole numbers
    "add 1 2": "3",
    "sub .f 1": "2",
    "mul .f .f": "9",
    "div 7 2": "3",
    "div -7 2": "-3",
    "div 7 -2": "-3",
    "div 1 0": "0",
    "add .nope 1": "1",
    'add "12abc" " 5"': "17",
    'add "-3" "+4"': "1",
    'add "x" 1': "1",
    "add .t 1": "1",
    'add "3.9" 0.9': "3",
    # json
    "json .map": '{\n  "b": {\n    "c": [\n      true\n    ]\n  },\n  "z": 1\n}',
    "jsonCompact .list": '[1,"x",null,2.5]',
    "json .s": '"hi"',
    "json .nope": "null",
    "json 1.0": "1",
    "jsonCompact (slice .list 0 0)": "[]",
    # printf
    'printf "%v %d %s" .list 3 .s': "[1 x <nil> 2.5] 3 hi",
    'printf "%5d|%-5d|%05d|%+d|% d" 42 42 42 42 42': "   42|42   |00042|+42| 42",
    'printf "%d %d" -5 0': "-5 0",
    'printf "%+05d|%-05d" 3 3': "+0003|3    ",
    'printf "%.3d|%8.3d|%-8.3d|" 5 5 5': "005|     005|005     |",
    'printf "%b %o %O %x %X %#x %#o" 5 8 8 255 255 255 8': "101 10 0o10 ff FF 0xff 010",
    'printf "%x" -255': "-ff",
    'printf "%c%c %U %#U" 233 128512 233 8364': "é😀 U+00E9 U+20AC '€'",
    'printf "%q %q" 65 39': "'A' '\\''",
    'printf "%f %.2f %8.3f|%-8.3f|%08.3f" .f .f 3.14159 3.14159 3.14159': "3.500000 3.50    3.142|3.142   |0003.142",
    'printf "%+.1f % .1f %+08.2f" 2.25 2.25 -3.14159': "+2.2  2.2 -0003.14",
    'printf "%e %E %.2e" 1234567.0 .f 12345.678': "1.234567e+06 3.500000E+00 1.23e+04",
    'printf "%g %g %g %g %G" 100000.0 1000000.0 0.0001 0.00001 1e-7': "100000 1e+06 0.0001 1e-05 1E-07",
    'printf "%.3g %.10g" 1234567.0 1234567.0': "1.23e+06 1234567",
    'printf "%6.2f%%" 12.345': " 12.35%",
    'printf "%s|%5s|%-5s|%.2s|%.10s" .s .s .s "héllo" "x"': "hi|   hi|hi   |hé|x",
    'printf "%q %q" "a\\"b\\n" "é\\x01\\u200b"': '"a\\"b\\n" "é\\x01\\u200b"',
    'printf "%x %X %#x % x" "hi" "hi" "a" "abc"': "6869 6869 0x61 61 62 63",
    'printf "%t %5t|%-6t|" true false true': "true false|true  |",
    'printf "%v %v %v" true "x" nil': "true x <nil>",
    'printf "%5v|%-5v|%05v|%6.3v" true "a" 3 3.14159': " true|a    |00003|  3.14",
    'printf "%.2v" "abc"': "ab",
    'printf "%+v % v" 3 3': "3  3",
    'printf "%5v" .map': "map[    b:map[    c:[ true]]     z:    1]",
    'printf "%q" (slice .list 1 2)': '["x"]',
    'printf "%T %T %T %T %T %T" 1 1.5 "a" true .list nil': "int float64 string bool []interface {} <nil>",
    'printf "%T" .map': "map[string]interface {}",
    'printf "100%%"': "100%",
    # what printf cannot do is shown
    'printf "%v"': "%!v(MISSING)",
    'printf "%s and %s" "a"': "a and %!s(MISSING)",
    'printf "%v" 1 2': "1%!(EXTRA int=2)",
    'printf "x" .s .nope': "x%!(EXTRA string=hi, <nil>)",
    'printf "%z" 1': "%!z(int=1)",
    'printf "%d" "x"': "%!d(string=x)",
    'printf "%t" 1': "%!t(int=1)",
    'printf "%d" .t': "%!d(bool=true)",
    'printf "%f" "x"': "%!f(string=x)",
    'printf "%d" .f': "%!d(float64=3.5)",
    'printf "%d" .null': "%!d(<nil>)",
    'printf "%"': "%!(NOVERB)",
    'printf "%!" 1': "%!!(int=1)",
}


@pytest.mark.parametrize("action", AS_GO)
def test_it_gives_what_it_gives_in_go(action: str) -> None:
    # an action that is one word is a name
    template = f"{{{{{action}}}}}" if " " in action or action.startswith("print") else ""
    assert render(template) == AS_GO[action]


OUR_OWN: dict[str, str] = {
    # Go fails where numbers of the data meet numbers of the template, or values are missing
    "eq 3.0 3": "true",
    "lt 1 1.5": "true",
    'eq .s 1 "hi"': "true",
    "eq .list .list": "true",
    'eq .map (index .map "b")': "false",
    "ne 1 true": "true",
    "index .list 1.0": "x",
    "len .nope": "0",
    "len .null": "0",
    'index .nope 0 "x"': "<no value>",
    "slice .nope 1": "<no value>",
    "upper .nope": "",
    # characters, not bytes
    "len .html": "6",
    'slice "héllo" 1 2': "é",
    'index "é" 0': "233",
    # JSON without escapes that only a browser needs
    "jsonCompact .html": '"é<&>\\"\'"',
    # printf with numbers of JSON
    'printf "%d %s" 3.0 4': "3 4",
    'printf "%s %s %s" .t .list .null': "true [1 x <nil> 2.5] <nil>",
    'printf "%f" 1': "1.000000",
    'printf "%v" 2500000.0': "2500000",
}


@pytest.mark.parametrize("action", OUR_OWN)
def test_it_gives_what_is_more_useful(action: str) -> None:
    assert render(f"{{{{{action}}}}}") == OUR_OWN[action]


FAILURES: dict[str, str] = {
    "len 3": "a number has no length",
    "len true": "a boolean has no length",
    "index .list 9": "there is no item 9 in a list of 4",
    "index .list -1": "there is no item -1",
    "index .list .f": "an index is a whole number",
    'index .list "a"': "an index is a whole number, not text",
    "index .map 1": "the key of an object is text, not a number",
    "index 1 0": "a number has no items",
    "slice .list 1 9": "does not fit into a list of 4",
    "slice .list 2 1": "does not fit",
    "slice .list -1": "does not fit",
    "slice .map 1": "an object has no slices",
    "lt .s 1": "text and a number have no order",
    "lt .null 1": "null and a number have no order",
    "lt true false": "have no order",
    "upper 3": "upper takes text, not a number",
    "title .list": "title takes text, not a list",
    "printf 3": "printf takes text",
    'printf "%*d" 5 42': "printf does not know %*",
    'printf "%[2]d" 1 2': "printf does not know %[",
    "and 1 (index .list 99)": "there is no item 99",
}


@pytest.mark.parametrize("action", FAILURES)
def test_it_fails_with_its_place(action: str) -> None:
    with pytest.raises(ExpressionFailed, match=re.escape(FAILURES[action])) as caught:
        render(f"text\n  {{{{ {action} }}}}")
    assert caught.value.line == 2
    assert (caught.value.column or 0) >= 6


def test_every_function_is_tested() -> None:
    used = {word for action in [*AS_GO, *OUR_OWN] for word in re.findall(r"[a-zA-Z]+", action)}
    assert set(FUNCTIONS) <= used


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
    max_leaves=12,
)


@given(JSON)
def test_json_can_be_read_again(value: Any) -> None:
    for function in ("json", "jsonCompact"):
        assert json.loads(render(f"{{{{{function} .}}}}", value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_printed_with_all_its_digits_and_no_more(value: float) -> None:
    for template in ("{{.}}", '{{printf "%g" .}}', '{{printf "%v" .}}'):
        written = render(template, value)
        assert float(written) == value
        digits = re.sub(r"e.*|[-.]", "", written).strip("0")
        assert len(digits) <= 17
        assert not written.endswith(".0")
    assert ("e" in render("{{.}}", value)) is (value != 0 and not 1e-4 <= abs(value) < 1e21)


@given(st.integers(-(2**63), 2**63), st.integers(-50, 50), st.integers(-50, 50))
def test_whole_numbers_are_computed_as_in_go(a: int, b: int, c: int) -> None:
    data = {"a": a, "b": b, "c": c}
    assert render("{{add .a .b}} {{sub .a .b}} {{mul .a .b}}", data) == f"{a + b} {a - b} {a * b}"
    assert render("{{div .b .c}}", data) == str(0 if c == 0 else int(b / c))


@given(st.integers(-(10**12), 10**12), st.sampled_from(["d", "5d", "-8d", "08d", "+d", "x", "o", "+012d", "-+6d"]))
def test_whole_numbers_are_formatted_as_python_does(value: int, verb: str) -> None:
    assert render(f'{{{{printf "%{verb}" .}}}}', value) == f"%{verb}" % value


@given(st.floats(-1e12, 1e12), st.sampled_from(["f", ".2f", "9.3f", "-9.1f", "010.2f", "+.1f", "e", ".3e", "12.4E"]))
def test_fractions_are_formatted_as_python_does(value: float, verb: str) -> None:
    assert render(f'{{{{printf "%{verb}" .}}}}', value) == f"%{verb}" % value


@given(JSON)
def test_html_holds_no_sign_of_html(value: Any) -> None:
    assert not set(render("{{html .}}", value)) & set("<>\"'\0")
    escaped = compile_go_template("{{.}}{{x}}", escape="html").render({"x": value})
    assert not set(escaped.replace("{{x}}", "")) & set("<>\"'\0")
