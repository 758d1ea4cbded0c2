"""Values that are not there: an error that helps, and the forms that ask without one."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from perdure.errors import ExpressionFailed, ValueMissing
from perdure.expressions import compile_expression

ENV: dict[str, Any] = {
    "order": {"total": 150, "orderId": 7, "note": None, "items": [{"name": "Desk"}], "zero": 0, "empty": ""},
    "user": None,
    "list": [1, 2],
}


def value(source: str, env: Mapping[str, Any] = ENV) -> Any:
    return compile_expression(source).evaluate(env)


@pytest.mark.parametrize(
    ("source", "path", "words"),
    [
        ("ordr.total", "ordr", "did you mean `order`?"),
        ("order.totl", "order.totl", "did you mean 'total'?"),
        ("order.Total", "order.Total", "did you mean 'total'?"),
        ("order.order_id", "order.order_id", "did you mean 'orderId'?"),
        ("order.tota", "order.tota", "did you mean 'total'?"),
        ("order.toatl", "order.toatl", "did you mean 'total'?"),
        ("order.xyz", "order.xyz", "no key 'xyz'"),
        ("order['a b']", "order['a b']", "no key 'a b'"),
        ("order.xyz.deeper", "order.xyz", "no key 'xyz'"),
        ("user.name", "user.name", "null has no key 'name'"),
        ("order.note.text", "order.note.text", "null has no key 'text'"),
        ("list[2]", "list[2]", "no item 2 in a list of 2"),
        ("list[-3]", "list[-3]", "no item -3 in a list of 2"),
        ("list.5", "list.5", "no item 5 in a list of 2"),
        ("'abc'[9]", "'abc'[9]", "no item 9 in text of 3"),
        ("order.items[0].nam", "order.items[0].nam", "did you mean 'name'?"),
        ("order.items[list[0]]", "order.items[list[0]]", "no item 1 in a list of 1"),
        ("[x.nam for x in order.items]", "x.nam", "no key 'nam'"),
        ("first(order.items).nam", "first(order.items).nam", "did you mean 'name'?"),
        ("nowhere", "nowhere", "`nowhere` is missing"),
        ("nowhere + 1", "nowhere", "`nowhere` is missing"),
        ("len(nowhere)", "nowhere", "`nowhere` is missing"),
        ("sorted(order.items, 'price')", "sorted(order.items, 'price')", "an item has no 'price'"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(source: str, path: str, words: str) -> None:
    with pytest.raises(ValueMissing) as caught:
        value(source)
    assert caught.value.details["path"] == path
    assert words in caught.value.message
    assert path in caught.value.message


def test_a_key_of_something_that_has_no_keys_is_a_wrong_type_rather_than_a_missing_value() -> None:
    with pytest.raises(ExpressionFailed, match="a number has no keys"):
        value("order.total.amount")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("order.x ?? 5", 5),
        ("order.note ?? 5", 5),
        ("order.total ?? 5", 150),
        ("order.zero ?? 5", 0),
        ("order.empty ?? 5", ""),
        ("a.b.c ?? d.e ?? 'last'", "last"),
        ("a.b.c ?? order.total ?? 'last'", 150),
        ("user.name ?? 'nobody'", "nobody"),
        ("order.total.x ?? 1", 1),
        ("list[9] ?? 0", 0),
        ("list[list[0]] ?? 0", 2),
        ("order.total ?? nowhere", 150),
        ("null ?? 3", 3),
        ("(order.x ?? 1) + 1", 2),
        ("order.x ?? 1 + 1", 2),
        ("order.x ?: 5", 5),
        ("order.zero ?: 5", 5),
        ("order.empty ?: order.total", 150),
        ("order.total ?: 5", 150),
        ("a?.b", None),
        ("order?.x?.y", None),
        ("order?.total", 150),
        ("order?.x.y.z", None),
        ("user?.name ?? 'nobody'", "nobody"),
        ("user?.name == null", True),
        ("order.x == null", True),
        ("order.x != null", False),
        ("x != nil", False),
        ("order.note == null", True),
        ("order.total != nil", True),
        ("null == order.x.y", True),
        ("order.x is null", True),
        ("order.x is not None", False),
        ("exists(order.total)", True),
        ("exists(order.note)", True),
        ("exists(order.x)", False),
        ("exists(a.b.c)", False),
        ("exists(list[1])", True),
        ("exists(list[2])", False),
        ("exists(1)", True),
        ("default(order.x, 'd')", "d"),
        ("default(order.note, 'd')", "d"),
        ("default(order.total, nowhere)", 150),
        ("order.x.default('d')", "d"),
        ("coalesce(a, b.c, order.note, 4)", 4),
        ("coalesce(a, b)", None),
        ("get(order, 'x')", None),
        ("get(order, 'items.0.name')", "Desk"),
        ("get(order, 'items.9.name', 'none')", "none"),
        ("[x.price ?? 0 for x in order.items]", [0]),
        ("[x.price == null for x in order.items]", [True]),
        ("[exists(x.name) for x in order.items]", [True]),
        ("0 < (order.x ?? 5) < 10", True),
    ],
)
def test_null_tolerant_forms_take_it_for_an_answer(source: str, expected: Any) -> None:
    assert value(source) == expected


def test_only_the_last_choice_must_be_there() -> None:
    with pytest.raises(ValueMissing, match="`d` is missing"):
        value("a ?? b.c ?? d")


def test_an_index_inside_a_tolerant_path_is_not_itself_tolerant() -> None:
    with pytest.raises(ValueMissing, match="`nowhere` is missing"):
        value("order[nowhere] ?? 1")


def test_missing_values_are_null_everywhere_under_the_policy_of_gval() -> None:
    lenient = compile_expression("a.b == 'x' or !(a.c == 1)", missing="null")
    assert lenient.evaluate({}) is True
    assert compile_expression("data.flag == true", missing="null").evaluate({"data": {}}) is False
    assert compile_expression("a.b.c", missing="null").evaluate({"a": 1}) is None
    assert lenient is not compile_expression("a.b == 'x' or !(a.c == 1)")


class Lazy(Mapping[str, Any]):
    """An environment that is not a dict."""

    def __init__(self, **values: Any) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


def test_any_mapping_serves_as_environment_and_as_object() -> None:
    env = Lazy(a=Lazy(b=2), c=[1])
    assert value("a.b + c[0]", env) == 3
    assert value("a.x ?? a.b", env) == 2
    assert value("keys(a)", env) == ["b"]
    assert value("json(a)", env) == '{"b":2}'
    with pytest.raises(ValueMissing, match="did you mean 'bb'"):
        value("a.bbb", Lazy(a=Lazy(bb=2)))
