"""The hot path. Costs are compared with hand-written Python on the same machine, so that a slow one does not fail."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from perdure.expressions import compile_expression, compile_template

pytestmark = pytest.mark.serial

ENV: dict[str, Any] = {
    "order": {"total": 150, "status": "PAID", "id": 7, "items": [{"price": 1.5, "n": 2}] * 10},
    "limit": 100,
    "user": {"tier": "silver", "name": "Ada"},
}


def condition(env: dict[str, Any]) -> Any:
    return env["order"]["total"] > env["limit"] and env["user"]["tier"] in ("gold", "silver")


def paid(env: dict[str, Any]) -> Any:
    return condition(env) and env["order"]["status"] == "PAID"


def path(env: dict[str, Any]) -> Any:
    return env["order"]["total"]


def arithmetic(env: dict[str, Any]) -> Any:
    return env["order"]["total"] * 2 + env["limit"]


def total(env: dict[str, Any]) -> Any:
    return sum([item["price"] * item["n"] for item in env["order"]["items"]])


def text(env: dict[str, Any]) -> Any:
    return f"Order #{env['order']['id']} for {env['user']['name']}"


def fastest(function: Callable[[Any], Any], rounds: int = 5, calls: int = 5_000) -> float:
    """Microseconds per call, the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            function(ENV)
        best = min(best, time.thread_time() - start)
    return best / calls * 1e6


@pytest.mark.parametrize(
    ("source", "twin", "factor"),
    [
        ("order.total > limit and user.tier in ('gold', 'silver')", condition, 8),
        ("order.total > limit && user.tier in ('gold', 'silver') && order.status === 'PAID'", paid, 8),
        ("order.total", path, 8),
        ("order.total * 2 + limit", arithmetic, 15),
        ("sum(x.price * x.n for x in order.items)", total, 15),
    ],
)
def test_an_expression_costs_a_small_multiple_of_python(
    source: str, twin: Callable[[Any], Any], factor: float, record_property: Callable[[str, object], None]
) -> None:
    evaluate = compile_expression(source).evaluate
    assert evaluate(ENV) == twin(ENV)
    ours, theirs = fastest(evaluate), fastest(twin)
    record_property("microseconds", round(ours, 3))
    print(f"\n{ours:6.3f} us, {ours / theirs:4.1f} x Python: {source}")  # noqa: T201
    assert ours <= theirs * factor + 0.05


USUAL = 0.15
"""Microseconds that `paid` takes where the promise was measured: two idle cores of 2024."""


def test_a_hot_condition_takes_at_most_two_microseconds() -> None:
    """From its text, which is compiled once; on a machine that is slower by some factor, as many times more."""
    source = "order.total > limit and user.tier in ('gold', 'silver') and order.status == 'PAID'"
    found, floor = fastest(lambda env: compile_expression(source).evaluate(env)), fastest(paid)
    print(f"\n{found:6.3f} us for a hot condition; Python by hand {floor:6.3f} us")  # noqa: T201
    assert found <= 2.0 * max(1.0, floor / USUAL)


@pytest.mark.parametrize(
    ("source", "twin", "factor"),
    [("${order.total}", path, 12), ("Order #${order.id} for {{user.name}}", text, 80)],
)
def test_a_template_costs_a_multiple_of_python(source: str, twin: Callable[[Any], Any], factor: float) -> None:
    resolve = compile_template(source).resolve
    assert resolve(ENV) == twin(ENV)
    ours, theirs = fastest(resolve), fastest(twin)
    print(f"\n{ours:6.3f} us, {ours / theirs:4.1f} x Python: {source}")  # noqa: T201
    assert ours <= theirs * factor + 0.05


def test_the_size_of_the_environment_costs_nothing() -> None:
    large = {**ENV, "more": {f"key {number}": list(range(100)) for number in range(1000)}}
    evaluate = compile_expression("order.total > limit and user.tier in ('gold', 'silver')").evaluate
    small = fastest(evaluate)
    assert fastest(lambda _: evaluate(large)) < small * 3 + 0.2


def test_looking_up_a_compiled_expression_is_cheap() -> None:
    source = "order.total > limit and user.tier in ('gold', 'silver')"
    direct = fastest(compile_expression(source).evaluate)
    assert fastest(lambda env: compile_expression(source).evaluate(env)) < direct * 8 + 0.5
