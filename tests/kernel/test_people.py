"""Tasks for people in the kernel: checked before they are accepted, reminded of on a grid, each edge and timer once."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import Conflict, IllegalCommand, InvalidInput, KeyReused, NotFound, TaskClosed, TooMuch
from perdure.kernel.outlook import next_wake, search_attributes
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from perdure.model.statuses import Status
from perdure.model.waits import AwaitSignal, Sleep
from tests.kernel.catalogue import asks, flow
from tests.kernel.rig import Rig, kinds

YES = {"selectedOptions": {"decision": "yes"}}
NO = {"selectedOptions": {"decision": "no"}}


def _asking(edges: str = "s>t t>e", limits: Limits | None = None, **config: Any) -> Rig:
    nodes = {"s": "start", "t": {"type": "ask", **config}, "r": "step", "x": "step", "e": "end"}
    named = {part for edge in edges.split() for part in edge.partition(":")[0].split(">")}
    return Rig(flow({id: given for id, given in nodes.items() if id in named}, edges), limits=limits or Limits())


def test_a_run_that_asks_is_waiting_and_says_what_for() -> None:
    rig = _asking(us=50)
    assert rig.status is Status.WAITING
    assert rig.under_way == set()
    (reason,) = rig.reasons
    assert reason.kind == "person"
    assert reason.text == "t waits for an answer to 'Is order 7 right?' since 1970-01-01T00:00:00.001000Z"
    assert reason.due == rig.now + 50


def test_an_answer_completes_the_node_and_is_its_output() -> None:
    rig = _asking()
    assert kinds(rig.answer("t", by="Ada"))[:2] == ["TaskAnswered", "ActivationCompleted"]
    assert rig.output == YES
    assert rig.state.asking == {}


def test_an_answer_that_does_not_fit_changes_nothing() -> None:
    rig = _asking()
    before = rig.kernel.snapshot(rig.state)
    for response in ({"selectedOptions": {"decision": "perhaps"}}, {"selectedOptions": {}}, {}, None, "yes"):
        with pytest.raises(InvalidInput):
            rig.tell(c.Answer(response))
    assert rig.kernel.snapshot(rig.state) == before


def test_an_answer_that_is_too_large_changes_nothing() -> None:
    rig = _asking(limits=Limits(data=1000))
    with pytest.raises(TooMuch):
        rig.tell(c.Answer({"selectedOptions": {"decision": "yes", "remark": "x" * 1000}}))
    assert rig.status is Status.WAITING


def test_the_same_request_again_is_nothing_and_another_content_under_its_id_is_refused() -> None:
    rig = _asking("s>t t>x")
    rig.answer("t", id="one")
    task = 2
    assert rig.tell(c.Answer(YES, task, id="one")) == []
    with pytest.raises(KeyReused):
        rig.tell(c.Answer(NO, task, id="one"))
    with pytest.raises(TaskClosed):
        rig.tell(c.Answer(NO, task, id="two"))
    with pytest.raises(TaskClosed):
        rig.tell(c.Answer(YES, task, id="two"))


def test_without_an_id_the_last_answer_again_is_nothing() -> None:
    rig = _asking("s>t t>x")
    rig.answer("t")
    assert rig.tell(c.Answer(YES)) == []
    assert rig.tell(c.Answer(YES, node="t")) == []
    with pytest.raises(TaskClosed):
        rig.tell(c.Answer(NO, node="t"))
    with pytest.raises(NotFound):
        rig.tell(c.Answer(YES, node="nobody"))


def test_an_answer_of_the_task_before_is_not_taken_for_a_bad_one_of_this() -> None:
    """J03 where the run has gone on to another view meanwhile."""
    rig = Rig(flow({"s": "start", "t": "ask", "u": "ask", "e": "end"}, "s>t t>u u>e"))
    answer = {"selectedOptions": {"decision": "yes"}}
    rig.tell(c.Answer(answer, node="t"))
    assert rig.tell(c.Answer(answer, node="t")) == []
    assert rig.phase("u") == "person"


def test_which_task_is_meant_must_be_said_where_several_are_open() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 2, "concurrency": 2}, "t": {"type": "ask", "parent": "l"}}
    rig = Rig(flow({**nodes, "e": "end"}, "s>l l>e"))
    with pytest.raises(Conflict, match="2 tasks are open"):
        rig.tell(c.Answer(YES, node="t"))
    rig.answer("t", "no", path="l.1")
    rig.answer("t", "yes", path="l.0")
    assert [each["selectedOptions"]["decision"] for each in rig.output["results"]] == ["yes", "no"]


def test_the_decision_says_the_outcome() -> None:
    rig = _asking("s>t t>r:yes t>x:no r>e x>e", decides=True)
    rig.answer("t", "no")
    assert rig.executing == ["x"]


def test_a_run_that_is_suspended_takes_an_answer_and_goes_on_later() -> None:
    rig = _asking("s>t t>x")
    rig.tell(c.Suspend())
    rig.answer("t")
    assert rig.executing == []
    rig.tell(c.Resume())
    assert rig.executing == ["x"]


def test_a_run_that_is_closing_takes_none() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "t": "ask"}, "s>a s>t"))
    rig.tell(c.Cancel())
    with pytest.raises(IllegalCommand):
        rig.tell(c.Answer(YES))
    assert kinds(rig.signal("t", "late")) == ["SignalReceived"]


def test_when_nobody_answers_in_time_the_timeout_edge_is_taken() -> None:
    rig = _asking("s>t t>e t>x:timeout", us=50)
    rig.wake()
    assert rig.executing == ["x"]
    assert rig.live("x").input["error"]["code"] == "TASK_TIMEOUT"
    with pytest.raises(TaskClosed):
        rig.tell(c.Answer(YES, 2))


def test_without_a_timeout_edge_the_run_fails() -> None:
    rig = _asking(us=50)
    rig.wake()
    assert (rig.status, rig.failure.code) == (Status.FAILED, "TASK_TIMEOUT")


# -- reminders and escalation ---------------------------------------------------------------------------


def test_each_reminder_sends_a_token_while_the_task_stays_open() -> None:
    rig = _asking("s>t t>e t>r:reminder", remind=(10 * SECOND, 5 * SECOND, 3))
    for number in (1, 2, 3):
        rig.wake()
        assert rig.live("r").input["number"] == number
        rig.complete("r")
        assert rig.phase("t") == "person"
    assert next_wake(rig.state) is None
    rig.answer("t")
    assert rig.status is Status.COMPLETED
    assert rig.begun.count("r") == 3
    assert rig.skipped == []  # an edge that was taken does not die as well


def test_reminders_that_were_missed_come_as_one_and_then_keep_to_their_grid() -> None:
    rig = _asking("s>t t>e t>r:reminder", remind=(10 * SECOND, 10 * SECOND, 9))
    opened = rig.now
    rig.tell(c.FireTimers(), after=47 * SECOND)
    assert len(rig.of(e.TaskReminded)) == 1
    assert next_wake(rig.state) == opened + 50 * SECOND


def test_an_edge_that_was_never_taken_dies_once_when_the_task_ends() -> None:
    nodes = {"s": "start", "t": {"type": "ask", "remind": (50,)}, "r": "pass", "e": "end"}
    rig = Rig(flow(nodes, "s>t t>e t>r:reminder r>e"))
    rig.answer("t")
    assert rig.skipped == ["r"]
    assert rig.output == YES


def test_a_join_behind_a_reminder_gets_one_token_of_each_round() -> None:
    """The reminder's token and the answer's meet at a join; further reminders wait for partners that do not come, and
    are settled when nothing can come any more."""
    nodes = {"s": "start", "t": {"type": "ask", "remind": (10, 10, 2)}, "r": "pass", "j": "step", "e": "end"}
    rig = Rig(flow(nodes, "s>t t>r:reminder t>j r>j j>e"))
    rig.wake()
    rig.wake()
    assert rig.executing == []
    rig.answer("t")
    assert rig.live("j").input.keys() == {"t", "r"}
    rig.complete("j")
    rig.complete("j")  # the second reminder, alone
    assert rig.status is Status.COMPLETED


def test_the_escalation_comes_once() -> None:
    rig = _asking("s>t t>e t>x:escalation", escalate=20, us=60)
    rig.wake()
    told = rig.live("x").input
    assert (told["kind"], told["node"], told["title"]) == ("escalation", "t", "Is order 7 right?")
    rig.complete("x")
    assert next_wake(rig.state) == rig.live("t").due
    rig.answer("t")
    assert rig.status is Status.COMPLETED
    assert rig.state.timers == {}


def test_conditions_on_reminder_edges_are_asked_each_time() -> None:
    rig = Rig(
        flow(
            {"s": "start", "t": {"type": "ask", "remind": (10, 10, 3)}, "r": "step", "e": "end"},
            "s>t t>r:reminder t>e",
            whens={"t>r": "data.number == 2"},
        )
    )
    rig.wake()
    assert rig.executing == []
    rig.wake()
    assert rig.executing == ["r"]
    rig.complete("r")
    rig.answer("t")
    assert rig.skipped == []


def test_a_plain_edge_is_not_taken_by_a_reminder() -> None:
    rig = _asking("s>t t>x", remind=(10, 10, 2))
    rig.wake()
    assert rig.executing == []
    assert rig.status is Status.WAITING


def test_an_answer_in_the_same_turn_as_a_timer_finds_the_task_gone_or_wins() -> None:
    rig = _asking("s>t t>e t>x:timeout", us=50)
    rig.tell(c.Answer(YES, 2), c.FireTimers(), after=49)
    assert rig.status is Status.COMPLETED
    assert len(rig.of(e.TimerFired)) == 0


def test_a_task_that_a_rival_has_won_is_withdrawn_with_its_timers() -> None:
    nodes = {"s": "start", "t": {"type": "ask", "us": 90, "remind": (50,), "race": "r"}, "e": "end"}
    rig = Rig(flow({**nodes, "w": {"type": "signal", "name": "go", "race": "r"}}, "s>t s>w t>e w>e"))
    rig.signal("go", 1)
    assert rig.status is Status.COMPLETED
    assert rig.state.timers == {}


def test_tasks_are_found_by_search_attributes_that_follow_from_the_state() -> None:
    rig = _asking(us=50, details={"title": "Refund", "assignees": ["ada"], "candidates": "accounting"})
    found = search_attributes(rig.state)
    line = {"id": 2, "node": "t", "title": "Refund", "opened_at": 1000, "due": 1050}
    assert found == {
        "perdure.waits_for": "person",
        "perdure.tasks": [{**line, "assignees": ["ada"], "candidates": "accounting"}],
    }
    rig.answer("t")
    assert search_attributes(rig.state) == {}


def test_of_long_runs_the_state_stays_small() -> None:
    """Ids of answers are remembered like those of signals; of tasks without ids the last thousand."""
    nodes = {"s": "start", "t": {"type": "ask", "join": "any"}}
    rig = Rig(flow(nodes, "s>t t>t"), checked=False)
    for number in range(50):
        rig.answer("t", id=f"form-{number}")
    assert len(rig.state.answers) == 50
    assert len(rig.state.signal_ids) == 50


# -- waits of handlers --------------------------------------------------------------------------------------


def _step(**node: Any) -> Rig:
    return Rig(flow({"s": "start", "a": {"type": "step", **node}, "u": "step", "e": "end"}, "s>a a>e a>u:timeout"))


def test_a_handler_may_answer_with_a_sleep_and_holds_nothing_meanwhile() -> None:
    rig = _step()
    rig.waits("a", Sleep(rig.now + 50, {"slept": True}))
    assert (rig.status, rig.phase("a")) == (Status.SLEEPING, "sleeping")
    assert rig.under_way == set()
    rig.wake()
    assert rig.output == {"slept": True}


def test_a_handler_may_answer_with_a_question_or_wait_for_a_signal() -> None:
    rig = _step()
    rig.waits("a", asks({"us": 50}, rig.now))
    assert rig.status is Status.WAITING
    rig.answer("a")
    assert rig.output == YES
    rig = _step()
    rig.signal("go", "early")
    rig.waits("a", AwaitSignal("go"))
    assert rig.output == "early"


def test_a_wait_of_a_handler_may_time_out() -> None:
    rig = _step()
    rig.waits("a", AwaitSignal("go", rig.now + 50))
    rig.wake()
    assert rig.live("u").input["error"]["code"] == "SIGNAL_TIMEOUT"


def test_a_report_that_comes_again_after_the_wait_has_begun_changes_nothing() -> None:
    rig = _step()
    rig.waits("a", Sleep(rig.now + 50))
    for late in (c.Complete(2, 1, "again"), c.Complete(2, 1, then=Sleep(rig.now)), c.CancelDone(2)):
        assert rig.tell(late) == []


def test_a_handler_that_answers_with_a_wait_after_it_was_told_to_stop_is_stopped() -> None:
    rig = _step()
    rig.tell(c.Cancel())
    rig.waits("a", Sleep(rig.now + 50))
    assert rig.status is Status.CANCELLED


def test_a_retry_of_the_run_asks_again_what_was_being_asked() -> None:
    nodes = {"s": "start", "a": "step", "t": {"type": "ask", "us": 90, "remind": (50,)}, "r": "step", "e": "end"}
    rig = Rig(flow(nodes, "s>a s>t a>e t>e t>r:reminder"))
    rig.fail("a")
    assert rig.status is Status.FAILED
    rig.tell(c.RetryRun(), after=20)
    assert rig.phase("t") == "person"
    assert sorted(rig.state.timers) == ["a3", "a3/reminder"]
    rig.complete("a")
    rig.answer("t")
    assert rig.status is Status.COMPLETED


def test_a_task_that_failed_the_run_by_its_timeout_is_opened_anew_by_a_retry() -> None:
    rig = _asking("s>t t>e t>r:reminder", us=50, remind=(20,))
    rig.wake()
    rig.complete("r")
    rig.wake()
    assert rig.status is Status.FAILED
    rig.tell(c.RetryRun())
    rig.answer("t")
    assert rig.status is Status.COMPLETED
    assert rig.skipped == []  # its edge had its token before the failure


def test_an_effect_that_waited_when_its_run_was_cancelled_is_undone() -> None:
    undoable = {"type": "step", "compensate": "u", "compensate_on_cancel": True}
    rig = Rig(flow({"s": "start", "a": undoable, "u": "step", "e": "end"}, "s>a a>e"))
    rig.waits("a", Sleep(rig.now + 50))
    rig.tell(c.Cancel())
    assert rig.executing == ["u"]


# -- nodes on demand --------------------------------------------------------------------------------------


def _with_demand(**node: Any) -> Rig:
    nodes = {"s": "start", "t": "ask", "e": "end", "d": {"type": "step", "on_demand": True, **node}}
    return Rig(flow(nodes, "s>t t>e"))


def test_a_node_on_demand_does_not_run_by_itself() -> None:
    rig = _with_demand()
    rig.answer("t")
    assert "d" not in rig.begun
    assert rig.status is Status.COMPLETED


def test_a_node_on_demand_runs_beside_an_open_task_and_leaves_it_alone() -> None:
    rig = _with_demand()
    tokens = rig.state.body.scopes[0].active.copy()
    rig.tell(c.RunNode("d", {"city": "Bern"}, "one"))
    assert rig.live("d").input == {"city": "Bern"}
    assert rig.state.body.scopes[0].outputs["d"] == {"city": "Bern"}
    rig.complete("d", {"sun": True})
    assert rig.state.body.scopes[0].outputs["d"] == {"sun": True}
    assert rig.state.body.scopes[0].active == tokens
    assert (rig.status, rig.phase("t")) == (Status.WAITING, "person")
    rig.answer("t")
    assert rig.output == YES


def test_the_same_request_for_a_node_counts_once() -> None:
    rig = _with_demand()
    rig.tell(c.RunNode("d", 1, "one"))
    assert rig.tell(c.RunNode("d", 1, "one")) == []
    with pytest.raises(KeyReused):
        rig.tell(c.RunNode("d", 2, "one"))


@pytest.mark.parametrize("node", ["t", "nobody"])
def test_a_node_that_is_not_there_to_be_asked_for_is_refused(node: str) -> None:
    rig = _with_demand()
    with pytest.raises(NotFound, match="that can be asked for"):
        rig.tell(c.RunNode(node))


def test_a_node_on_demand_that_fails_fails_only_itself() -> None:
    rig = _with_demand(retry={"attempts": 2, "initial": 1})
    rig.tell(c.RunNode("d"))
    rig.fail("d", retryable=True)
    rig.wake()
    rig.fail("d")
    assert rig.status is Status.WAITING
    rig.answer("t")
    assert rig.status is Status.COMPLETED


def test_a_run_that_completes_waits_for_what_was_asked_of_it() -> None:
    rig = _with_demand()
    rig.tell(c.RunNode("d"))
    rig.answer("t")
    assert rig.state.final is None
    rig.complete("d", "late")
    assert rig.status is Status.COMPLETED
    assert rig.output == YES


def test_a_run_that_is_cancelled_takes_back_what_was_asked_of_it() -> None:
    rig = _with_demand()
    rig.tell(c.RunNode("d"))
    rig.tell(c.Cancel())
    rig.stopped("d")
    assert rig.status is Status.CANCELLED


def test_a_handler_on_demand_may_sleep_and_not_ask() -> None:
    rig = _with_demand()
    rig.tell(c.RunNode("d"))
    rig.waits("d", Sleep(rig.now + 5, "slept"))
    rig.wake()
    assert rig.state.body.scopes[0].outputs["d"] == "slept"
    rig.tell(c.RunNode("d"))
    rig.waits("d", asks({}, rig.now))
    assert [each.failure.code for each in rig.of(e.ActivationFailed)] == ["NOT_HERE"]
    assert rig.status is Status.WAITING
