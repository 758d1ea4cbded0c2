"""Which answers count, for what, and how long they are remembered."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import InvalidInput, NotFound, TaskClosed
from perdure.kernel.tasks import REMEMBERED_ANSWERS
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.answers import check_answer, selections
from perdure.model.statuses import Status
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig

YES = {"selectedOptions": {"decision": "yes"}}
NO = {"selectedOptions": {"decision": "no"}}
TEXT = {"id": "text", "description": "Read this", "tags": {"values": ["ui.static_text"]}}
WORDS = {"id": "words", "tags": {"values": ["ui.free_text", "ui.required"]}}


def test_what_is_said_to_a_text_is_no_selection() -> None:
    said = {"selectedOptions": {"text": "read", "params": {"x": 1}, "customer": None}}
    check_answer({"inputOptions": [TEXT]}, said)
    assert selections({"inputOptions": [TEXT]}, said) == {}
    assert selections({"inputOptions": [TEXT, WORDS]}, {"selectedOptions": {"words": "a", "text": None}}) == {
        "words": "a"
    }


def test_a_widget_that_another_leads_to_counts_when_it_is_shown() -> None:
    reason = {"id": "reason", "possibleDependentValues": {"late": WORDS}, "possibleValues": [{"value": "late"}]}
    said = {"selectedOptions": {"reason": "late", "words": "much"}}
    assert selections({"inputOptions": [reason]}, said) == said["selectedOptions"]


@pytest.mark.parametrize("given", ["", "   ", "\t\n", None])
def test_blanks_are_no_answer_to_what_is_required(given: Any) -> None:
    with pytest.raises(InvalidInput, match="'words' is required"):
        check_answer({"inputOptions": [WORDS]}, {"selectedOptions": {"words": given}})


def _in_a_map() -> Rig:
    nodes = {"s": "start", "l": {"type": "loop", "items": ["A", "B", "C"], "concurrency": 3}}
    inner = {"t": {"type": "ask", "parent": "l"}, "w": {"type": "step", "parent": "l"}}
    read = {"o": {"type": "expr", "expr": "_global.decision", "parent": "l"}}
    return Rig(flow({**nodes, **inner, **read, "e": "end"}, "s>l l>e t>w w>o"))


def test_iterations_read_their_own_selections() -> None:
    rig = _in_a_map()
    tasks = [id for of_node in rig.state.asking.values() for id in of_node]
    for id, said in zip(tasks, ("yes", "no", "yes"), strict=True):
        rig.tell(c.Answer({"selectedOptions": {"decision": said}}, id))
    for index in range(3):
        rig.complete("w", path=f"l.{index}")
    assert rig.output["results"] == ["yes", "no", "yes"]


def test_each_of_several_answers_again_is_nothing_and_another_one_is_refused() -> None:
    rig = _in_a_map()
    tasks = [id for of_node in rig.state.asking.values() for id in of_node]
    said = dict(zip(tasks, (YES, NO, YES), strict=True))
    for id, response in said.items():
        rig.tell(c.Answer(response, id))
    for id, response in said.items():
        assert rig.tell(c.Answer(response, id)) == []
        other = NO if response == YES else YES
        with pytest.raises(TaskClosed, match="and not like this"):
            rig.tell(c.Answer(other, id))
        with pytest.raises(TaskClosed, match="by another request"):
            rig.tell(c.Answer(response, id, id="mine"))
    assert len(rig.of(e.TaskAnswered)) == 3


def test_the_last_thousand_answers_are_remembered() -> None:
    nodes = {"s": "start", "t": {"type": "ask", "join": "any"}}
    rig = Rig(flow(nodes, "s>t t>t"), checked=False)
    for _ in range(REMEMBERED_ANSWERS + 2):
        rig.answer("t")
    first, *_, last = (event.activation for event in rig.of(e.TaskAnswered))
    assert len(rig.state.answers) == REMEMBERED_ANSWERS
    assert rig.tell(c.Answer(YES, last)) == []
    with pytest.raises(TaskClosed, match="it was answered, its time was up, or it was withdrawn"):
        rig.tell(c.Answer(YES, first))


def test_the_deadline_decides_also_where_its_timer_is_late() -> None:
    nodes = {"s": "start", "t": {"type": "ask", "us": 50}, "x": "step", "e": "end"}
    rig = Rig(flow(nodes, "s>t t>e t>x:timeout"))
    with pytest.raises(TaskClosed, match="the time for the task of t is up"):
        rig.tell(c.Answer(YES), after=50)
    rig.tell(c.FireTimers())
    assert rig.executing == ["x"]


def test_the_deadline_decides_also_while_the_run_is_suspended() -> None:
    nodes = {"s": "start", "t": {"type": "ask", "us": 50}, "e": "end"}
    rig = Rig(flow(nodes, "s>t t>e"))
    rig.tell(c.Suspend())
    with pytest.raises(TaskClosed):
        rig.tell(c.Answer(YES), after=60)
    rig.tell(c.Resume())
    rig.tell(c.FireTimers())
    assert rig.failure.code == "TASK_TIMEOUT"


def test_an_answer_a_moment_before_the_deadline_counts() -> None:
    rig = Rig(flow({"s": "start", "t": {"type": "ask", "us": 50}, "e": "end"}, "s>t t>e"))
    rig.tell(c.Answer(YES), after=49)
    assert rig.status is Status.COMPLETED


def test_a_run_that_never_asked_says_so() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    with pytest.raises(NotFound):
        rig.tell(c.Answer(YES))
