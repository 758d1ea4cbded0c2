"""Templates that are wrong: each mistake is named with line and column, most of them when the template is compiled."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ExpressionFailed, ExpressionSyntax
from perdure.expressions.gotemplate import compile_go_template, is_go_template

# template: the column, and a part of the message
MISTAKES: dict[str, tuple[int, str]] = {
    # actions
    "a {{": (3, "}} is missing"),
    "{{.s": (1, "}} is missing"),
    "{{.s }": (6, "'}' has no meaning"),
    "{{.s {{.a}}": (1, "}} is missing"),
    "{{}}": (3, "the action is empty"),
    "{{ }}": (4, "the action is empty"),
    "{{- -}}": (4, "the action is empty"),
    "{{/* c}}": (1, "*/ is missing"),
    "{{/* c */ x}}": (8, "a comment ends with"),
    "{{.s | }}": (8, "a value is missing behind |"),
    "{{| .s}}": (3, "'|' is not expected"),
    "{{.s || .a}}": (7, "'|' is not expected"),
    "{{.s)}}": (5, "')' is not expected"),
    "{{(.s}}": (3, "a ) is missing"),
    "{{()}}": (4, "')' is not expected"),
    "{{.a, .b}}": (5, "',' is not expected"),
    "{{#each .a}}": (3, "'#' has no meaning"),
    "{{.a[0]}}": (5, "'[' has no meaning"),
    "{{.a + 1}}": (6, "'+' has no meaning"),
    "{{.a > 1}}": (6, "'>' has no meaning"),
    "{{.a && .b}}": (6, "'&' has no meaning"),
    "{{!.a}}": (3, "'!' has no meaning"),
    "{{{.a}}}": (3, "'{' has no meaning"),
    # values
    "{{.a.}}": (5, "a name is missing behind the dot"),
    "{{..a}}": (3, "one dot is enough"),
    "{{.a..b}}": (5, "a name is missing behind the dot"),
    "{{. a}}": (5, "only functions take arguments"),
    "{{.a .b}}": (6, "only functions take arguments"),
    '{{"a" "b"}}': (7, "only functions take arguments"),
    "{{1 2}}": (5, "only functions take arguments"),
    "{{.a 1 | print}}": (6, "only functions take arguments"),
    "{{1 | .a}}": (7, "only a function takes what comes"),
    '{{1 | "a"}}': (7, "only a function takes what comes"),
    '{{print "a""b"}}': (12, "a blank is missing"),
    "{{print .a(1)}}": (11, "a blank is missing"),
    "{{print (1)(2)}}": (12, "a blank is missing"),
    "{{1.a}}": (3, "not a number"),
    '{{"a".b}}': (3, "a constant has no parts"),
    "{{(1).a}}": (3, "a constant has no parts"),
    "{{nil}}": (3, "nil is no value"),
    "{{if nil}}{{end}}": (6, "nil is no value"),
    "{{$x := nil}}": (9, "nil is no value"),
    # numbers and text
    "{{1a}}": (3, "not a number"),
    "{{1_000_x}}": (3, "not a number"),
    "{{0x}}": (3, "not a number"),
    "{{1.2.3}}": (3, "not a number"),
    "{{089}}": (3, "not a number"),
    "{{1i}}": (3, "not a number"),
    "{{1e400}}": (3, "too large"),
    "{{99999999999999999999}}": (3, "too large"),
    '{{"a}}': (3, "a quote is missing"),
    '{{"a\nb"}}': (3, "a quote is missing"),
    "{{`a}}": (3, "a quote is missing"),
    "{{'ab'}}": (3, "a quote is missing"),
    "{{''}}": (3, "a quote is missing"),
    "{{'\\nx'}}": (3, "one character stands in single quotes"),
    '{{"\\q"}}': (4, "not an escape"),
    '{{"\\u12"}}': (4, "not an escape"),
    '{{"\\ud800"}}': (4, "not an escape"),
    '{{"\\U00110000"}}': (4, "not an escape"),
    '{{"\\\'"}}': (4, "not an escape"),
    # functions
    "{{nope .a}}": (3, "there is no function 'nope'"),
    "{{print nope}}": (9, "there is no function 'nope'"),
    "{{.a | nope}}": (8, "there is no function 'nope'"),
    "{{print len}}": (9, "len takes 1 argument, not 0"),
    "{{len .a .b}}": (3, "len takes 1 argument, not 2"),
    "{{.a | len .b}}": (8, "len takes 1 argument, not 2"),
    "{{eq 1 | print}}": (3, "eq takes at least 2 arguments, not 1"),
    "{{ne 1 2 3}}": (3, "ne takes 2 arguments, not 3"),
    "{{slice 1 2 3 4 5}}": (3, "slice takes at most 4 arguments, not 5"),
    "{{if not}}{{end}}": (6, "not takes 1 argument, not 0"),
    "{{js .a}}": (3, "there is no function 'js'"),
    "{{call .a}}": (3, "there is no function 'call'"),
    # variables
    "{{$x}}": (3, "there is no variable $x"),
    "{{$x = 1}}": (3, "there is no variable $x"),
    "{{$x := $x}}": (9, "there is no variable $x"),
    "{{if true}}{{$x := 1}}{{end}}{{$x}}": (32, "there is no variable $x"),
    "{{if true}}{{$x := 1}}{{else}}{{$x}}{{end}}": (33, "there is no variable $x"),
    "{{range $i, $v := .l}}{{end}}{{$v}}": (32, "there is no variable $v"),
    '{{$x := 1}}{{define "t"}}{{$x}}{{end}}': (28, "there is no variable $x"),
    "{{$x :=}}": (8, "a value is missing"),
    "{{$ := 1}}": (3, "only variables with a name"),
    "{{$x, $y := 1}}": (7, "too many variables"),
    "{{$x, $y}}": (9, ":= is missing"),
    "{{if $x, $y := 1}}{{end}}": (10, "too many variables"),
    "{{range $a, $b, $c := .l}}{{end}}": (17, "too many variables"),
    "{{$.y := 1}}": (7, "':=' is not expected"),
    '{{template "t" $x := 1}}': (16, "too many variables"),
    # blocks
    "{{if .a}}x": (1, "{{if .a}} is not closed"),
    "{{range .a}}{{if .b}}{{end}}": (1, "{{range .a}} is not closed"),
    "{{if .a}}{{else}}x": (1, "{{if .a}} is not closed"),
    "x{{end}}": (2, "{{end}} closes nothing"),
    "x{{else}}": (2, "{{else}} closes nothing"),
    "{{if .a}}{{end}}{{end}}": (17, "{{end}} closes nothing"),
    "{{if .a}}{{else}}{{else}}{{end}}": (18, "a second else"),
    "{{range .a}}{{else}}{{else}}{{end}}": (21, "a second else"),
    "{{if .a}}{{else}}{{else if .b}}{{end}}": (18, "a second else"),
    "{{if .a}}{{end .b}}": (16, "holds more than end"),
    "{{if .a}}{{else .b}}{{end}}": (17, "holds more than else"),
    "{{range .a}}{{else if .b}}{{end}}": (20, "holds more than else"),
    "{{if}}x{{end}}": (5, "a value is missing behind if"),
    "{{with}}x{{end}}": (7, "a value is missing behind with"),
    "{{range}}x{{end}}": (8, "a value is missing behind range"),
    "{{if .a}}{{else if}}{{end}}": (19, "a value is missing behind if"),
    "{{break}}": (1, "outside of a range"),
    "{{continue}}": (1, "outside of a range"),
    "{{range .a}}{{end}}{{break}}": (20, "outside of a range"),
    "{{range .a}}{{else}}{{break}}{{end}}": (21, "outside of a range"),
    '{{define "t"}}{{break}}{{end}}': (15, "outside of a range"),
    "{{range .a}}{{break .b}}{{end}}": (21, "is not expected"),
    # templates by name
    '{{template "t"}}': (1, "there is no template 't'"),
    '{{if false}}{{template "t"}}{{end}}': (13, "there is no template 't'"),
    "{{template .a}}": (12, "a name in quotes is missing"),
    "{{template}}": (11, "a name in quotes is missing"),
    '{{template ""}}': (12, "a name is not empty"),
    '{{template"t"}}': (11, "a blank is missing"),
    '{{template "t" . .}}{{define "t"}}{{end}}': (18, "only functions take arguments"),
    "{{define .a}}{{end}}": (10, "a name in quotes is missing"),
    '{{define "t" .}}{{end}}': (14, "is not expected"),
    '{{define "t"}}': (1, "is not closed"),
    '{{define "t"}}{{else}}{{end}}': (15, "nothing to choose from"),
    '{{define "t"}}{{end}}{{define "t"}}{{end}}': (22, "there are two templates 't'"),
    '{{define "t"}}{{end}}{{block "t" .}}{{end}}': (22, "there are two templates 't'"),
    '{{block "t" .}}{{block "t" .}}{{end}}{{end}}': (16, "there are two templates 't'"),
    '{{if .a}}{{define "t"}}{{end}}{{end}}': (10, "define stands inside of nothing"),
    '{{block "t"}}{{end}}': (12, "the data of the block is missing"),
}


@pytest.mark.parametrize("template", MISTAKES)
def test_it_is_refused_with_its_place(template: str) -> None:
    column, told = MISTAKES[template]
    with pytest.raises(ExpressionSyntax) as caught:
        compile_go_template(template)
    assert told in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


def test_lines_are_counted() -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_go_template("Dear {{.name}},\n\n  {{range .items}}\n{{.x}}\n")
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert caught.value.details["snippet"] == "  {{range .items}}\n  ^^^^^^^^^^^^^^^^"


def test_a_mistake_says_what_was_probably_meant() -> None:
    for template, remedy in {
        "{{uper .a}}": "upper",
        "{{print customer}}": ".customer",
        "{{$total := 1}}{{$totl}}": "$total",
        "{{$x}}": "$x := …",
        '{{define "header"}}{{end}}{{template "heeder"}}': "header",
        "{{#items}}": "{{range",
        "{{.items[0]}}": "index .items 0",
    }.items():
        with pytest.raises(ExpressionSyntax) as caught:
            compile_go_template(template)
        assert remedy in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("template", "column", "told"),
    [
        ("{{.s.x}}", 3, "text has no keys, so no 'x'"),
        ("{{.n.x}}", 3, "a number has no keys"),
        ("{{.l.x}}", 3, "a list has no keys"),
        ("{{.s.0}}", 3, "text has no keys, so no '0'"),
        ("{{range .s}}{{end}}", 9, "not over text"),
        ("{{range .b}}{{end}}", 9, "not over a boolean"),
        ("{{range 1.5}}{{end}}", 9, "not over a number"),
        ("{{if lt .s .n}}{{end}}", 6, "have no order"),
        ('{{define "t"}}{{len .n}}{{end}}x{{template "t" .}}', 17, "a number has no length"),
        ("{{range .l}}{{index $.l 5}}{{end}}", 15, "there is no item 5"),
    ],
)
def test_data_that_does_not_fit_fails_with_the_place_in_the_template(template: str, column: int, told: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        compile_go_template(template).render({"s": "x", "n": 1, "l": [1], "b": True})
    assert told in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


def test_only_text_is_a_template() -> None:
    others: list[Any] = [5, None, ["$"], {}]
    for other in others:
        with pytest.raises(ExpressionSyntax, match=f"text, not {type(other).__name__}"):
            compile_go_template(other)


@pytest.mark.parametrize(
    "text",
    [
        "{{.a}}",
        "{{ .a }}",
        "{{- .a}}",
        "{{$x}}",
        "{{range .x}}",
        "{{ if x }}",
        "{{if\n.x}}",
        "{{else if .a}}",
        "{{with .a}}",
        '{{define "a"}}',
        '{{template "x"}}',
        '{{block "a" .}}',
        "{{/* c */}}",
        "{{len .a}}",
        "{{upper name}}",
        '{{index . "a"}}',
        '{{printf "%d" 1}}',
        "{{(len .a)}}",
        "text {{a}} text {{range .l}}{{end}}",
    ],
)
def test_this_is_written_for_go(text: str) -> None:
    assert is_go_template(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no actions, if any",
        "{{a}}",
        "{{a.b.0}}",
        "{{ title }}",
        "{{title}}",
        "{{.}}",
        "{{#a}}{{.}}{{/a}}",
        "{{^a}}x{{/a}}",
        "{{{a}}}",
        "{{&a}}",
        "{{! range over }}",
        "{{>if}}",
        "{{if}}",
        "{{range}}",
        "{{iffy .}}",
        "{{len-a}}",
        "${if .a}",
    ],
)
def test_this_is_not(text: str) -> None:
    assert not is_go_template(text)


PIECES = [
    "{{", "}}", " -}}", "{{- ", " ", "\n", ".", ".a", "a.b", "x", "$x", ":=", "=", "|", "(", ")", ",", "1", '"s"', "'",
    "`", "range", "if", "else", "end", "len", "print", "template", "define", '"t"', "break", "/*", "*/",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(0, 3), max_size=3)),
)
def test_every_text_is_a_template_or_a_mistake_with_a_place(text: str, data: Any) -> None:
    line = column = 1
    try:
        compile_go_template(text).render({"a": data, "x": [data]})
    except ExpressionError as fault:
        line, column = fault.line or 0, fault.column or 0
    assert 1 <= line <= text.count("\n") + 1
    assert 1 <= column <= len(text) + 1
