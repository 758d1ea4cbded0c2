"""Compiled once, used often."""

import threading
from typing import Any

import pytest

import perdure.expressions
from perdure.errors import ExpressionSyntax
from perdure.expressions import Limits, cache_info, compile_expression, compile_template


def test_ten_thousand_evaluations_compile_once() -> None:
    """B14."""
    source = "order.total > 1000 and 'only here' != ''"
    before = cache_info()
    for number in range(10_000):
        assert compile_expression(source).evaluate({"order": {"total": number}}) is (number > 1000)
    after = cache_info()
    assert after.misses - before.misses == 1
    assert after.hits - before.hits == 9_999


def test_templates_share_the_expressions_in_them() -> None:
    source = "${'only in this template' + a}"
    compile_template({"x": [source, source + "!"], "y": source})
    before = cache_info()
    compile_template({"x": [source], "z": source + "?"})
    assert cache_info().misses == before.misses


def test_the_same_text_under_other_limits_is_another_expression() -> None:
    assert compile_expression("1 + 1") is compile_expression("1 + 1", limits=Limits())
    assert compile_expression("1 + 1") is not compile_expression("1 + 1", limits=Limits(steps=5))
    assert compile_template("${1}") is compile_template("${1}")


def test_the_cache_is_bounded_and_mistakes_are_not_kept() -> None:
    size = cache_info().currsize
    for _ in range(3):
        with pytest.raises(ExpressionSyntax):
            compile_expression("1 + + * 2")
    assert cache_info().currsize == size
    assert cache_info().maxsize == 4096
    long = "x" * 100_000 + "${a}"
    assert compile_template(long) is not compile_template(long)


def test_an_expression_may_be_evaluated_by_many_threads_at_once() -> None:
    expression = compile_expression("sum(x * factor for x in range(200)) + len([y for y in xs if y > 2])")
    results: dict[int, Any] = {}

    def work(factor: int) -> None:
        results[factor] = [expression.evaluate({"factor": factor, "xs": [1, 2, 3]}) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == {factor: [19_900 * factor + 1] * 50 for factor in range(8)}


def test_the_public_names_are_these() -> None:
    assert set(perdure.expressions.__all__) == {
        "DEFAULT_LIMITS", "MISSING", "MISSING_POLICIES", "MODES", "CacheInfo", "Env", "Escape", "Expression", "Json",
        "Limits", "MissingPolicy", "Mode", "Path", "Problem", "Template", "cache_info", "check_expression",
        "check_template", "compile_expression", "compile_template", "find_cycle", "resolve_variables",
    }  # fmt: skip
