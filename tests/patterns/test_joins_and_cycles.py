"""Rounds of joins, cycles with several exits, loops inside cycles, layers, failures and ends: corners of the rules."""

from __future__ import annotations

from perdure.model import events as e
from tests.patterns.drawing import STEP, draw, play
from tests.patterns.harness import Story

ANY = {"join": "any"}
FAIL = {"type": "fail"}


def ends(story: Story, *nodes: str) -> list[str | None]:
    return [fact.end for fact in story.of(*nodes)]


def n_of_m(n: int, **more: bool) -> dict[str, object]:
    return {"join": {"rule": "n_of_m", "n": n, **more}}


# -- rounds ---------------------------------------------------------------------------------------


def test_a_blocked_round_still_fires_when_the_round_before_is_settled() -> None:
    """Nothing fails, so no token ever comes from `rescue`: the first round is settled without it, and the second one,
    which was blocked until then, has what it needs."""
    document = draw(
        {"a": STEP, "long": STEP, "rescue": STEP, "j": STEP | {"join": {"rule": "first", "blocking": True}}},
        "start>a*2 a>j rescue>j j>end start>long>end",
        on_failure="rescue",
    )
    story = play(document, {"a": {"seconds": [1, 2]}, "long": 9})
    assert [fact.began for fact in story.completed("j")] == [1, 9]
    assert story.run.status == "COMPLETED"


def test_a_multi_merge_before_an_all_join_opens_a_second_round() -> None:
    document = draw(
        {"a": STEP, "b": STEP, "merge": STEP | ANY, "c": STEP, "join": STEP},
        "start>a>merge start>b>merge merge>join start>c>join join>end",
    )
    story = play(document, {"a": 1, "b": 2, "c": 5})
    assert [fact.began for fact in story.completed("join")] == [5, 5]
    assert story.run.status == "COMPLETED"


def test_a_strict_and_join_does_not_settle_for_less() -> None:
    document = draw({"a": STEP, "b": STEP, "j": STEP | n_of_m(2)}, "start>a*3 start>b*2 a>j b>j j>end")
    story = play(document, {"a": {"seconds": [1, 2, 3]}, "b": {"seconds": [4, 5]}})
    assert ends(story, "j") == ["completes", "completes", "is skipped"]
    assert story.run.status == "COMPLETED"


def test_threads_that_are_left_over_do_not_hold_up_the_run() -> None:
    document = draw({"a": STEP, "m": STEP | {"join": {"rule": "any", "threads": 2}}}, "start>a*3 a>m>end")
    story = play(document, {"a": {"seconds": [1, 2, 3]}})
    assert len(story.completed("m")) == 1
    assert story.run.status == "COMPLETED"


# -- cycles ---------------------------------------------------------------------------------------


LAP = {"type": "set", "join": "any", "vars": {"lap": "${vars.get('lap', 0) + 1}"}}


def test_exits_that_were_never_taken_die_when_the_cycle_rests() -> None:
    document = draw(
        {
            "lap": LAP,
            "turn": STEP | {"outcomes": ["again", "left", "right"]},
            "left": STEP,
            "right": STEP,
            "beside": STEP,
            "join": STEP,
        },
        "start>lap>turn>lap:again turn>left:left turn>right:right left>join right>join start>beside>join join>end",
    )
    story = play(document, {"turn": {"seconds": 1, "outcome": ["again", "again", "right"]}, "beside": 9})
    assert ends(story, "left") == ["is skipped"]
    assert story.of("left")[0].ended == 3
    assert [fact.began for fact in story.completed("join")] == [9]


def test_a_split_and_join_inside_a_cycle_pair_round_by_round() -> None:
    document = draw(
        {
            "lap": LAP,
            "a": STEP,
            "b": STEP,
            "both": STEP,
            "more": {"type": "conditional", "condition": "vars.lap < 3"},
        },
        "start>lap>a>both lap>b>both both>more>lap:true more>end:false",
    )
    story = play(document, {"a": 1, "b": 2})
    assert [fact.began for fact in story.completed("both")] == [2, 4, 6]
    assert story.run.status == "COMPLETED"


def test_a_cycle_inside_a_cycle() -> None:
    document = draw(
        {
            "outer": {"type": "set", "join": "any", "vars": {"o": "${vars.get('o', 0) + 1}", "i": 0}},
            "inner": {"type": "set", "join": "any", "vars": {"i": "${vars.i + 1}"}},
            "work": STEP,
            "more-inner": {"type": "conditional", "condition": "vars.i < 2"},
            "more-outer": {"type": "conditional", "condition": "vars.o < 3"},
            "beside": STEP,
            "join": STEP,
        },
        "start>outer>inner>work>more-inner>inner:true more-inner>more-outer:false more-outer>outer:true "
        "more-outer>join:false start>beside>join join>end",
    )
    story = play(document)
    assert len(story.completed("work")) == 6
    assert len(story.completed("join")) == 1


def test_a_loop_inside_a_cycle_is_a_new_loop_each_time() -> None:
    document = draw(
        {
            "lap": LAP,
            "each": {"type": "loop", "items": "range(vars.lap)", "concurrency": 2},
            "work": STEP | {"parent": "each"},
            "more": {"type": "conditional", "condition": "vars.lap < 3"},
        },
        "start>lap>each>more>lap:true more>end:false",
    )
    story = play(document, {"work": 1})
    assert [fact.label for fact in story.completed("work")] == [
        "work[0]", "work[0]", "work[1]", "work[0]", "work[1]", "work[2]",
    ]  # fmt: skip
    assert story.run.state.body.loops == {}
    assert len(story.run.state.scopes) == 1


def test_a_cancelling_join_inside_a_cycle_leaves_the_way_out_alone() -> None:
    document = draw(
        {
            "lap": LAP,
            "a": STEP,
            "b": STEP,
            "first": STEP | {"join": {"rule": "first", "cancel_rest": True}},
            "more": {"type": "conditional", "condition": "vars.lap < 3"},
            "log": STEP,
        },
        "start>lap>a>first lap>b>first first>more>lap:true more>end:false first>log>end",
    )
    story = play(document, {"a": 1, "b": 5, "log": 9}, slow={"b": 2})
    assert len(story.completed("first")) == 3
    assert len(story.completed("log")) == 3
    assert ends(story, "b") == ["is cancelled"] * 3


# -- layers ---------------------------------------------------------------------------------------


def test_layers_wait_for_one_another() -> None:
    document = draw({"a": STEP, "b": STEP, "c": STEP, "d": STEP}, "start>a>c>end start>b>d>end", barrier="layer")
    story = play(document, {"a": 1, "b": 5})
    assert [fact.began for fact in story.completed("c", "d")] == [5, 5]


def test_layers_count_a_node_once_however_often_it_runs() -> None:
    document = draw(
        {"a": STEP, "b": STEP, "m": STEP | ANY, "slow": STEP, "last": STEP},
        "start>a>m start>b>m m>last start>slow>last last>end",
        barrier="layer",
    )
    document["edges"].insert(0, {"source": "a", "target": "slow", "tokens": 1, "outcome": None})
    story = play(document, {"slow": 9, "m": 1})
    assert all(fact.began >= 9 for fact in story.completed("last") if fact.began is not None)
    assert story.run.status == "COMPLETED"


def test_layers_and_a_failure_node_do_not_wait_for_each_other() -> None:
    document = draw(
        {"a": STEP, "b": STEP, "rescue": STEP}, "start>a>b>end rescue>end", barrier="layer", on_failure="rescue"
    )
    story = play(document)
    assert ends(story, "a", "b") == ["completes", "completes"]
    assert story.run.status == "COMPLETED"


def test_a_node_of_a_layer_that_nothing_reaches_does_not_hold_up_the_next() -> None:
    document = draw(
        {"no": {"type": "conditional", "condition": "false"}, "m": STEP | ANY, "a": STEP, "b": STEP, "c": STEP},
        "start>no>m:true m>end start>a>b>c>end",
        barrier="layer",
    )
    story = play(document)
    assert ends(story, "a", "b", "c") == ["completes"] * 3
    assert story.run.status == "COMPLETED"


# -- failures and ends ----------------------------------------------------------------------------


def test_a_failure_node_runs_for_each_failure_and_the_other_branch_goes_on() -> None:
    document = draw(
        {"a": STEP, "bad": FAIL, "c": STEP, "worse": FAIL, "well": STEP, "rescue": STEP, "done": STEP | ANY},
        "start>a>bad>done start>c>worse>done start>well>done rescue>done done>end",
        on_failure="rescue",
    )
    story = play(document, {"a": 1, "c": 2, "well": 9})
    assert [fact.began for fact in story.completed("rescue")] == [1, 2]
    assert len(story.completed("done")) == 3
    assert story.run.status == "COMPLETED"


def test_a_join_behind_the_failure_node_waits_until_nothing_can_fail() -> None:
    document = draw(
        {"a": STEP, "b": STEP, "rescue": STEP, "join": STEP},
        "start>a>join start>b>end rescue>join join>end",
        on_failure="rescue",
    )
    story = play(document, {"a": 1, "b": 5})
    assert [fact.began for fact in story.completed("join")] == [5]
    assert ends(story, "rescue") == []


def test_a_terminating_end_stops_handlers_sleepers_waiters_and_loops() -> None:
    document = draw(
        {
            "quick": STEP,
            "stop": {"type": "end", "terminate": True, "output": "enough"},
            "slow": STEP,
            "sleeps": {"type": "sleep", "duration": "1d"},
            "waits": {"type": "wait-for-signal", "name": "x"},
            "each": {"type": "loop", "items": [1, 2], "concurrency": 2},
            "work": STEP | {"parent": "each"},
            "held-1": STEP | {"mutex": "m"},
            "held-2": STEP | {"mutex": "m"},
        },
        "start>quick>stop start>slow>end start>sleeps>end start>waits>end start>each>end start>held-1>end "
        "start>held-2>end",
    )
    story = play(document, {"quick": 2, "slow": 9, "work": 9, "held-1": 9}, slow={"slow": 3})
    assert story.run.output == "enough"
    assert story.run.status == "COMPLETED"
    assert ends(story, "held-2") == []
    cancelled = [fact.label for fact in story.facts if fact.end == "is cancelled"]
    assert sorted(cancelled) == ["each", "held-1", "sleeps", "slow", "waits", "work[0]", "work[1]"]
    assert isinstance(story.run.events[-1], e.RunCompleted)
    assert story.run.turns[-1][0] - story.run.turns[0][0] == 5_000_000
