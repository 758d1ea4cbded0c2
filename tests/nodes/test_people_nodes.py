"""instruction and approval: rows B15, J02, J04."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.dialects.known import NATIVE
from perdure.errors import InvalidInput
from perdure.model import commands as c
from perdure.model.events import TaskOpened, TaskReminded
from perdure.nodes.catalogue import builtin_types
from perdure.testing.pure import PureRunner
from perdure.testing.pure_run import PureRun
from tests.nodes.flows import failure, node, output, row

STATIC = {"tags": {"values": ["ui.static_text"]}}
DAY = 24 * 3600


def asked(config: dict[str, Any], type: str = "instruction", input: Any = None) -> tuple[PureRunner, PureRun]:
    end = {"id": "end", "type": "end", "config": {"output": "${_global}"}}
    runner = PureRunner(row(node(type, config, "show"), end), restart=True)
    run = runner.start(input)
    return runner, run


def answer(runner: PureRunner, run: PureRun, **selected: Any) -> None:
    runner.tell(run, c.Answer({"selectedOptions": selected}))


def test_b15_a_view_has_the_resolved_text_and_the_run_waits() -> None:
    option = {"id": "text", "description": "Order #${input.orderId} of {{customer.name}}", **STATIC}
    _, run = asked({"inputOptions": [option]}, input={"orderId": 123, "customer": {"name": "Ada"}})
    assert run.status == "WAITING"
    (opened,) = run.of(TaskOpened)
    assert opened.view["inputOptions"][0]["description"] == "Order #123 of Ada"


def test_templates_are_resolved_everywhere_in_the_widgets() -> None:
    option = {
        "id": "a",
        "possibleValues": [{"displayValue": "for {{input.n}}", "value": "${input.n}"}],
        "instructions": [{"templateId": "t", "templateVariables": {"n": "${input.n}", "whole": "${input}"}}],
    }
    _, run = asked({"inputOptions": [option]}, input={"n": 7})
    (opened,) = run.of(TaskOpened)
    (made,) = opened.view["inputOptions"]
    assert made["possibleValues"] == [{"displayValue": "for 7", "value": 7}]
    assert made["instructions"][0]["templateVariables"] == {"n": 7, "whole": {"n": 7}}


def test_a_number_in_the_place_of_a_text_is_written_as_text() -> None:
    option = {
        "id": "{{input.x}}",
        "description": "{{input.x}}",
        "possibleValues": [{"displayValue": "${input.yes}", "value": "${input.yes}"}],
        "instructions": [{"templateId": "${input.x}", "templateVariables": {"n": "${input.x}"}}],
    }
    dynamic = {"id": "b", "possibleDynamicValues": "found"}
    given = {"x": 5, "yes": True, "found": [{"displayValue": 1.5, "value": 1.5}, False]}
    _, run = asked({"inputOptions": [option, dynamic]}, input=given)
    (opened,) = run.of(TaskOpened)
    first, second = opened.view["inputOptions"]
    assert (first["id"], first["description"]) == ("5", "5")
    assert first["possibleValues"] == [{"displayValue": "true", "value": True}]
    assert first["instructions"] == [{"templateId": "5", "templateVariables": {"n": 5}}]
    assert [each["displayValue"] for each in second["possibleValues"]] == ["1.5", "false"]


def test_an_object_in_the_place_of_a_text_is_refused() -> None:
    found = failure(node("instruction", {"inputOptions": [{"id": "a", "description": "${input}"}]}), input={"x": 5})
    assert (found.code, found.details["pointer"]) == ("VIEW_INVALID", "/inputOptions/0/description")


def test_values_may_stand_in_the_data() -> None:
    option = {"id": "slot", "tags": {"values": ["ui.dropdown"]}, "possibleDynamicValues": "calendar.free"}
    runner, run = asked({"inputOptions": [option]}, input={"calendar": {"free": ["9:00", "10:00"]}})
    with pytest.raises(InvalidInput):
        answer(runner, run, slot="11:00")
    answer(runner, run, slot="10:00")
    assert run.output["slot"] == "10:00"


def test_what_was_answered_can_be_read_by_both_paths() -> None:
    runner, run = asked({"inputOptions": [{"id": "reason", "tags": {"values": ["ui.free_text"]}}]}, input={"a": 1})
    answer(runner, run, reason="snow")
    assert run.output == {
        "a": 1,
        "start": {"a": 1},
        "reason": "snow",
        "show": {"selectedOptions": {"reason": "snow"}},
        "show:viewResponse": {"selectedOptions": {"reason": "snow"}},
    }


def test_one_that_does_not_wait_gives_its_view() -> None:
    config = {"inputOptions": [{"id": "a", "description": "bye", **STATIC}], "wait": False, "disposition": "DONE"}
    found = output(node("instruction", {**config, "layoutId": "last"}))
    assert found == {
        "view": {"layoutId": "last", "inputOptions": [{"id": "a", "description": "bye", **STATIC}]},
        "disposition": "DONE",
    }


def test_a_view_that_is_none_fails_the_node_and_names_the_place() -> None:
    found = failure(node("instruction", {"inputOptions": [{"id": "a"}, {"id": "${input}"}]}), input="a")
    assert (found.code, found.details["pointer"]) == ("VIEW_INVALID", "/inputOptions/1/id")
    late = failure(node("approval", {"title": "x", "deadline": "${input}"}), input="never")
    assert (late.code, late.details["pointer"]) == ("VIEW_INVALID", "/deadline")


def test_reminders_escalation_and_deadline_come_at_their_times() -> None:
    config = {
        "title": "May it pass?",
        "deadline": "10d",
        "reminder": {"after": "1d", "every": "2d", "count": 3},
        "escalation": {"after": "6d"},
    }
    nodes = [node("start", id="start"), node("approval", config, "ask")]
    nodes += [node("publish", {"type": name, "payload": "${data.number}"}, name) for name in ("remind", "boss", "late")]
    edges = [
        ("start", "ask", None),
        ("ask", "remind", "reminder"),
        ("ask", "boss", "escalation"),
        ("ask", "late", "timeout"),
    ]
    document = {
        "nodes": nodes,
        "edges": [{"source": a, "target": b, **({"outcome": o} if o else {})} for a, b, o in edges],
    }
    document["nodes"][-1]["config"]["payload"] = "${data.error.code}"
    runner = PureRunner(document, restart=True)
    run = runner.run()
    times = {
        (runner_at - run.turns[0][0]) // (DAY * 1_000_000): [type(e).__name__ for e in events]
        for runner_at, events in run.turns
    }
    assert [day for day, events in times.items() if "TaskReminded" in events] == [1, 3, 5, 6]
    assert [each.kind for each in run.of(TaskReminded)] == ["reminder", "reminder", "reminder", "escalation"]
    assert [(each.type, each.payload) for each in run.messages] == [
        ("remind", 1),
        ("remind", 2),
        ("remind", 3),
        ("boss", 1),
        ("late", "TASK_TIMEOUT"),
    ]


def approval(**config: Any) -> tuple[PureRunner, PureRun]:
    nodes = [node("start", id="start"), node("approval", {"title": "Refund?", **config}, "ask")]
    outcomes = ["approved", "rejected"] if "options" not in config else [o["outcome"] for o in config["options"]]
    nodes += [node("end", {"output": name}, name) for name in outcomes]
    edges: list[dict[str, Any]] = [{"source": "start", "target": "ask"}]
    edges += [{"source": "ask", "target": name, "outcome": name} for name in outcomes]
    runner = PureRunner({"nodes": nodes, "edges": edges}, restart=True)
    return runner, runner.start()


@pytest.mark.parametrize(("decision", "found"), [("approve", "approved"), ("reject", "rejected")])
def test_the_decision_says_which_way_it_goes(decision: str, found: str) -> None:
    runner, run = approval()
    answer(runner, run, decision=decision)
    assert run.output == found


def test_a_rejection_may_need_a_comment() -> None:
    runner, run = approval(comment="on_rejection")
    with pytest.raises(InvalidInput) as refused:
        answer(runner, run, decision="reject")
    assert refused.value.pointer == "/selectedOptions/comment"
    answer(runner, run, decision="reject", comment="no")
    assert run.output == "rejected"
    runner, run = approval(comment="on_rejection")
    answer(runner, run, decision="approve")
    assert run.output == "approved"


def test_an_approval_may_have_other_options_and_no_comment() -> None:
    options = [{"value": "a", "outcome": "left"}, {"value": "b", "outcome": "right"}]
    runner, run = approval(options=options, comment="none")
    with pytest.raises(InvalidInput):
        answer(runner, run, decision="approve")
    with pytest.raises(InvalidInput):
        answer(runner, run, decision="a", comment="x")
    answer(runner, run, decision="b")
    assert run.output == "right"


def test_whom_it_concerns_is_told_with_the_task() -> None:
    _, run = approval(assignees=["ada"], candidates=["${run.definition}"], message="because")
    (opened,) = run.of(TaskOpened)
    assert opened.details == {"title": "Refund?", "message": "because", "assignees": ["ada"], "candidates": ["flow"]}


DROPDOWN = {"tags": {"values": ["ui.dropdown"]}}
CHOICE = [{"value": "it"}]


@pytest.mark.parametrize(
    ("options", "places"),
    [
        ([{"id": "a"}, {"id": "a"}], ["/1/id"]),
        ([{"id": "a", "parentId": "b"}], ["/0/parentId"]),
        ([{"id": "a", **DROPDOWN}, {"id": "b", **DROPDOWN, "possibleValues": []}], ["/0", "/1"]),
        ([{"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "c", **DROPDOWN, "possibleValues": CHOICE}], []),
        ([{"id": "${input.a}"}, {"id": "${input.a}"}, {"id": "b", "parentId": "c"}], []),
        ([{"id": "a", **DROPDOWN, "possibleDynamicValues": "x.y"}, {"id": "b", "parentId": "c"}], []),
    ],
)
def test_what_is_wrong_with_a_view_whatever_the_data_is_found_at_save(options: Any, places: list[str]) -> None:
    problems = NATIVE.validate(row(node("instruction", {"inputOptions": options})), builtin_types())
    assert [each.pointer for each in problems] == [f"/nodes/1/config/inputOptions{place}" for place in places]


def test_of_two_that_depend_on_one_another_the_one_that_is_missing_is_asked_for() -> None:
    country = {"id": "country", "tags": {"values": ["ui.dropdown", "ui.required"]}, "possibleValues": CHOICE}
    dependent = {"it": {"possibleValues": [{"value": "rome"}]}}
    city = {"id": "city", **DROPDOWN, "parentId": "country", "possibleDependentValues": dependent}
    runner, run = asked({"inputOptions": [country, city]})
    with pytest.raises(InvalidInput, match="'country' is required"):
        answer(runner, run, city="rome")
