"""set, merge-data, python, publish, sub-flow, continue-as-new, group: rows C15, C16, D11, E17, S01."""

from typing import Any

import pytest

from perdure.engine.handlers import ActivationError, Result
from perdure.model.events import MessagePublished, RunContinued
from perdure.testing.pure import PureRunner, lasting
from tests.nodes.flows import failure, given, node, output, row, run

VARS = node("json", {"data": "${vars}"}, id="look")


def shared(*nodes: dict[str, Any], input: Any = None) -> Any:
    """What `vars` is after these nodes."""
    return output(*nodes, VARS, input=input)["data"]


def test_what_is_set_can_be_read() -> None:
    assert shared(node("set", {"vars": {"a": 1, "b": {"c": "${input.x}"}}}), input={"x": [1]}) == {
        "a": 1,
        "b": {"c": [1]},
    }
    assert output(node("set", {"vars": {"a": 1}}), input="handed on") == "handed on"


def test_a_dotted_name_writes_inside() -> None:
    first = node("set", {"vars": {"order": {"id": 7, "lines": [1]}}}, id="first")
    found = shared(first, node("set", {"vars": {"order.state": "paid", "order.lines.1": 2, "new.deep.er": True}}))
    assert found == {"order": {"id": 7, "lines": [1, 2], "state": "paid"}, "new": {"deep": {"er": True}}}


def test_all_placeholders_read_the_old_values() -> None:
    first = node("set", {"vars": {"a": 1, "b": 2}}, id="first")
    assert shared(first, node("set", {"vars": {"a": "${vars.b}", "b": "${vars.a}"}})) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("replace", {"o": {"y": {"b": 2}}}),
        ("shallow", {"o": {"x": 1, "y": {"b": 2}}}),
        ("deep", {"o": {"x": 1, "y": {"a": 1, "b": 2}}}),
    ],
)
def test_objects_may_be_merged(mode: str, expected: Any) -> None:
    first = node("set", {"vars": {"o": {"x": 1, "y": {"a": 1}}}}, id="first")
    assert shared(first, node("set", {"vars": {"o": {"y": {"b": 2}}}, "merge": mode})) == expected


def test_writing_into_what_has_no_inside() -> None:
    first = node("set", {"vars": {"a": 5}}, id="first")
    assert failure(first, node("set", {"vars": {"a.b": 1}})).code == "SET_INVALID"
    assert (
        failure(node("set", {"vars": {"l": []}}, id="first"), node("set", {"vars": {"l.5": 1}})).code == "SET_INVALID"
    )


def test_an_object_is_merged_whatever_it_holds() -> None:
    first = node("set", {"vars": {"o": {"x": 1}, "p": 1}}, id="first")
    data = {"o": {"y": 2}, "q": 3}
    assert shared(first, node("merge-data", {"data": data})) == {"o": {"y": 2}, "p": 1, "q": 3}
    assert shared(first, node("merge-data", {"data": data, "mode": "deep"})) == {"o": {"x": 1, "y": 2}, "p": 1, "q": 3}
    assert shared(first, node("merge-data", {"data": {"z": 1}, "into": "o"})) == {"o": {"x": 1, "z": 1}, "p": 1}
    assert shared(first, node("merge-data", {"data": {"z": 1}, "into": "r.s"})) == {
        "o": {"x": 1},
        "p": 1,
        "r": {"s": {"z": 1}},
    }
    assert shared(given({"a": 1}), node("merge-data")) == {"a": 1}
    assert failure(given([1]), node("merge-data")).code == "MERGE_INVALID"
    assert failure(first, node("merge-data", {"data": {"a": 1}, "into": "p.x"})).code == "MERGE_INVALID"


def test_a_variable_of_node_2_is_read_in_node_9() -> None:
    nodes = [node("delay", {"milliseconds": 5}, id=f"n{i}") for i in range(3, 9)]
    assert output(node("set", {"vars": {"x": 7}}, id="n2"), *nodes, node("json", {"data": "${vars.x}"}, id="n9")) == {
        "data": 7
    }


# -- python --------------------------------------------------------------------------------------------


def test_a_step_knows_where_it_is() -> None:
    def echo(ctx: Any) -> Any:
        return [ctx.node_id, ctx.config, ctx.input, dict(ctx.vars), ctx.run_id, ctx.namespace, ctx.key, ctx.attempt]

    found = output(
        node("set", {"vars": {"v": 1}}, id="set"),
        node("python", {"step": "echo"}),
        steps={"echo": echo},
        input={"i": 1},
    )
    assert found == ["n", {"step": "echo"}, {"i": 1}, {"v": 1}, "run", "default", "run/n/1", 1]


def test_arguments_are_given_by_name() -> None:
    step = node("python", {"step": "add", "arguments": {"a": "${input.a}", "b": 2}})
    assert output(step, input={"a": 40}, steps={"add": lambda a, b: a + b}) == 42
    assert output(node("python", {"step": "same"}), input=5, steps={"same": lambda value: value}) == 5

    async def later(ctx: Any, a: int) -> int:
        return a + len(ctx.key)

    assert output(node("python", {"step": "later", "arguments": {"a": 1}}), steps={"later": later}) == 8
    wrong = failure(node("python", {"step": "add", "arguments": "${input}"}), input=[1], steps={})
    assert wrong.code == "ARGUMENTS_INVALID"


def test_a_step_chooses_the_way_and_writes_shared_data() -> None:
    document = {
        "nodes": [
            {"id": "start", "type": "start"},
            {"id": "ask", "type": "python", "config": {"step": "ask", "outcomes": ["left", "right"]}},
            node("json", {"data": "${vars.seen}"}, id="l"),
            node("json", {"data": 2}, id="r"),
        ],
        "edges": [
            {"source": "start", "target": "ask"},
            {"source": "ask", "target": "l", "outcome": "left"},
            {"source": "ask", "target": "r", "outcome": "right"},
        ],
    }
    result = PureRunner(document, steps={"ask": lambda ctx: Result(1, "left", {"seen": True})}).run()
    assert (result.trace, result.output) == (["start", "ask", "l"], {"data": True})


def test_a_failure_keeps_what_there_was() -> None:
    def half(ctx: Any) -> Any:
        raise ActivationError("HALF", "no further", output={"done": 1}, details={"why": "because"})

    document = {
        "nodes": [
            {"id": "start", "type": "start"},
            {"id": "n", "type": "python", "config": {"step": "half"}},
            node("json", {"data": "${data}"}, id="mend"),
        ],
        "edges": [{"source": "start", "target": "n"}, {"source": "n", "target": "mend", "outcome": "error"}],
    }
    told = PureRunner(document, steps={"half": half}).run().output["data"]
    assert told["output"] == {"done": 1}
    assert (told["error"]["code"], told["error"]["details"]) == ("HALF", {"why": "because"})


def test_a_step_that_is_not_there() -> None:
    assert failure(node("python", {"step": "nothing"})).code == "NODE_UNKNOWN"


def test_a_step_that_takes_too_long_is_tried_again() -> None:
    slow = node("python", {"step": "slow"}, timeout="1s", retry={"attempts": 2})
    runner = PureRunner(row(slow), steps={"slow": lasting(2, lambda: 1)})
    result = runner.run()
    assert result.failure is not None
    assert result.failure.code == "TIMEOUT"
    assert [call.attempt for call in runner.calls] == [1, 2]


# -- the others ----------------------------------------------------------------------------------------


def test_messages() -> None:
    config = {"type": "order.{{input.state}}", "payload": {"id": "${input.id}"}, "key": "${input.id}"}
    result = run(node("publish", config), node("publish", {"type": "plain"}, id="m"), input={"id": 7, "state": "paid"})
    assert result.messages == [
        MessagePublished("order.paid", {"id": 7}, "7"),
        MessagePublished("plain", {"id": 7, "state": "paid"}, None),
    ]
    assert result.output == {"id": 7, "state": "paid"}
    assert failure(node("publish", {"type": "${input.t}"}), input={"t": [5]}).code == "MESSAGE_INVALID"


@pytest.mark.parametrize("field", ["type", "key"])
def test_a_message_whose_type_or_key_not_every_store_can_keep_is_not_published(field: str) -> None:
    config = {"type": "t", field: "${base64_decode('AA==')}"}
    assert failure(node("publish", config)).code == "MESSAGE_INVALID"


def test_the_type_of_a_message_may_be_a_number() -> None:
    result = run(node("publish", {"type": "${input.t}", "key": "${input.k}"}), input={"t": 5, "k": True})
    assert [(message.type, message.key) for message in result.messages] == [("5", "true")]


def test_a_message_of_a_completion_node_is_published_too() -> None:
    after = node("publish", {"type": "ended", "payload": "${data.status}"}, id="tell")
    document = row(node("json", {"data": 1}))
    document["nodes"].append(after)
    result = PureRunner({**document, "settings": {"after": ["tell"]}}).run()
    assert result.status == "COMPLETED"
    assert result.messages == [MessagePublished("ended", "COMPLETED")]


CHILD = row(node("json", {"data": "${input.n * 2}"}), node("end", {"output": "${data.data}"}, id="end"))


def test_a_sub_flow_gives_its_result() -> None:
    call = node("sub-flow", {"definition": "double", "input": {"n": "${input.x}"}})
    assert output(call, input={"x": 21}, children={"double": CHILD}) == 42
    assert output(node("sub-flow", {"definition": "double"}), input={"n": 4}, children={"double": CHILD}) == 8
    named = node("sub-flow", {"definition": "${input.which}", "input": {"n": 1}})
    assert output(named, input={"which": "double"}, children={"double": CHILD}) == 2


def test_a_sub_flow_that_fails_or_is_not_there() -> None:
    wrong = failure(node("sub-flow", {"definition": "c"}), children={"c": row(node("fail", {"code": "X"}))})
    assert wrong.code == "CHILD_FAILED"
    assert wrong.details["failure"]["code"] == "X"
    assert failure(node("sub-flow", {"definition": "nothing"})).code == "CHILD_FAILED"


def test_a_sub_flow_need_not_be_waited_for() -> None:
    call = node("sub-flow", {"definition": "c", "wait": False, "on_parent_close": "abandon"})
    runner = PureRunner(row(call), children={"c": row(node("sleep", {"duration": "1d"}))})
    result = runner.run()
    [child] = [each for each in runner.runs.values() if each.id != "run"]
    assert result.output == {"run": child.id}
    assert (result.status, child.status) == ("COMPLETED", "COMPLETED")


def test_a_flow_that_calls_itself_ends_at_a_limit() -> None:
    document = row(node("sub-flow", {"definition": "flow"}))
    result = PureRunner(document).run()
    assert result.status == "FAILED"
    assert "LIMIT_CHILD_DEPTH" in str(result.failure)


def test_beginning_anew() -> None:
    document = {
        "nodes": [
            {"id": "start", "type": "start"},
            node("conditional", {"condition": "input.page < 3"}, id="more"),
            node("continue-as-new", {"input": {"page": "${input.page + 1}"}}, id="next"),
            node("end", {"output": "${input.page}"}, id="end"),
        ],
        "edges": [
            {"source": "start", "target": "more"},
            {"source": "more", "target": "next", "outcome": "true"},
            {"source": "more", "target": "end", "outcome": "false"},
        ],
    }
    result = PureRunner(document, restart=True).run({"page": 1})
    assert (result.status, result.output) == ("COMPLETED", 3)
    assert [each.input for each in result.of(RunContinued)] == [{"page": 2}, {"page": 3}]


def test_a_group_is_one_node() -> None:
    found = output(
        node("group", id="g"),
        node("json", {"data": "${data.x + 1}"}, id="a", parent="g"),
        node("end", {"output": "${data.data * 2}"}, id="b", parent="g"),
        input={"x": 1},
    )
    assert found == 4


def test_a_failure_that_ends_the_run_is_nobodys_care() -> None:
    caught = node("json", {"data": 1}, id="caught")
    wrong = node("fail", {"code": "ENOUGH", "message": "no more", "terminate": True}, id="wrong")
    document = row(wrong, settings={"on_failure": "caught"})
    document["nodes"].append(caught)
    document["edges"].append({"source": "wrong", "target": "caught", "outcome": "error"})
    result = PureRunner(document, restart=True).run()
    assert result.status == "FAILED"
    assert result.failure is not None
    assert (result.failure.code, result.failure.node) == ("ENOUGH", "wrong")
    assert "caught" not in result.trace


def test_a_step_may_show_something_beside_its_output() -> None:
    def work(value: Any) -> Result:
        return Result("output", beside={"raw": {"a": value}})

    shows = node("python", {"step": "work", "arguments": {"value": 1}}, id="work")
    look = node("json", {"data": ["${nodes.work.output}", '${_global["work:raw"].a}']})
    assert output(shows, look, steps={"work": work})["data"] == ["output", 1]
