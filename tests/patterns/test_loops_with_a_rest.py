"""Loops that have enough before all their items are done: the rest goes on unheeded, or is withdrawn."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.model import commands as c
from perdure.model import events as e
from perdure.testing.pure import PureRunner
from tests.patterns.drawing import STEP, draw, play
from tests.patterns.harness import StandIn, Story

SIGNAL = {"type": "wait-for-signal"}


def looping(then: str = "", **loop: Any) -> dict[str, Any]:
    given = {"type": "loop", "items": [10, 20, 30], "concurrency": 3, "cancel_rest": False} | loop
    return draw(
        {"each": given, "work": STEP | {"parent": "each", "arguments": {"n": "${item}"}}, "next": STEP},
        f"start>each>next>end {then}",
    )


def ends(story: Story, *nodes: str) -> list[str | None]:
    return [fact.end for fact in story.of(*nodes)]


def test_results_come_in_the_order_of_the_items_whoever_was_first() -> None:
    story = play(looping(need=2), {"work": {"seconds": [9, 3, 1]}})
    assert story.run.outputs["each"] == {"count": 2, "results": [{"n": 20}, {"n": 30}]}
    assert [fact.began for fact in story.completed("next")] == [3]
    assert story.run.state.body.scopes[0].total == 0


@pytest.mark.parametrize("cancel_rest", [True, False])
def test_only_the_last_result_is_kept_if_so_wished(cancel_rest: bool) -> None:
    story = play(looping(need=2, accumulate="last", cancel_rest=cancel_rest), {"work": {"seconds": [9, 3, 1]}})
    assert story.run.outputs["each"] == {"count": 2, "results": {"n": 30}}


def test_no_item_is_begun_once_there_is_enough() -> None:
    story = play(looping(need=1, concurrency=2), {"work": {"seconds": [1, 4]}})
    assert [fact.label for fact in story.of("work")] == ["work[0]", "work[1]"]
    assert ends(story, "work") == ["completes", "completes"]


def test_a_failure_in_the_rest_does_no_harm() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2, "need": 1, "cancel_rest": False},
            "work": STEP | {"parent": "each"},
            "ok": {"type": "conditional", "condition": "item == 1", "parent": "each"},
            "bad": {"type": "fail", "parent": "each"},
        },
        "start>each>end work>ok>bad:false",
    )
    story = play(document, {"work": {"seconds": [1, 5]}})
    assert ends(story, "bad") == ["is skipped", "fails"]
    assert story.run.status == "COMPLETED"
    assert story.run.output["count"] == 1


def test_the_rest_can_be_withdrawn_later_and_the_result_stays() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2, "need": 1, "cancel_rest": False},
            "work": STEP | {"parent": "each"},
            "next": STEP,
            "stop": SIGNAL | {"name": "stop", "cancels": ["each"]},
        },
        "start>each>next>end start>stop>end",
    )
    story = play(document, {"work": {"seconds": [1, 60]}}, signals=[(5, "stop", None)], slow={"work": 2})
    assert ends(story, "next") == ["completes"]
    assert ends(story, "work") == ["completes", "is cancelled"]
    assert ends(story, "each") == ["is cancelled"]
    assert story.run.status == "COMPLETED"
    assert story.run.turns[-1][0] - story.run.turns[0][0] == 7_000_000


def test_the_loop_keeps_its_mutex_until_the_rest_has_ended() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2, "need": 1, "cancel_rest": False, "mutex": "m"},
            "work": STEP | {"parent": "each"},
            "next": STEP | {"mutex": "m"},
        },
        "start>each>next>end",
    )
    story = play(document, {"work": {"seconds": [1, 6]}})
    assert [fact.began for fact in story.completed("next")] == [6]


def test_a_cycle_may_come_to_a_loop_whose_rest_still_runs() -> None:
    document = draw(
        {
            "lap": {"type": "set", "join": "any", "vars": {"lap": "${vars.get('lap', 0) + 1}"}},
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2, "need": 1, "cancel_rest": False},
            "work": STEP | {"parent": "each"},
            "more": {"type": "conditional", "condition": "vars.lap < 3"},
        },
        "start>lap>each>more>lap:true more>end:false",
    )
    story = play(document, {"work": {"seconds": [1, 30, 1, 30, 1, 30]}})
    assert ends(story, "each") == ["completes"] * 3
    assert [fact.ended for fact in story.completed("end")] == [3]
    assert story.run.status == "COMPLETED"
    assert story.run.turns[-1][0] - story.run.turns[0][0] == 32_000_000


def test_a_condition_that_cannot_be_evaluated_fails_the_loop() -> None:
    document = looping("each>mend:error mend>end", enough="result.n / 0 > 1")
    document["nodes"].append({"id": "mend", "type": "python", "config": {"step": "mend"}})
    story = play(document, {"work": {"seconds": [1, 5, 9]}}, slow={"work": 2})
    assert ends(story, "each", "mend") == ["fails", "completes"]
    assert ends(story, "work") == ["completes", "is cancelled", "is cancelled"]


def test_enough_sees_failures_and_totals() -> None:
    document = draw(
        {
            "each": {
                "type": "loop",
                "items": [1, 2, 3, 4],
                "concurrency": 4,
                "on_item_failure": "skip",
                "enough": "count + failed >= total / 2",
            },
            "odd": {"type": "conditional", "condition": "item % 2 == 1", "parent": "each"},
            "bad": {"type": "fail", "parent": "each"},
            "work": STEP | {"parent": "each"},
        },
        "start>each>end odd>bad:true odd>work:false",
    )
    story = play(document, {"work": 5})
    assert story.run.output == {"count": 0, "failed": 2, "results": []}
    assert ends(story, "work") == [] or set(ends(story, "work")) == {"is cancelled"}


def test_a_run_that_failed_with_a_rest_goes_on_after_a_retry() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2, "need": 1, "cancel_rest": False},
            "work": STEP | {"parent": "each"},
            "next": STEP,
        },
        "start>each>next>end",
    )
    tries: list[int] = []

    def shaky(_: Any) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not today")
        return "done"

    runner = PureRunner(document, steps={"work": StandIn({"seconds": [1, 9, 4]}, None), "next": shaky})
    run = runner.run()
    assert run.status == "FAILED"
    runner.tell(run, c.RetryRun())
    runner.go()
    assert run.status == "COMPLETED"
    assert len(run.of(e.LoopSatisfied)) == 1
    assert run.trace.count("work") == 2
    assert len(runner.calls) == 5


def test_items_that_come_after_the_list_was_closed_are_not_taken() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1], "add_signal": "more", "concurrency": 5},
            "work": STEP | {"parent": "each"},
        },
        "start>each>end",
    )
    story = play(document, {"work": 5}, signals=[(1, "more", None), (2, "more", 7)])
    assert len(story.of("work")) == 1
    assert [signal.payload for signal in story.run.state.signals.values()] == [7]


def test_a_hungry_loop_in_a_scope_that_is_given_up_is_forgotten() -> None:
    """The turn's budget ends while the inner loop could still begin items; then the outer one is cancelled."""
    document = draw(
        {
            "outer": {"type": "loop", "items": [1]},
            "inner": {"type": "loop", "range": {"stop": 400}, "concurrency": 400, "parent": "outer"},
            "work": STEP | {"parent": "inner"},
            "stop": SIGNAL | {"name": "stop", "cancels": ["outer"]},
        },
        "start>outer>end start>stop>end",
    )
    runner = PureRunner(document, steps={"work": StandIn({"seconds": 9}, None)}, check="none")
    run = runner.start()
    assert run.state.body.hungry
    runner.signal(run, "stop")
    runner.go()
    assert run.status == "COMPLETED"
