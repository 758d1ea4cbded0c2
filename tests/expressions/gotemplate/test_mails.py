"""Whole letters: some of our own, and those of the example documents where these are at hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from perdure.expressions.gotemplate import compile_go_template, is_go_template

INVOICE = """Dear {{.customer.name | title}},
{{/* the first order has the date */ -}}
{{$first := index .orders 0 -}}
your orders since {{$first.date}}:
{{range $i, $order := .orders}}
{{add $i 1}}. {{$order.id}} ({{len $order.lines}} {{if eq (len $order.lines) 1}}line{{else}}lines{{end}})
{{- range $order.lines}}
   {{printf "%-8s %3d x %7.2f" .name .count .price}}{{with .note}} ({{.}}){{end}}
{{- else}}
   nothing
{{- end}}
{{end}}
Sum: ${{mul .pieces 10}} for {{.pieces}} pieces.{{template "closing" .customer}}
{{- define "closing"}}
{{if .vip}}Your personal adviser{{else}}Your team{{end}}, for {{.name}}{{end}}
"""
INVOICE_DATA: Any = {
    "customer": {"name": "ada lovelace", "vip": False},
    "pieces": 5,
    "orders": [
        {
            "id": "ORD-1",
            "date": "2026-11-01",
            "lines": [
                {"name": "Desk", "count": 1, "price": 240.5, "note": "oak"},
                {"name": "Lamp", "count": 4, "price": 19},
            ],
        },
        {"id": "ORD-2", "date": "2026-11-02", "lines": []},
    ],
}
INVOICE_TEXT = """Dear Ada Lovelace,
your orders since 2026-11-01:

1. ORD-1 (2 lines)
   Desk       1 x  240.50 (oak)
   Lamp       4 x   19.00

2. ORD-2 (0 lines)
   nothing

Sum: $50 for 5 pieces.
Your team, for ada lovelace
"""


def test_a_letter_with_loops_variables_and_templates() -> None:
    assert is_go_template(INVOICE)
    assert compile_go_template(INVOICE).render(INVOICE_DATA) == INVOICE_TEXT


def test_a_letter_in_the_simple_form() -> None:
    letter = "Status: {{status_code}}\nBody: {{data}}\nFirst: {{fetch-1.rows.0.name}}\nOwner: {{owner}}\n"
    data = {"status_code": 200, "data": {"b": 1, "a": []}, "fetch-1": {"rows": [{"name": "Ada"}]}}
    assert not is_go_template(letter)
    assert compile_go_template(letter).render(data) == (
        'Status: 200\nBody: {\n  "a": [],\n  "b": 1\n}\nFirst: Ada\nOwner: {{owner}}\n'
    )


def test_both_forms_in_one_letter() -> None:
    letter = "{{title}}\n{{range .rows}}- {{.name}} of {{company.name}}\n{{end}}"
    data = {"title": "Staff", "rows": [{"name": "Ada"}, {"name": "Bob"}], "company": {"name": "Orbis"}}
    assert compile_go_template(letter).render(data) == "Staff\n- Ada of Orbis\n- Bob of Orbis\n"


def test_a_letter_in_html() -> None:
    letter = "<ul>{{range .rows}}<li>{{.name}}</li>{{end}}</ul>{{note}}"
    data = {"rows": [{"name": "R&D <Dept>"}], "note": "'quoted'"}
    assert compile_go_template(letter, escape="html").render(data) == (
        "<ul><li>R&amp;D &lt;Dept&gt;</li></ul>&#39;quoted&#39;"
    )


# -- the example documents ---------------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).resolve().parents[4] / "shared" / "examples" / "yantra"
needs_examples = pytest.mark.skipif(not EXAMPLES.exists(), reason="the example documents are not at hand")


def config(document: str, kind: str) -> dict[str, Any]:
    nodes = json.loads((EXAMPLES / f"{document}.json").read_text(encoding="utf-8"))["nodes"]
    found: dict[str, Any] = next(node for node in nodes if node["type"] == kind)["data"]["config"]
    return found


@needs_examples
def test_the_list_of_users() -> None:
    body = config("http_transform_email", "email")["body"]
    users = [{"index": at, "name": name} for at, name in enumerate(["Leanne", "Ervin", "Clementine"])]
    text = compile_go_template(body).render({"accumulated": users, "iteration_count": 3})
    assert is_go_template(body)
    assert text.split("\n") == ["", "0• Leanne", "", "1• Ervin", "", "2• Clementine", "", "", "Total: 3 items"]


@needs_examples
def test_the_users_with_even_numbers() -> None:
    body = config("cron_scheduled", "email")["body"]
    users = [{"id": 2, "name": "Ervin"}, {"id": 4, "name": "Patricia"}]
    text = compile_go_template(body).render({"accumulated": users, "iteration_count": 5})
    assert "\nUser #2: Ervin\n" in text
    assert "\nUser #4: Patricia\n" in text
    assert text.endswith("Total Matching Users: 2")
    assert "{{" not in text


@needs_examples
def test_every_order_with_every_item_once() -> None:
    body = config("nested_loops_email", "email")["body"]
    orders = config("nested_loops_email", "json")["data"]
    text = compile_go_template(body).render({"accumulated": [{"accumulated": order["items"]} for order in orders]})
    assert is_go_template(body)
    for number, order in enumerate(orders, 1):
        assert text.count(f"Order #{number}: {order['orderId']}\n") == 1
        assert text.count(f"Customer: {order['customer']}\n") == 1
        for at, item in enumerate(order["items"], 1):
            price, count = item["price"], item["qty"]
            assert text.count(f"Price: ${price} × Qty: {count} = ${price * count}\n") == 1
            assert f"\n  {at}. {order['orderId']} \n" in text
    assert text.endswith(f"Total Orders: {len(orders)}")
    assert "{{" not in text
    assert "<no value>" not in text


@needs_examples
@pytest.mark.parametrize(
    ("document", "kind", "field", "data", "shown"),
    [
        (
            "sleep_until_example",
            "email",
            "body",
            {"data": {"datetime": "new time", "params": {"oldtime": "old time"}}},
            ["Old Time (from query param): old time\n", "New Time (current): new time\n", "using old time syntax"],
        ),
        ("webhook_example", "email", "body", {"transform-1": {"data": True}}, ["Data: true"]),
        ("webhook_example", "slack", "message", {"transform-1": {"data": {"x": 1}}}, ['failed: {\n  "x": 1\n}']),
    ],
)
def test_the_simple_letters(document: str, kind: str, field: str, data: Any, shown: list[str]) -> None:
    text = config(document, kind)[field]
    assert not is_go_template(text)
    rendered = compile_go_template(text).render(data)
    for each in shown:
        assert each in rendered
