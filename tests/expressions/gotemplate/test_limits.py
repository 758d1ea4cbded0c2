"""A template costs what it may and no more: every bomb ends quickly, with a limit and not with a crash."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ExpressionLimit
from perdure.expressions import Limits
from perdure.expressions.gotemplate import compile_go_template

LONGEST = 1  # seconds of computing
DATA: Any = {
    "million": range(1_000_000),  # made a list below
    "thousand": list(range(1_000)),
    "many": list(range(9_000)),
    "long": "x" * 5_000_000,
    "text": "<é " * 20_000,
    "object": {str(number): number for number in range(3_000)},
}
DATA["million"] = list(DATA["million"])

BOMBS = [
    "{{range .million}}{{range $.million}}x{{end}}{{end}}",
    "{{range .thousand}}{{range $.thousand}}{{end}}{{end}}",
    "{{range .million}}{{end}}",
    "{{range 1000000000000}}{{end}}",
    "{{range .many}}{{.}} {{range $.many}}{{.}}{{end}}{{end}}",
    "{{range .many}}" + "{{if .}}{{end}}" * 300 + "{{end}}",
    '{{$x := "ab"}}{{range .many}}{{$x = print $x $x}}{{end}}',
    '{{$x := "ab"}}{{range .many}}{{$x = printf "%s%s%s" $x $x $x}}{{end}}',
    '{{$x := "ab"}}{{range .many}}{{$x = println $x $x}}{{end}}',
    "{{$x := 3}}{{range .many}}{{$x = mul $x $x}}{{end}}",
    '{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}',
    '{{define "r"}}x{{template "r" .}}{{template "r" .}}{{end}}{{template "r" .}}',
    '{{define "a"}}{{template "b" .}}{{end}}{{define "b"}}{{template "a" .}}{{end}}{{template "a" .}}',
    '{{define "r"}}{{range .}}{{template "r" $}}{{end}}{{end}}{{template "r" .many}}',
    '{{printf "%999999d" 1}}',
    '{{printf "%99999999999d" 1}}',
    '{{printf "%.999999f" 1.5}}',
    '{{printf "%60000d%60000d" 1 1}}',
    '{{printf "%9999d" .many}}',
    "{{.million}}",
    "{{json .million}}",
    "{{million}}",
    "{{print .million .million}}",
    "{{.long}}",
    "{{long}}",
    "{{upper .long}}",
    "{{html .long}}",
    "{{urlquery .text}}",
    "{{range .many}}{{$y := html $.text}}{{end}}",
    "{{range .many}}{{$y := upper $.text}}{{end}}",
    "{{range .many}}{{$y := title $.text}}{{end}}",
    "{{range .many}}{{$y := json $.object}}{{end}}",
    "{{range .many}}{{$y := eq $.object $.object}}{{end}}",
    "{{range .many}}{{$y := slice $.many 1}}{{end}}",
    '{{range .many}}{{$y := printf "%q" $.text}}{{end}}',
    "{{range .many}}{{.}} {{end}}" * 3,
]


@pytest.mark.serial
@pytest.mark.parametrize("template", BOMBS, ids=lambda template: template[:50])
def test_a_bomb_meets_a_limit_in_time(template: str) -> None:
    start = time.thread_time()
    with pytest.raises(ExpressionLimit) as caught:
        compile_go_template(template).render(DATA)
    assert time.thread_time() - start < LONGEST
    assert caught.value.line == 1
    assert caught.value.column is not None


def test_a_loop_that_is_too_long_is_refused_before_its_first_turn() -> None:
    with pytest.raises(ExpressionLimit, match=r"too much work .*1,000,000 steps") as caught:
        compile_go_template("{{range .thousand}}\n  {{range $.million}}x{{end}}{{end}}").render(DATA)
    assert (caught.value.line, caught.value.column) == (2, 11)


@pytest.mark.parametrize(
    "template",
    [
        "{{if .a}}" * 65 + "{{end}}" * 65,
        "{{range .a}}" * 65 + "{{end}}" * 65,
        "{{" + "(" * 65 + "1" + ")" * 65 + "}}",
        "{{.a}}" * 1_001,
        "{{print " + "1 " * 5_000 + "}}",
        '{{"' + "x" * 9_000 + '"}}',
        "{{if .a}}" * 900,
    ],
    ids=lambda template: template[:30],
)
def test_a_template_that_is_too_large_is_refused_when_it_is_compiled(template: str) -> None:
    with pytest.raises(ExpressionLimit) as caught:
        compile_go_template(template)
    assert caught.value.line == 1


def test_honest_work_fits_into_the_limits() -> None:
    rows = [{"name": f"row {number}", "price": number * 1.5, "tags": ["a", "b"]} for number in range(1_000)]
    template = "{{range $i, $r := .}}{{add $i 1}}. {{$r.name | upper}} {{range .tags}}<{{.}}>{{end}}\n{{end}}"
    assert compile_go_template(template).render(rows).count("\n") == 1_000
    assert len(compile_go_template("{{range .}}{{range .tags}}x{{end}}{{end}}").render(rows * 20)) == 40_000
    assert compile_go_template("{{if .a}}" * 60 + "x" + "{{end}}" * 60).render({"a": 1}) == "x"
    chain = "{{if .a}}a" + "{{else if .b}}b" * 500 + "{{else}}c{{end}}"
    assert compile_go_template(chain).render({}) == "c"
    assert len(compile_go_template("{{slice .long 0 5}}{{len .long}}").render(DATA)) == 12


def test_limits_are_settings() -> None:
    small = Limits(output=10, steps=1, placeholders=4, depth=3)
    assert compile_go_template("{{.a}}-{{.a}}", limits=small).render({"a": "1234"}) == "1234-1234"
    for template, data in {
        "{{.a}}-{{.a}}!!": {"a": "1234"},
        "{{range .a}}{{end}}": {"a": [1] * 11},
        "{{.a}}{{.a}}{{.a}}{{.a}}{{.a}}": {"a": ""},
        "{{if 1}}{{if 1}}{{if 1}}x{{end}}{{end}}{{end}}": {},
    }.items():
        with pytest.raises(ExpressionLimit):
            compile_go_template(template, limits=small).render(data)
    assert len(compile_go_template("{{.long}}", limits=Limits(output=6_000_000)).render(DATA)) == 5_000_000


def test_deeply_nested_data_is_a_limit_and_not_a_crash() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for template in (
        "{{.}}",
        "{{json .}}",
        "{{a}}",
        "{{eq .a .a}}",
        '{{printf "%d" .a}}',
        "{{print .a}}",
        "{{html .a}}",
    ):
        with pytest.raises(ExpressionLimit):
            compile_go_template(template).render({"a": deep})
    assert compile_go_template("{{len .}}{{len (index . 0)}}").render(deep) == "11"
    while deep:  # taken apart by hand: freeing it in one go would recurse in C
        deep = deep.pop()


def test_rendering_deep_in_the_stack_is_a_limit_and_not_a_crash() -> None:
    template = compile_go_template("{{if .a}}" * 60 + "x" + "{{end}}" * 60)

    def deeper(levels: int) -> str:
        if levels:
            return deeper(levels - 1)
        try:
            return template.render({"a": 1})
        except ExpressionError as fault:
            return fault.code

    assert {deeper(levels) for levels in (0, 300, 600, 900)} <= {"x", "EXPRESSION_LIMIT"}


@given(st.text().filter(lambda text: "{{" not in text), st.text())
def test_text_stands_for_itself_and_values_are_put_between(text: str, value: str) -> None:
    before = text.rstrip("{")
    assert compile_go_template(text).render({}) == text
    assert compile_go_template(f"{before}{{{{.x}}}}{before}").render({"x": value}) == f"{before}{value}{before}"
    assert compile_go_template(f"{before}{{{{- .x -}}}}{before}").render({"x": value}) == (
        before.rstrip(" \t\r\n") + value + before.lstrip(" \t\r\n")
    )


@given(st.lists(st.text(max_size=5), max_size=8))
def test_a_range_is_a_loop(items: list[str]) -> None:
    expected = "".join(f"{at}:{item};" for at, item in enumerate(items)) or "none"
    template = "{{range $i, $v := .}}{{$i}}:{{$v}};{{else}}none{{end}}"
    assert compile_go_template(template).render(items) == expected
    mapping = {f"k{at}": item for at, item in enumerate(items)}
    expected = "".join(f"{key}={mapping[key]}," for key in sorted(mapping))
    assert compile_go_template("{{range $k, $v := .}}{{$k}}={{$v}},{{end}}").render(mapping) == expected
