"""Templates: JSON values whose strings hold placeholders."""

from typing import Any

import pytest

from perdure.errors import ExpressionFailed, ExpressionLimit, ExpressionSyntax, ValueMissing
from perdure.expressions import check_template, compile_template

ENV: dict[str, Any] = {
    "_global": {"orderId": "ORD-42", "k": "orderId", "node002": {"refundAmount": 1500.0}},
    "order": {"id": 7, "total": 99.5, "paid": True, "note": None, "items": [{"name": "Desk"}, {"name": "Lamp"}]},
    "name": "O'Brien <Ltd>",
    "node001:httpResponse": {"status": 200},
    "transform-1": {"data": [1, 2]},
    "evil": "${order.id} {{order.id}}",
    "price": 5,
}


def resolved(value: Any, mode: Any = "strict", **options: Any) -> Any:
    return compile_template(value, mode=mode, **options).resolve(ENV)


def test_the_example_of_the_seed_resolves() -> None:
    """D05: «https://api.example.com/orders/${_global.orderId}»."""
    assert resolved("https://api.example.com/orders/${_global.orderId}") == "https://api.example.com/orders/ORD-42"
    assert resolved("${_global.node002.refundAmount}") == 1500.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${order.id}", 7),
        ("${order.total}", 99.5),
        ("${order.paid}", True),
        ("${order.note}", None),
        ("${order.items}", [{"name": "Desk"}, {"name": "Lamp"}]),
        ("${order.id + 1}", 8),
        ("${ order.id }", 7),
        ("{{order.id}}", 7),
        ("{{ order.total }}", 99.5),
        ("{{{order.items}}}", [{"name": "Desk"}, {"name": "Lamp"}]),
        ("{{&order.paid}}", True),
        ("{{order.items.1.name}}", "Lamp"),
        ("{{order.note}}", None),
        ("{{node001:httpResponse.status}}", 200),
        ("{{transform-1.data}}", [1, 2]),
        ("${ {'a': {'b': order.id}} }", {"a": {"b": 7}}),
        ("${'}'}", "}"),
        ("${\"}\" + '{'}", "}{"),
    ],
)
def test_a_string_that_is_one_placeholder_keeps_the_type_of_its_value(text: str, expected: Any) -> None:
    found = resolved(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Order #${order.id}", "Order #7"),
        (" ${order.id}", " 7"),
        ("${order.id}${order.id}", "77"),
        ("${order.total} {{order.total}}", "99.5 99.5"),
        ("${order.paid}!", "true!"),
        ("<${order.note}>", "<>"),
        ("<{{order.note}}>", "<>"),
        ("items: ${order.items}", 'items: [{"name":"Desk"},{"name":"Lamp"}]'),
        ("items: {{order.items}}", 'items: [{"name":"Desk"},{"name":"Lamp"}]'),
        ("Hello {{name}}", "Hello O'Brien <Ltd>"),
        ("{{#order.items}}{{name}};{{/order.items}}", "Desk;Lamp;"),
        ("{{#order.items}}${order.id}{{name}} {{/order.items}}", "7Desk 7Lamp "),
        ("{{^order.missing}}none{{/order.missing}}", "none"),
        ("no placeholders", "no placeholders"),
        ("a } b { c", "a } b { c"),
        ("$ {x} $x", "$ {x} $x"),
        ("$${order.id}", "${order.id}"),
        ("$${order.id} = ${order.id}", "${order.id} = 7"),
        ("$$${order.id}", "$${order.id}"),
        ("cost: ${{price}}", "cost: $5"),
        ("cost: ${{price}} ${price}", "cost: $5 5"),
        ("{{! a comment }}x", "x"),
        ("", ""),
    ],
)
def test_in_a_longer_text_values_are_written(text: str, expected: str) -> None:
    assert resolved(text) == expected


def test_nested_placeholders_are_resolved_from_the_inside() -> None:
    """D07."""
    assert resolved("${_global[${_global.k}]}") == "ORD-42"
    assert resolved("x-${_global[${_global.k}]}-x") == "x-ORD-42-x"
    assert resolved("${[1, 2, 3][${order.id - 6}]}") == 2


def test_values_are_data_and_never_read_as_templates() -> None:
    assert resolved("${evil}") == ENV["evil"]
    assert resolved("{{evil}}!") == ENV["evil"] + "!"
    assert resolved("${_global[evil] ?? 'safe'}") == "safe"


def test_objects_and_lists_are_walked_and_their_keys_are_not() -> None:
    template = compile_template({"a": ["${order.id}", {"${order.id}": "{{name}}"}], "b": 1, "c": None})
    assert template.resolve(ENV) == {"a": [7, {"${order.id}": "O'Brien <Ltd>"}], "b": 1, "c": None}
    assert template.names == {"order", "name"}
    assert template.reads == {("order", "id"), ("name",)}


def test_a_template_without_placeholders_is_given_back_as_it_is() -> None:
    for value in ("text", {"a": [1, {"b": "c"}]}, [], 5, None, True, "{ } $ } {", 1.5):
        template = compile_template(value)
        assert template.is_static
        assert template.resolve({}) is value
        assert template.names == frozenset()


def test_constant_parts_are_shared_and_changing_parts_are_new() -> None:
    value = {"constant": [1, 2], "dynamic": ["${order.id}"]}
    template = compile_template(value)
    first, second = template.resolve(ENV), template.resolve(ENV)
    assert first["constant"] is value["constant"]
    assert first["dynamic"] is not second["dynamic"]
    assert value == {"constant": [1, 2], "dynamic": ["${order.id}"]}


# -- what is missing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("${order.totl}", "order.totl"),
        ("a ${nothing.here} b", "nothing"),
        ("{{order.totl}}", "order.totl"),
        ("a {{nothing.here}} b", "nothing.here"),
        ("{{#order.items}}{{price2}}{{/order.items}}", "price2"),
    ],
)
def test_strict_a_missing_value_is_an_error_that_names_its_path(text: str, path: str) -> None:
    with pytest.raises(ValueMissing) as caught:
        resolved(text)
    assert caught.value.details["path"] == path
    assert caught.value.source == text
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${order.totl}", "${order.totl}"),
        ("a ${ nothing.here } b ${order.id}", "a ${ nothing.here } b 7"),
        ("{{order.totl}}", "{{order.totl}}"),
        ("a {{ nothing }} {{{ nothing }}} {{& nothing }}", "a {{ nothing }} {{{ nothing }}} {{& nothing }}"),
        ("${_global[${nothing}]}", "${_global[${nothing}]}"),
        ("{{#nothing}}x{{/nothing}}y", "y"),
        ("${nothing ?? 'z'}", "z"),
    ],
)
def test_lenient_a_missing_value_leaves_its_placeholder(text: str, expected: str) -> None:
    """D08."""
    assert resolved(text, "lenient") == expected
    assert compile_template(text).resolve(ENV, "lenient") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("${nothing}", None), ("{{nothing}}", ""), ("<${nothing}|{{nothing}}>", "<|>"), ("${order.id}", 7)],
)
def test_blank_a_missing_value_is_nothing(text: str, expected: Any) -> None:
    assert resolved(text, "blank") == expected


def test_lenient_is_about_missing_values_and_not_about_wrong_ones() -> None:
    with pytest.raises(ExpressionFailed):
        resolved("${order.id + 'a'}", "lenient")


# -- what is wrong -----------------------------------------------------------------------------------------------------

BAD = [
    "${1 +}",
    "a ${ b",
    "${'open}",
    "{{#a}}",
    "{{/a}}",
    "{{#a}}{{/b}}",
    "{{a",
    "{{{a}}",
    "{{a b}}",
    "{{a | upper}}",
    "{{ ''.__class__ }}",
    "{{a['b']}}",
    "{{}}",
    "{{#}}{{/}}",
    "{{a..b}}",
    "{{=x=}}",
    "{{= =}}",
    "{{> part}}",
    "${}",
    "${len(}",
]


@pytest.mark.parametrize("text", BAD)
def test_strict_a_mistake_is_found_when_the_template_is_compiled(text: str) -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_template(f"x\n {text}")
    assert (caught.value.line, caught.value.source) == (2, f"x\n {text}")


@pytest.mark.parametrize("text", [text for text in BAD if text != "{{> part}}"])
def test_lenient_a_mistake_leaves_the_text_as_it_is(text: str) -> None:
    """D09."""
    assert resolved(text, "lenient") == text


def test_lenient_the_placeholders_beside_a_mistake_still_work() -> None:
    assert resolved("${order.id} ${1 +} ${order.id}", "lenient") == "7 ${1 +} 7"
    assert resolved("${order.id} {{#open}}", "lenient") == "7 {{#open}}"
    assert resolved("${order.id} ${unclosed", "lenient") == "7 ${unclosed"


def test_errors_have_the_pointer_and_the_place_in_the_string() -> None:
    with pytest.raises(ExpressionSyntax) as compiled:
        compile_template({"a/b": ["ok", {"c~d": "line\n  ${1 +}"}]})
    assert compiled.value.pointer == "/a~1b/1/c~0d"
    assert (compiled.value.line, compiled.value.column) == (2, 8)
    template = compile_template({"x": ["Total:\n${order.totl}"]})
    with pytest.raises(ValueMissing) as run:
        template.resolve(ENV)
    assert run.value.pointer == "/x/0"
    assert (run.value.line, run.value.column) == (2, 9)
    assert run.value.details["snippet"] == "${order.totl}\n        ^^^^"


def test_check_template_lists_every_mistake() -> None:
    found = check_template({"a": "${1 +} and ${no_such(1)}", "b": [{"c": "{{#x}}"}, "fine ${y}"], "d": "\n${'x}"})
    assert [(pointer, each.code, each.line, each.column) for pointer, each in found] == [
        ("/a", "EXPRESSION_SYNTAX", 1, 6),
        ("/a", "EXPRESSION_SYNTAX", 1, 14),
        ("/b/0/c", "EXPRESSION_SYNTAX", 1, 1),
        ("/d", "EXPRESSION_SYNTAX", 2, 3),
    ]
    assert check_template({"a": ["${x}", "{{y}}", 5, None]}) == []
    assert [each.code for _, each in check_template(["${1}"] * 2000)] == ["EXPRESSION_LIMIT"]


# -- HTML --------------------------------------------------------------------------------------------------------------


def test_nothing_is_escaped_in_a_configuration() -> None:
    assert resolved("{{name}} & ${name}") == "O'Brien <Ltd> & O'Brien <Ltd>"


def test_html_is_escaped_where_it_is_asked_for() -> None:
    escaped = "O&#39;Brien &lt;Ltd&gt;"
    assert resolved("<b>{{name}}</b>", escape="html") == f"<b>{escaped}</b>"
    assert resolved("<b>${name}</b>", escape="html") == f"<b>{escaped}</b>"
    assert resolved("{{name}}", escape="html") == escaped
    assert resolved("${name}", escape="html") == escaped
    assert resolved("{{{name}}} {{& name}}", escape="html") == "O'Brien <Ltd> O'Brien <Ltd>"
    assert resolved("{{{name}}}", escape="html") == "O'Brien <Ltd>"
    assert resolved("{{order.id}}", escape="html") == 7


def test_the_same_text_may_be_compiled_in_different_ways() -> None:
    text = "{{name}}!"
    assert resolved(text) != resolved(text, escape="html")
    assert resolved(text) == "O'Brien <Ltd>!"


# -- cost --------------------------------------------------------------------------------------------------------------


def test_expressions_inside_a_section_are_evaluated_once() -> None:
    heavy = "${len([x * x for x in range(9000)])}"
    rows = {"rows": list(range(1, 500))}
    assert len(compile_template("{{#rows}}" + heavy + "{{/rows}}").resolve(rows)) == 499 * 4


def test_many_expensive_expressions_are_too_much_together() -> None:
    heavy = [f"${{len([x * x for x in range({9000 + number})])}}" for number in range(50)]
    assert compile_template(heavy[:5]).resolve({}) == [9000, 9001, 9002, 9003, 9004]
    with pytest.raises(ExpressionLimit) as caught:
        compile_template(heavy).resolve({})
    assert caught.value.pointer == "/11"
