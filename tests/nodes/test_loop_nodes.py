"""loop and loop-accumulator: rows C10, C11, D13, E13, E14."""

from typing import Any

import pytest

from perdure.errors import DocumentInvalid
from perdure.model.events import IterationStarted
from perdure.model.policies import Limits
from perdure.testing.pure import PureRunner, lasting
from tests.nodes.flows import failure, give, given, node, output, row, run


def loop(config: dict[str, Any] | None = None, id: str = "l", type: str = "loop", **rest: Any) -> dict[str, Any]:
    return node(type, config, id=id, **rest)


def body(value: Any, id: str = "b", parent: str = "l") -> dict[str, Any]:
    return node("end", {"output": value}, id=id, parent=parent)


PAIR = body(["${index}", "${item}"])


@pytest.mark.parametrize(
    ("config", "before", "expected"),
    [
        ({"items": "data.users"}, {"users": ["a", "b"]}, [[0, "a"], [1, "b"]]),
        ({"items": "${data}"}, ["x"], [[0, "x"]]),
        ({"items": [5, "${data.n}"]}, {"n": 6}, [[0, 5], [1, 6]]),
        ({"items": "[n * n for n in data]"}, [1, 2, 3], [[0, 1], [1, 4], [2, 9]]),
        ({"items": []}, None, []),
        ({}, ["x"], [[0, "x"]]),
        ({}, {"data": ["x"]}, [[0, "x"]]),
        ({}, {"items": ["x"]}, [[0, "x"]]),
        ({"arrayPath": ""}, {"data": ["x"], "items": ["y"]}, [[0, "x"]]),
        ({"arrayPath": "rows"}, {"rows": ["x"]}, [[0, "x"]]),
        ({"arrayPath": "input.rows"}, {"rows": ["x"]}, [[0, "x"]]),
        ({"arrayPath": "rows"}, {"data": {"rows": ["x"]}}, [[0, "x"]]),
        ({"arrayPath": "data.rows.0"}, {"data": {"rows": [["x"]]}}, [[0, "x"]]),
        ({"range": {"stop": 3}}, None, [[0, 0], [1, 1], [2, 2]]),
        ({"range": {"start": 10, "stop": 0, "step": -5}}, None, [[0, 10], [1, 5]]),
        ({"range": {"start": "${data.a}", "stop": "${data.b}", "step": 2}}, {"a": 1, "b": 6}, [[0, 1], [1, 3], [2, 5]]),
        ({"range": {"start": 5, "stop": 5}}, None, []),
        ({"range": {"start": 5, "stop": 1}}, None, []),
    ],
)
def test_where_items_come_from(config: dict[str, Any], before: Any, expected: Any) -> None:
    assert output(given(before), loop(config), PAIR) == {"count": len(expected), "results": expected}


@pytest.mark.parametrize(
    ("config", "before"),
    [
        ({"items": "data"}, "text"),
        ({"items": "data"}, {"a": 1}),
        ({"items": "data"}, None),
        ({"items": "data"}, 5),
        ({}, {"data": 5}),
        ({"arrayPath": "rows"}, {"row": []}),
        ({"range": {"stop": "${data}"}}, "3"),
        ({"range": {"stop": "${data}"}}, 1.5),
        ({"range": {"stop": 3, "step": "${data}"}}, 0),
        ({"range": {"stop": "${data}"}}, 2**60),
        ({"items": [1], "need": "data"}, 0),
        ({"items": [1], "need": "data"}, "many"),
        ({"items": "data"}, {"$chunks": [{"blob": 5}]}),
        ({"items": "data"}, {"$chunks": "x"}),
    ],
)
def test_what_cannot_be_looped_over(config: dict[str, Any], before: Any) -> None:
    assert failure(given(before), loop(config), PAIR).code == "LOOP_ITEMS_INVALID"


def test_the_body_of_an_empty_loop_never_runs() -> None:
    result = run(loop({"items": []}), PAIR, node("json", {"data": "${data.count}"}, id="after"))
    assert result.trace == ["start", "l", "after"]
    assert result.output == {"data": 0}


def test_names_can_be_chosen() -> None:
    config = {"items": ["a", "b"], "itemVariable": "row", "indexVariable": "i", "results": "rows", "count": "n"}
    assert output(loop(config), body("${row}${i}")) == {"n": 2, "rows": ["a0", "b1"]}


def test_the_body_is_given_the_item_and_its_number() -> None:
    assert output(loop({"items": ["a"]}), body("${data}")) == {"count": 1, "results": [{"index": 0, "item": "a"}]}


def test_inner_loops_see_both_and_the_outer_is_itself_again() -> None:
    found = output(
        loop({"items": ["a", "b"], "item": "row"}),
        loop({"range": {"stop": 2}, "item": "col"}, id="m", parent="l"),
        body("${row}${col}", id="inner", parent="m"),
        body("${row}: ${data.results}", id="outer", parent="l"),
    )
    assert found == {"count": 2, "results": ['a: ["a0","a1"]', 'b: ["b0","b1"]']}


def test_results_stand_in_the_order_of_the_items_whatever_order_they_came_in() -> None:
    for seed in range(5):
        work = {"work": lasting(1, give)}
        step = node("python", {"step": "work", "arguments": {"value": "${item}"}}, id="b", parent="l")
        config = {"range": {"stop": 20}, "concurrency": 7}
        result = run(loop(config, type="loop-accumulator"), step, steps=work, shuffle=seed)
        assert result.output == {"count": 20, "results": list(range(20))}


def test_no_more_run_at_a_time_than_allowed() -> None:
    for concurrency, seconds in ((1, 6), (2, 3), (3, 2), (100, 1)):
        step = node("python", {"step": "work", "arguments": {"value": 1}}, id="b", parent="l")
        document = row(loop({"range": {"stop": 6}, "concurrency": concurrency}), step)
        runner = PureRunner(document, steps={"work": lasting(1, give)})
        began = runner.now
        runner.run()
        assert runner.now - began == seconds * 1_000_000


def test_the_body_reads_the_results_so_far() -> None:
    config = {"items": [1, 2, 3, 4], "accumulatorVariable": "sums"}
    found = output(loop(config, type="loop-accumulator"), body("${item + (sums[-1] if sums else 0)}"))
    assert found["results"] == [1, 3, 6, 10]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"on_item_failure": "skip"}, {"count": 2, "failed": 1, "results": [1, 3]}),
        ({"errorHandling": "skip"}, {"count": 2, "failed": 1, "results": [1, 3]}),
        ({"on_item_failure": "null"}, {"count": 2, "failed": 1, "results": [1, None, 3]}),
        ({"on_item_failure": "skip", "accumulate": "last"}, {"count": 2, "failed": 1, "results": 3}),
        ({"on_item_failure": "skip", "accumulate": "none"}, {"count": 2, "failed": 1}),
    ],
)
def test_items_that_fail(config: dict[str, Any], expected: Any) -> None:
    def odd(value: int) -> int:
        if value == 2:
            raise ValueError("no")
        return value

    step = node("python", {"step": "odd", "arguments": {"value": "${item}"}}, id="b", parent="l")
    assert output(loop({"items": [1, 2, 3], **config}), step, steps={"odd": odd}) == expected
    assert failure(loop({"items": [1, 2, 3]}), step, steps={"odd": odd}).node == "b"


def test_a_loop_may_have_enough() -> None:
    assert output(loop({"items": [1, 2, 3], "need": 2}), body("${item}"))["results"] == [1, 2]
    assert output(loop({"items": [1, 2, 3], "need": "data.n"}), body("${item}"), input={"n": 1})["results"] == [1]
    assert output(loop({"items": [1, 2, 3], "enough": "result == 2"}), body("${item}"))["results"] == [1, 2]
    assert output(loop({"items": [1, 2, 3], "enough": "sum(results) > 2"}), body("${item}"))["count"] == 2


def test_items_are_added_while_it_runs() -> None:
    signals = [(1, "more", "a"), (2, "more", ["b", "c"]), (3, "more", None), (4, "more", "too late")]
    assert output(loop({"add_signal": "more"}), body("${item}"), signals=signals)["results"] == ["a", "b", "c"]
    started = output(loop({"items": ["z"], "add_signal": "more"}), body("${item}"), signals=signals)
    assert started["results"] == ["z", "a", "b", "c"]


def test_a_signal_ends_it_with_what_it_has() -> None:
    step = node("python", {"step": "work", "arguments": {"value": "${item}"}}, id="b", parent="l")
    config = {"items": [1, 2, 3, 4], "close_signal": "enough"}
    result = run(loop(config), step, steps={"work": lasting(10, give)}, signals=[(25, "enough", None)])
    assert result.output == {"count": 2, "results": [1, 2]}


def test_limits_have_codes_of_their_own() -> None:
    two = loop({"items": [1, 2]})
    assert failure(loop({"items": [1, 2, 3], "max_iterations": 2}), PAIR).code == "LIMIT_ITERATIONS"
    assert failure(two, PAIR, limits=Limits(iterations=1)).code == "LIMIT_ITERATIONS"
    assert failure(two, body("x" * 500), limits=Limits(accumulator=900)).code == "LIMIT_ACCUMULATOR"
    assert failure(two, body(1), limits=Limits(activations=3)).code == "LIMIT_ACTIVATIONS"
    assert failure(loop({"range": {"stop": 10**9}}), PAIR).code == "LIMIT_ITERATIONS"
    inner = loop({"items": [1]}, id="m", parent="l")
    assert failure(two, inner, body(1, parent="m"), limits=Limits(depth=1)).code == "LIMIT_DEPTH"


def test_six_deep_is_refused_at_save() -> None:
    loops = [loop({"items": [1]}, id=f"l{i}", **({"parent": f"l{i - 1}"} if i else {})) for i in range(6)]
    with pytest.raises(DocumentInvalid, match="LOOP_TOO_DEEP"):
        run(*loops, body(1, parent="l5"))
    assert output(*loops[:5], body(1, parent="l4"))["count"] == 1


def test_each_iteration_has_a_trace_and_keys_of_its_own() -> None:
    step = node("python", {"step": "give", "arguments": {"value": 1}}, id="b", parent="l")
    runner = PureRunner(row(loop({"items": ["x", "y"]}), step), steps={"give": give})
    result = runner.run()
    assert [each.index for each in result.of(IterationStarted)] == [0, 1]
    assert [call.key for call in runner.calls] == ["run/b/l.0/1", "run/b/l.1/1"]


def test_a_long_list_of_results_can_be_looped_over_again() -> None:
    first = loop({"range": {"stop": 700}})
    long = body("${item}" + "x" * 1000)
    second = loop({"items": "nodes.l.output.results"}, id="m")
    result = run(first, long, second, body("${len(item)}", id="c", parent="m"), check="end")
    assert "$chunks" in result.outputs["l"]["results"]
    assert result.output["count"] == 700
    assert result.output["results"][:2] == [1001, 1001]


def test_a_pause_between_iterations_is_a_timer_and_holds_nothing() -> None:
    runner = PureRunner(
        row(
            node("loop", {"items": [1, 2, 3], "pause": "10s"}, "l"), node("json", {"data": "${item}"}, "b", parent="l")
        ),
        restart=True,
    )
    began = runner.now
    run = runner.start()
    assert run.status == "SLEEPING"
    runner.go()
    assert run.status == "COMPLETED"
    assert runner.now - began == 20_000_000
    assert run.output["count"] == 3


def test_only_what_reaches_an_end_is_a_result_and_nulls_are_left_out() -> None:
    body = [
        node("conditional", {"condition": "item % 2 == 0", "output": "input"}, "even", parent="l"),
        node("json", {"data": "${item}"}, "kept", parent="l"),
        node("end", {}, "e", parent="l"),
        node("json", {"data": "dropped"}, "odd", parent="l"),
    ]
    loop = node("loop", {"items": [1, 2, 3, 4], "results_from": "ends", "skip_null": True, "unwrap": True}, "l")
    document = row(loop)
    document["nodes"] += [{**each, "config": {**each["config"]}} for each in body]
    document["nodes"][-1]["config"]["data"] = '"dropped"'
    document["edges"] += [
        {"source": "even", "target": "kept", "outcome": "true"},
        {"source": "even", "target": "odd", "outcome": "false"},
        {"source": "kept", "target": "e"},
    ]
    run = PureRunner(document, restart=True).run()
    assert run.status == "COMPLETED", run.failure
    assert run.output["results"] == [2, 4]


def test_a_path_that_leads_nowhere_in_the_input_is_looked_for_in_what_is_given_besides() -> None:
    given_besides = {"arrayPath": "order.lines", "also": {"order": {"lines": ["a", "b"]}}}
    assert output(node("loop", given_besides, "l"), node("json", {"data": "${item}"}, "b", parent="l"))["count"] == 2
