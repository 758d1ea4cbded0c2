"""Milestones that come late, never, or again; races of every kind of rival, in cycles and in loops."""

from __future__ import annotations

import pytest

from tests.patterns.drawing import STEP, draw, play
from tests.patterns.harness import Story

SIGNAL = {"type": "wait-for-signal"}


def ends(story: Story, *nodes: str) -> list[str | None]:
    return [fact.end for fact in story.of(*nodes)]


# -- milestones -----------------------------------------------------------------------------------


def test_a_milestone_that_will_not_come_lets_go_at_once() -> None:
    """`opened` is skipped, so `late` does not wait for the long branch to learn that."""
    document = draw(
        {
            "no": {"type": "conditional", "condition": "false"},
            "opened": STEP,
            "late": STEP | {"milestone": {"after": "opened"}},
            "long": STEP,
        },
        "start>no>opened:true opened>end start>late>end start>long>end",
    )
    story = play(document, {"long": 60})
    (late,) = story.of("late")
    assert (late.end, late.ended) == ("comes too late", 0)
    assert story.run.status == "COMPLETED"


def test_a_node_that_waits_for_its_own_successor_is_let_go() -> None:
    document = draw(
        {"waits": STEP | {"milestone": {"after": "later"}}, "later": STEP, "other": STEP},
        "start>waits>later>end start>other>end",
    )
    story = play(document, {"other": 5})
    assert ends(story, "waits", "later") == ["comes too late", "is skipped"]
    assert story.run.status == "COMPLETED"


def test_nodes_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    document = draw(
        {"a": STEP | {"milestone": {"after": "b"}}, "b": STEP | {"milestone": {"after": "a"}}},
        "start>a>end start>b>end",
    )
    story = play(document)
    assert ends(story, "a") == ["comes too late"]
    assert ends(story, "b") == ["comes too late"]
    assert story.run.status == "COMPLETED"


def test_a_wait_that_a_signal_can_end_is_left_alone() -> None:
    document = draw(
        {"opens": SIGNAL | {"name": "open"}, "waits": STEP | {"milestone": {"after": "opens"}}},
        "start>opens>end start>waits>end",
    )
    story = play(document, signals=[(9, "open", None)])
    assert [fact.began for fact in story.completed("waits")] == [9]


def test_each_round_of_a_cycle_opens_its_milestone_anew() -> None:
    """Visitors come at 1, 4 and 7; the door is open from 3 to 5 and from 8 to 10."""
    document = draw(
        {
            "lap": {"type": "set", "join": "any", "vars": {"lap": "${vars.get('lap', 0) + 1}"}},
            "closed": STEP,
            "open": STEP,
            "period": STEP,
            "close": STEP,
            "more": {"type": "conditional", "condition": "vars.lap < 2"},
            "visits": {"type": "loop", "range": {"stop": 3}, "concurrency": 3},
            "arrive": STEP | {"parent": "visits"},
            "enter": STEP | {"parent": "visits", "milestone": {"after": "open", "before": "close"}},
        },
        "start>lap>closed>open>period>close>more>lap:true more>end:false start>visits>end arrive>enter",
    )
    story = play(document, {"closed": 3, "period": 2, "arrive": {"seconds": [1, 4, 7]}})
    assert [(fact.began, fact.end) for fact in story.of("enter")] == [
        (3, "completes"), (4, "completes"), (None, "comes too late"),
    ]  # fmt: skip


def test_each_iteration_has_milestones_of_its_own() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "open": STEP | {"parent": "each"},
            "enter": STEP | {"parent": "each", "milestone": {"after": "open"}},
        },
        "start>each>end",
    )
    story = play(document, {"open": {"seconds": [5, 2]}})
    assert {fact.label: fact.began for fact in story.completed("enter")} == {"enter[0]": 5, "enter[1]": 2}
    assert story.run.status == "COMPLETED"


def test_what_waits_for_a_milestone_can_be_withdrawn() -> None:
    document = draw(
        {
            "open": STEP,
            "enter": STEP | {"milestone": {"after": "open"}},
            "stop": SIGNAL | {"name": "stop", "cancels": ["enter"]},
        },
        "start>open>end start>enter>end start>stop>end",
    )
    story = play(document, {"open": 5}, signals=[(1, "stop", None)])
    assert ends(story, "enter") == ["is withdrawn"]
    assert story.run.status == "COMPLETED"


# -- races ----------------------------------------------------------------------------------------


def test_a_sleep_into_the_past_wins_its_race() -> None:
    document = draw(
        {"now": {"type": "sleep", "duration": "0s", "race": "r"}, "never": SIGNAL | {"name": "x", "race": "r"}},
        "start>never>end start>now>end",
    )
    story = play(document)
    assert ends(story, "now") == ["completes"]
    assert ends(story, "never") == ["is cancelled"]
    assert story.run.status == "COMPLETED"


def test_the_one_who_begins_after_the_race_is_skipped() -> None:
    document = draw(
        {
            "quick": {"type": "sleep", "duration": "1s", "race": "r"},
            "slow": STEP,
            "rival": SIGNAL | {"name": "x", "race": "r"},
        },
        "start>quick>end start>slow>rival>end",
    )
    story = play(document, {"slow": 3})
    assert ends(story, "rival") == ["is withdrawn"]


def test_a_timeout_that_is_taken_care_of_decides_the_race() -> None:
    document = draw(
        {
            "asked": SIGNAL | {"name": "a", "timeout": "2s", "race": "r"},
            "other": SIGNAL | {"name": "b", "race": "r"},
            "gave-up": STEP,
        },
        "start>asked>end:signal asked>gave-up:timeout gave-up>end start>other>end",
    )
    story = play(document)
    assert ends(story, "asked", "other") == ["fails", "is cancelled"]
    assert ends(story, "gave-up") == ["completes"]
    assert story.run.status == "COMPLETED"


def test_a_signal_and_a_timer_at_the_same_moment_have_one_winner() -> None:
    document = draw(
        {"timer": {"type": "sleep", "duration": "5s", "race": "r"}, "signal": SIGNAL | {"name": "s", "race": "r"}},
        "start>timer>end start>signal>end",
    )
    for seed in range(6):
        story = play(document, signals=[(5, "s", None)], shuffle=seed)
        assert sorted(str(end) for end in ends(story, "timer", "signal")) == ["completes", "is cancelled"]


@pytest.mark.parametrize("rounds", [3, 40])
def test_a_race_is_run_anew_in_every_round_and_leaves_nothing_behind(rounds: int) -> None:
    document = draw(
        {
            "lap": {"type": "set", "join": "any", "vars": {"lap": "${vars.get('lap', 0) + 1}"}},
            "a": STEP | {"race": "r"},
            "b": STEP | {"race": "r"},
            "on": {"type": "conditional", "condition": "vars.lap < input", "join": "any"},
        },
        "start>lap>a>on lap>b>on on>lap:true on>end:false",
    )
    story = play(document, {"a": 1, "b": 2}, input=rounds, slow={"b": 3})
    assert len(story.completed("a")) == rounds
    assert ends(story, "b") == ["is cancelled"] * rounds
    assert story.run.state.body.scopes[0].won == {"r": []}


def test_iterations_do_not_race_with_each_other() -> None:
    document = draw(
        {
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "a": STEP | {"parent": "each", "race": "r"},
            "b": STEP | {"parent": "each", "race": "r"},
        },
        "start>each>end",
    )
    story = play(document, {"a": {"seconds": [1, 9]}, "b": {"seconds": [9, 4]}})
    assert sorted(fact.label for fact in story.completed("a", "b")) == ["a[0]", "b[1]"]


def test_a_group_races_as_a_whole() -> None:
    document = draw(
        {
            "long": {"type": "group", "race": "r"},
            "one": STEP | {"parent": "long"},
            "two": STEP | {"parent": "long"},
            "short": STEP | {"race": "r"},
        },
        "start>long>end start>short>end one>two",
    )
    story = play(document, {"one": 2, "two": 2, "short": 3})
    assert ends(story, "one", "two") == ["completes", "is cancelled"]
    assert ends(story, "long") == ["is cancelled"]
    assert story.run.status == "COMPLETED"
