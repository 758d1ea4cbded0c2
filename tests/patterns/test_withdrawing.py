"""What is taken back: by joins that have enough, regions, races and terminating ends, wherever it stands."""

from __future__ import annotations

from tests.patterns.drawing import STEP, draw, play
from tests.patterns.harness import Story

FIRST = {"join": {"rule": "first", "cancel_rest": True}}
SIGNAL = {"type": "wait-for-signal"}


def ends(story: Story, node: str) -> list[str | None]:
    return [fact.end for fact in story.of(node)]


def test_the_late_end_of_a_stopped_handler_is_not_taken_for_the_next_round() -> None:
    """Round 1: `a` is first and `b` is stopped, which takes long. Round 2: `b` is first, and counts."""
    document = draw(
        {
            "again": {"type": "set", "join": "any", "vars": {"round": "${vars.get('round', 0) + 1}"}},
            "a": STEP,
            "b": STEP,
            "won": STEP | FIRST,
            "more": {"type": "conditional", "condition": "vars.round < 2"},
        },
        "start>again>a>won again>b>won>more>again:true more>end:false",
    )
    story = play(document, {"a": {"seconds": [1, 9]}, "b": {"seconds": [9, 2]}}, slow={"b": 20})
    assert [fact.began for fact in story.completed("won")] == [1, 3]
    assert ends(story, "a") == ["completes", "is cancelled"]
    assert ends(story, "b") == ["is cancelled", "completes"]
    assert story.run.status == "COMPLETED"


def test_what_was_only_ready_is_withdrawn_before_it_gets_its_slot() -> None:
    """With one slot, `b` and `c` stand in line when `a` has brought the join all that it needs."""
    document = draw(
        {"a": STEP, "b": STEP, "c": STEP, "won": STEP | FIRST},
        "start>a>won start>b>won start>c>won won>end",
        max_parallel=1,
    )
    story = play(document, {"a": 1})
    assert story.lines[3:6] == ["1s won begins", "1s b is withdrawn", "1s c is withdrawn"]
    assert story.run.status == "COMPLETED"


def test_a_region_reaches_what_waits_for_a_mutex() -> None:
    document = draw(
        {
            "holder": STEP | {"mutex": "m"},
            "waiting": STEP | {"mutex": "m"},
            "third": STEP | {"mutex": "m"},
            "stop": SIGNAL | {"name": "stop", "cancels": ["waiting"]},
        },
        "start>holder>end start>waiting>end start>third>end start>stop>end",
    )
    story = play(document, {"holder": 5, "third": 1}, signals=[(2, "stop", None)])
    assert ends(story, "waiting") == ["is withdrawn"]
    assert [fact.began for fact in story.completed("holder", "third")] == [0, 5]
    assert story.run.status == "COMPLETED"


def test_a_mutex_is_free_only_when_its_stopped_holder_has_ended() -> None:
    document = draw(
        {
            "holder": STEP | {"mutex": "m"},
            "next": STEP | {"mutex": "m"},
            "stop": SIGNAL | {"name": "stop", "cancels": ["holder"]},
        },
        "start>holder>end start>next>end start>stop>end",
    )
    story = play(document, {"holder": 9}, signals=[(2, "stop", None)], slow={"holder": 4})
    assert [fact.began for fact in story.completed("next")] == [6]


def test_a_node_whose_condition_is_false_gives_its_mutex_back() -> None:
    document = draw(
        {"a": STEP | {"mutex": "m", "condition": "false"}, "b": STEP | {"mutex": "m"}}, "start>a>end start>b>end"
    )
    story = play(document)
    assert ends(story, "a") == ["is passed by"]
    assert ends(story, "b") == ["completes"]


def test_what_has_half_arrived_is_withdrawn_and_the_missing_half_is_absorbed() -> None:
    document = draw(
        {
            "early": STEP,
            "late": STEP,
            "both": STEP,
            "stop": SIGNAL | {"name": "stop", "cancels": ["both"]},
        },
        "start>early>both start>late>both both>end start>stop>end",
    )
    story = play(document, {"early": 1, "late": 8}, signals=[(3, "stop", None)])
    assert ends(story, "both") == ["is withdrawn"]
    assert [fact.ended for fact in story.completed("late")] == [8]
    assert story.run.status == "COMPLETED"


def test_a_region_that_was_not_reached_yet_begins_later() -> None:
    """Cancelling concerns what is there; it forbids nothing."""
    document = draw(
        {"slow": STEP, "task": STEP, "stop": SIGNAL | {"name": "stop", "cancels": ["task"]}},
        "start>slow>task>end start>stop>end",
    )
    story = play(document, {"slow": 5}, signals=[(1, "stop", None)])
    assert ends(story, "task") == ["completes"]


def test_a_loop_is_withdrawn_with_all_that_runs_below_it() -> None:
    document = draw(
        {
            "outer": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "inner": {"type": "loop", "items": [1, 2], "concurrency": 2, "parent": "outer"},
            "work": STEP | {"parent": "inner", "mutex": "m"},
            "after": STEP,
            "stop": SIGNAL | {"name": "stop", "cancels": ["outer"]},
        },
        "start>outer>after>end start>stop>end",
    )
    story = play(document, {"work": 4}, signals=[(5, "stop", None)], slow={"work": 3})
    assert ends(story, "outer") == ["is cancelled"]
    assert ends(story, "after") == ["is skipped"]
    assert sorted(ends(story, "work")) == ["completes", "is cancelled"]
    assert story.run.status == "COMPLETED"
    assert story.run.state.body.mutexes == {}
    assert story.run.state.at - story.run.turns[0][0] == 8_000_000


def test_a_loop_that_is_failing_can_still_be_withdrawn() -> None:
    """It had failed and waited for a handler to stop before it took its error edge. Now it takes none."""
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "check": {"type": "conditional", "condition": "item == 1", "parent": "each"},
            "short": STEP | {"parent": "each"},
            "bad": {"type": "fail", "parent": "each"},
            "long": STEP | {"parent": "each"},
            "mend": STEP,
            "stop": SIGNAL | {"name": "stop", "cancels": ["each"]},
        },
        "start>each>end each>mend:error mend>end start>stop>end check>short:true short>bad check>long:false",
    )
    story = play(document, {"short": 1, "long": 9}, signals=[(2, "stop", None)], slow={"long": 5})
    assert ends(story, "each") == ["is cancelled"]
    assert ends(story, "mend") == ["is skipped"]
    assert story.run.status == "COMPLETED"


def test_cancel_rest_keeps_to_its_own_iteration() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "a": STEP | {"parent": "each"},
            "b": STEP | {"parent": "each"},
            "won": STEP | FIRST | {"parent": "each"},
        },
        "start>each>end a>won b>won",
    )
    story = play(document, {"a": {"seconds": [1, 9]}, "b": {"seconds": [9, 3]}})
    assert {fact.label: fact.end for fact in story.of("a", "b")} == {
        "a[0]": "completes", "b[0]": "is cancelled", "a[1]": "is cancelled", "b[1]": "completes",
    }  # fmt: skip
    assert [fact.label for fact in story.completed("won")] == ["won[0]", "won[1]"]


def test_an_item_cancels_what_stands_around_its_loop() -> None:
    document = draw(
        {
            "reminder": {"type": "sleep", "duration": "1h"},
            "each": {"type": "loop", "items": [1, 2]},
            "work": STEP | {"parent": "each", "cancels": ["reminder"]},
        },
        "start>reminder>end start>each>end",
    )
    story = play(document, {"work": 1})
    assert ends(story, "reminder") == ["is cancelled"]
    assert len(story.completed("work")) == 2


def test_a_terminating_end_in_a_loop_ends_its_iteration_only() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": ["x", "y"], "concurrency": 2},
            "quick": STEP | {"parent": "each"},
            "slow": STEP | {"parent": "each"},
            "done": {"type": "end", "parent": "each", "terminate": True, "output": "${item}", "join": "any"},
        },
        "start>each>end quick>done slow>done",
    )
    story = play(document, {"quick": {"seconds": [1, 9]}, "slow": {"seconds": [5, 3]}})
    assert story.run.output == {"count": 2, "results": ["x", "y"]}
    assert {fact.label: fact.end for fact in story.of("quick", "slow")} == {
        "quick[0]": "completes", "slow[0]": "is cancelled", "quick[1]": "is cancelled", "slow[1]": "completes",
    }  # fmt: skip


def test_a_child_that_was_asked_for_and_given_up_in_one_turn_is_never_started() -> None:
    child = draw({}, "start>end")
    document = draw(
        {
            "call": {"type": "sub-flow", "definition": "child", "race": "r"},
            "past": {"type": "sleep", "duration": "0s", "race": "r"},
        },
        "start>call>end start>past>end",
    )
    story = play(document, children={"child": child})
    assert ends(story, "call") == ["is cancelled"]
    assert story.run.status == "COMPLETED"


def test_a_group_is_withdrawn_as_a_whole_and_catches_what_fails_inside() -> None:
    document = draw(
        {
            "try": {"type": "group"},
            "first": STEP | {"parent": "try"},
            "bad": {"type": "fail", "code": "NO", "parent": "try"},
            "beside": STEP | {"parent": "try"},
            "catch": STEP,
        },
        "start>try>end try>catch:error catch>end first>bad",
    )
    story = play(document, {"first": 2, "beside": 9})
    assert ends(story, "beside") == ["is cancelled"]
    assert ends(story, "try") == ["fails"]
    assert ends(story, "catch") == ["completes"]
    assert story.run.status == "COMPLETED"


def test_a_group_inside_a_loop_sees_the_loop() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": ["x", "y"]},
            "pair": {"type": "group", "parent": "each"},
            "a": STEP | {"parent": "pair", "arguments": {"it": "${item}", "of": "${index}", "given": "${data.item}"}},
        },
        "start>each>end",
    )
    story = play(document)
    assert story.run.output["results"] == [
        {"it": "x", "of": 0, "given": "x"}, {"it": "y", "of": 1, "given": "y"},
    ]  # fmt: skip
