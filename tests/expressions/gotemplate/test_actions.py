"""Actions: values, variables, blocks, templates by name, white space. AS_GO was checked against Go 1.19 itself."""

from types import MappingProxyType
from typing import Any

import pytest

from perdure.expressions.gotemplate import compile_go_template

DATA: Any = {
    "a": 3,
    "half": 3.5,
    "s": "hi",
    "null": None,
    "yes": True,
    "no": False,
    "zero": 0,
    "empty": "",
    "list": [1, 2, 3],
    "mixed": [1, "x", None, 2.5, True],
    "none": [],
    "map": {"z": 1, "b": 2},
    "void": {},
    "deep": {"er": {"list": [{"k": "v"}, {"k": "w"}]}},
    "people": [{"name": "Ada", "tags": ["x", "y"]}, {"name": "Bob", "tags": []}],
}


def render(template: str, data: Any = DATA, **options: Any) -> str:
    return compile_go_template(template, **options).render(data)


AS_GO: dict[str, tuple[str, str]] = {
    # text and white space
    "text": ("no actions } here }} { .", "no actions } here }} { ."),
    "empty text": ("", ""),
    "an action": ("<{{.s}}>", "<hi>"),
    "blanks in an action": ("<{{   .s\n\t}}>", "<hi>"),
    "trimmed on the left": ("a \n\t {{- .s}} b", "ahi b"),
    "trimmed on the right": ("a {{.s -}} \n\t b", "a hib"),
    "trimmed on both sides": ("a {{- 3 -}} b", "a3b"),
    "a minus is no trim marker": ("a {{-3}} b", "a -3 b"),
    "several blanks before a trim marker": ("{{.s   -}}  b", "hib"),
    "trimming stops at actions": ("{{.a}} {{- .a -}} {{.a}}", "333"),
    "a string is not trimmed": ('{{" a "}}{{- " b" }}', " a  b"),
    "other white space stays": ("a\u00a0{{- .s}}", "a\u00a0hi"),
    # comments
    "a comment": ("a{{/* no {{.s}} */}}b", "ab"),
    "a comment of many lines": ("a{{/*\n one\n two */}}b", "ab"),
    "a comment that trims": ("a {{- /* c */ -}} b", "ab"),
    # the dot and its fields
    "the dot": ("{{.}}", "3"),
    "a field": ("{{.a}} {{.half}} {{.s}} {{.yes}} {{.no}}", "3 3.5 hi true false"),
    "fields in a row": ("{{.deep.er.list}}", "[map[k:v] map[k:w]]"),
    "null": ("{{.null}}", "<no value>"),
    "missing": ("{{.nope}} {{.nope.nope}} {{.deep.nope.nope}}", "<no value> <no value> <no value>"),
    "null inside": ("{{.mixed}}", "[1 x <nil> 2.5 true]"),
    "a map is printed in order": ("{{.map}} {{.void}} {{.none}}", "map[b:2 z:1] map[] []"),
    "the root": ("{{range .list}}{{$.s}}{{end}}", "hihihi"),
    "a field of brackets": ("{{(index .deep.er.list 1).k}} {{(.deep).er.nope}} {{(.).s}}", "w <no value> hi"),
    "names in other alphabets": ("{{$é := 1}}{{$é}}{{.ключ}}", "1<no value>"),
    # literals
    "numbers": ("{{1}} {{-1}} {{+2}} {{1.5}} {{.5}} {{1e3}} {{1_000}}", "1 -1 2 1.5 0.5 1000 1000"),
    "numbers in other bases": ("{{0x1F}} {{0b101}} {{0o17}} {{017}} {{0XfF}}", "31 5 15 15 255"),
    "characters are numbers": ("{{'a'}} {{'é'}} {{'\\n'}} {{'\\''}} {{'\\u00e9'}}", "97 233 10 39 233"),
    "text with escapes": ('{{"a\\tb\\n\\"c\\" \\\\ \\u00e9\\x41\\101\\U0001F600"}}', 'a\tb\n"c" \\ éAA😀'),
    "raw text": ('{{`a\\t"}}\n`}}', 'a\\t"}}\n'),
    "braces in text": ('{{"}}"}}{{"{{"}}', "}}{{"),
    "booleans": ("{{true}} {{false}}", "true false"),
    "brackets": ("{{(1)}} {{((.s))}} {{print (len .list) (.a)}}", "1 hi 3 3"),
    # variables
    "a variable": ("{{$x := .s}}<{{$x}}>", "<hi>"),
    "a field of a variable": ("{{$x := .deep}}{{$x.er.list}}", "[map[k:v] map[k:w]]"),
    "declared again": ('{{$x := 1}}{{$x := "a"}}{{$x}}', "a"),
    "declared by itself": ("{{$x := 1}}{{$x := print $x 2}}{{$x}}", "1 2"),
    "set inside of a block": ("{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "2"),
    "declared inside of a block": ("{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "21"),
    "the last one counts": ("{{$x := 0}}{{range .list}}{{$x = .}}{{end}}{{$x}}", "3"),
    "a pipeline into a variable": ("{{$x := .s | upper}}{{$x}}", "HI"),
    "without blanks": ("{{$x:=1}}{{$x}}", "1"),
    # pipelines
    "through a function": ("{{.s | upper}}", "HI"),
    "as the last argument": ('{{.s | printf "%s-%s" "a"}}', "a-hi"),
    "through several": ('{{"x" | print 1 | print 2 | len}}', "3"),
    "brackets into a pipe": ('{{(len .list) | print "n="}}', "n=3"),
    "pipes without blanks": ("{{.s|upper|lower|len}}", "2"),
    # if
    "if": ("{{if .yes}}A{{end}}{{if .no}}B{{end}}", "A"),
    "if and else": ("{{if .no}}A{{else}}B{{end}}", "B"),
    "else if": ("{{if .no}}A{{else if .zero}}B{{else if .s}}C{{else}}D{{end}}", "C"),
    "no branch": ("<{{if .no}}A{{else if .zero}}B{{end}}>", "<>"),
    "what is false": ("{{if .null}}1{{end}}{{if .nope}}2{{end}}{{if .zero}}3{{end}}{{if .empty}}4{{end}}", ""),
    "what is empty is false": ("{{if .none}}1{{end}}{{if .void}}2{{end}}{{if .no}}3{{end}}", ""),
    "what is true": (
        "{{if .a}}1{{end}}{{if .half}}2{{end}}{{if .s}}3{{end}}{{if .list}}4{{end}}{{if .map}}5{{end}}",
        "12345",
    ),
    "a text of blanks is true": ('{{if " "}}y{{end}}', "y"),
    "a variable of an if": ("{{if $x := .s}}{{$x}}{{else}}none{{end}}", "hi"),
    "a variable of an if in else": ("{{if $x := .empty}}y{{else}}<{{$x}}>{{end}}", "<>"),
    "a condition": ('{{if and (gt (len .list) 2) (eq .s "hi")}}y{{end}}', "y"),
    "brackets right behind if": ("{{if(len .list)}}y{{end}}", "y"),
    # with
    "with": ("{{with .deep.er}}{{.list}}{{end}}", "[map[k:v] map[k:w]]"),
    "with and else": ("{{with .nope}}x{{else}}{{.s}}{{end}}", "hi"),
    "a variable of a with": ("{{with $x := .s}}{{$x}}{{.}}{{$.a}}{{end}}", "hihi3"),
    # range
    "range": ("{{range .list}}<{{.}}>{{end}}", "<1><2><3>"),
    "range with an index": ("{{range $i, $v := .list}}{{$i}}={{$v}} {{end}}", "0=1 1=2 2=3 "),
    "range with a variable": ("{{range $v := .list}}{{$v}}{{.}}{{end}}", "112233"),
    "range over nothing": ("{{range .none}}x{{else}}none{{end}}", "none"),
    "range over a missing value": ("{{range .nope}}x{{else}}none{{end}}{{range .null}}x{{end}}", "none"),
    "range over an object": ("{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}{{range .map}}{{.}}{{end}}", "b=2;z=1;21"),
    "range in range": (
        "{{range .people}}{{.name}}:{{range .tags}} {{.}}{{else}} -{{end}}; {{end}}",
        "Ada: x y; Bob: -; ",
    ),
    "range in range with variables": (
        "{{range $i, $p := .people}}{{range $j, $t := $p.tags}}{{$i}}{{$j}}{{$p.name}}{{$t}} {{end}}{{end}}",
        "00Adax 01Aday ",
    ),
    "variables that exist": (
        "{{$i := 9}}{{$v := 9}}{{range $i, $v = .list}}{{end}}{{$i}}{{$v}}",
        "23",
    ),
    "separators": ("{{range $i, $v := .list}}{{if $i}}, {{end}}{{$v}}{{end}}", "1, 2, 3"),
    "break": ("{{range .list}}{{.}}{{if eq . 2.0}}{{break}}{{end}},{{end}}!", "1,2!"),
    "continue": ("{{range .list}}{{if eq . 2.0}}{{continue}}{{end}}{{.}},{{end}}!", "1,3,!"),
    "break leaves the inner range": (
        "{{range .people}}{{.name}}{{range .tags}}{{.}}{{break}}{{end}};{{end}}",
        "Adax;Bob;",
    ),
    "break out of with": ("{{range .list}}{{with .}}{{break}}{{end}}x{{end}}ok", "ok"),
    # templates by name
    "define and template": ('{{define "t"}}[{{.}}]{{end}}{{template "t" .s}}{{template "t"}}', "[hi][<no value>]"),
    "defined later": ('{{template "t" .}}{{define "t"}}{{.s}}{{end}}', "hi"),
    "its root is its argument": ('{{define "t"}}{{$.k}}{{end}}{{range .deep.er.list}}{{template "t" .}}{{end}}', "vw"),
    "templates call templates": (
        '{{define "a"}}a{{template "b" .}}{{end}}{{define "b"}}b{{.s}}{{end}}{{template "a" .}}',
        "abhi",
    ),
    "a template that calls itself": (
        '{{define "t"}}({{if .}}{{template "t" (slice . 1)}}{{end}}){{end}}{{template "t" .list}}',
        "(((())))",
    ),
    "block": ('{{block "b" .s}}<{{.}}>{{end}}{{template "b" .a}}', "<hi><3>"),
    "its variables are its own": (
        '{{$x := 1}}{{define "t"}}{{$x := 2}}{{$x}}{{end}}{{template "t"}}{{$x}}',
        "21",
    ),
}


@pytest.mark.parametrize("case", AS_GO)
def test_it_is_rendered_as_in_go(case: str) -> None:
    template, expected = AS_GO[case]
    data = 3 if case == "the dot" else DATA
    assert render(template, data) == expected


OUR_OWN: dict[str, tuple[str, str]] = {
    # Go fails on these
    "a field of null is missing": ("{{.null.x}}", "<no value>"),
    "a comment with blanks around it": ("a{{ /* c */ }}b", "ab"),
    "else with": ("{{with .nope}}x{{else with .s}}{{.}}{{else}}z{{end}}", "hi"),
    "range over a number": ("{{range $i := 3}}{{$i}}{{else}}x{{end}}{{range 0}}{{else}}none{{end}}", "012none"),
    "names with hyphens": ("{{.node-1.line-total}}", "5"),
    "numbers as steps": ("{{.deep.er.list.1.k}} {{$x := .list}}{{$x.0}} {{.list.9}}", "w 1 <no value>"),
    "set without blanks": ("{{$x := 1}}{{$x=2}}{{$x}}", "2"),
    # Go ends the inner range with this one, although it stands behind it
    "break in else belongs to the outer range": (
        "{{range .people}}{{range .tags}}t{{else}}{{break}}{{end}};{{end}}",
        "tt;",
    ),
    # values by their name alone
    "a name without a dot": ("{{s}} {{deep.er.list.0.k}} {{node-1.line-total}}", "hi v 5"),
    "lists and objects are JSON": ("{{list}}\n{{map}}", '[\n  1,\n  2,\n  3\n]\n{\n  "b": 2,\n  "z": 1\n}'),
    "a name that is missing stays": ("{{nope}} {{ s.x }} {{- deep.nope -}} !", "{{nope}} {{ s.x }}{{- deep.nope -}}!"),
    "a null by its name is nothing": ("<{{null}}>", "<>"),
    "functions are names when they stand alone": ("{{title}} {{len}}", "Dr. {{len}}"),
    "a name is looked for in the dot first": ("{{range .people}}{{name}} {{s}}; {{end}}", "Ada hi; Bob hi; "),
    "the first step decides": ("{{with .people.0}}{{name.x}}{{end}}", "{{name.x}}"),
    "names that begin like keywords": ("{{iffy}}{{range_}}{{end1}}", "{{iffy}}{{range_}}{{end1}}"),
    "print and println are functions": ("<{{print}}{{println}}>", "<\n>"),
    # numbers that Go would write with an exponent
    "large numbers are written out": (
        "{{.million}} {{.float}} {{1500000.5}} {{1e20}}",
        "1000000 2500000 1500000.5 " + "1" + "0" * 20,
    ),
    "very large and very small ones are not": (
        "{{1e21}} {{1.5e300}} {{0.0001}} {{0.00001}}",
        "1e+21 1.5e+300 0.0001 1e-05",
    ),
    "large whole numbers are exact": ("{{.exact}}", "9007199254740993"),
}


@pytest.mark.parametrize("case", OUR_OWN)
def test_it_is_rendered_in_our_own_way(case: str) -> None:
    template, expected = OUR_OWN[case]
    data = {
        **DATA,
        "node-1": {"line-total": 5},
        "title": "Dr.",
        "million": 1_000_000,
        "float": 2.5e6,
        "exact": 9_007_199_254_740_993,
    }
    assert render(template, data) == expected


def test_dollar_signs_before_actions_are_text() -> None:
    assert render("${{.a}} ${.a} $5 {{`$`}}") == "$3 ${.a} $5 $"


def test_what_a_value_holds_is_never_a_template() -> None:
    data = {"hostile": "{{.secret}} {{secret}} ${secret}", "secret": "x"}
    assert render("{{.hostile}}|{{hostile}}|{{print .hostile}}", data) == "|".join([data["hostile"]] * 3)


def test_the_data_may_be_any_json_value() -> None:
    assert render("{{range .}}{{.}}{{end}}", [1, 2]) == "12"
    assert render("{{.}} {{a}}", "text") == "text {{a}}"
    assert render("{{.}}{{.x}}", None) == "<no value><no value>"
    mapping: Any = MappingProxyType({"b": MappingProxyType({"c": 1}), "a": [2]})
    assert render("{{.}} {{.b.c}} {{b}} {{range $k, $v := .}}{{$k}}{{end}}", mapping) == (
        'map[a:[2] b:map[c:1]] 1 {\n  "c": 1\n} ab'
    )


def test_values_are_escaped_where_the_text_is_html() -> None:
    data = {"x": "<b> & \"'", "l": ["<"], "s": {"k": "<"}}
    assert render("<p>{{.x}}</p>", data, escape="html") == "<p>&lt;b&gt; &amp; &#34;&#39;</p>"
    assert render("{{.l}} {{x}} {{.nope}}", data, escape="html") == (
        "[&lt;] &lt;b&gt; &amp; &#34;&#39; &lt;no value&gt;"
    )
    assert render("{{s}}", data, escape="html") == "{\n  &#34;k&#34;: &#34;&lt;&#34;\n}"
    assert render("{{nope}}", data, escape="html") == "{{nope}}"
    assert render("{{.x}}", data) == data["x"]


def test_what_html_has_escaped_is_not_escaped_again() -> None:
    data = {"x": "a<b"}
    assert render("{{html .x}} {{.x | html}} {{.x}}", data, escape="html") == "a&lt;b a&lt;b a&lt;b"
    assert render("{{.x | html | upper}}", data, escape="html") == "A&amp;LT;B"
    assert render("{{html .x}}", data) == "a&lt;b"


def test_rendering_changes_nothing_and_can_be_repeated() -> None:
    template = compile_go_template("{{$x := .list}}{{range $i, $v := $x}}{{$x = $i}}{{end}}{{$x}}")
    data = {"list": [1, 2]}
    assert [template.render(data), template.render(data)] == ["1", "1"]
    assert data == {"list": [1, 2]}
    assert repr(compile_go_template("{{.a}}")) == "GoTemplate('{{.a}}')"


def test_the_same_source_is_compiled_once() -> None:
    assert compile_go_template("{{.a}}") is compile_go_template("{{.a}}")
    assert compile_go_template("{{.a}}") is not compile_go_template("{{.a}}", escape="html")
    long = "x" * 10_000 + "{{.a}}"
    assert compile_go_template(long).render({"a": 1}) == "x" * 10_000 + "1"
