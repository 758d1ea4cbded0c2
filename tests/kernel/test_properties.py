"""What holds for every run: replay, repetition, interruption, late and repeated reports, a clock that goes astray."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import PerdureError
from perdure.kernel.state import Activation, RunState
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.codec import CODEC, decode_command, decode_events, encode_command, encode_events
from perdure.model.documents import FlowDocument
from perdure.model.failures import Failure
from perdure.model.statuses import Phase
from perdure.model.waits import AwaitSignal, Sleep
from tests.kernel.catalogue import asks
from tests.kernel.every_scenario import SCENARIOS
from tests.kernel.rig import Rig
from tests.programs.strategies import CHOICES, flows

some = settings(max_examples=60, deadline=None)


class Told:
    """A run of a random flow, answered by chance, with everything that it was told and every state in between."""

    def __init__(self, document: dict[str, Any], choices: list[int], turns: int = 40) -> None:
        self.rig = Rig(FlowDocument.model_validate(document), input=1, started=False, checked=False)
        self.chance = random.Random(repr(choices))
        self.commands: list[tuple[int, c.Command]] = []
        self.states: list[bytes] = [self.rig.kernel.snapshot(self.rig.state)]
        self.reports: list[c.Command] = []
        self.tell(self.rig.begin)
        while len(self.commands) < turns and (self.rig.state.final is None or self.can_be_retried()):
            self.tell(self.next_command())

    def tell(self, command: c.Command) -> None:
        self.rig.tell(command)
        self.commands.append((self.rig.now, command))
        self.states.append(self.rig.kernel.snapshot(self.rig.state))
        if isinstance(command, c.Complete | c.Fail | c.CancelDone | c.ChildEnded):
            self.reports.append(command)

    def can_be_retried(self) -> bool:
        state = self.rig.state
        return state.final in ("FAILED", "TIMED_OUT") and not state.compensated and self.chance.random() < 0.8

    def next_command(self) -> c.Command:
        state, chance = self.rig.state, self.chance
        self.rig.now += chance.randrange(4)
        if state.final is not None:
            return c.RetryRun(new_key=chance.random() < 0.3)
        if state.suspended is not None:
            return c.Resume()
        if chance.random() < 0.3:
            seldom: list[c.Command] = [c.FireTimers(), c.Signal("go", 1), c.Signal("on", 2), c.TakeOver(), c.Proceed()]
            seldom += [c.Suspend(), c.Cancel()] if state.closing is None and chance.random() < 0.2 else []
            return chance.choice(seldom)
        live = [act for act in state.activations.values() if act.phase in LIVELY]
        if not live:
            self.rig.now += 1000
            return chance.choice([c.FireTimers(), c.Signal("go", 1), c.Signal("on", 2)])
        act = chance.choice(live)
        return self.word_of_a_person(act) if act.phase is Phase.PERSON else self.report(act)

    def word_of_a_person(self, act: Activation) -> c.Command:
        chance = self.chance
        is_late = act.due is not None and act.due <= max(self.rig.now, self.rig.state.at) + 5
        if chance.random() < 0.7 or is_late:  # after the deadline an answer is refused
            self.rig.now += chance.randrange(10)
            return c.FireTimers()
        chosen = chance.choice(["yes", "no"])
        return c.Answer({"selectedOptions": {"decision": chosen}}, act.id, id=chance.choice([None, f"{act.id}"]))

    def report(self, act: Activation) -> c.Command:
        chance = self.chance
        if act.phase is Phase.CHILD:
            return c.ChildEnded(act.id, act.child or "", chance.choice(["STARTED", "COMPLETED", "FAILED"]))
        if act.phase is Phase.CANCELLING and chance.random() < 0.5:
            return c.CancelDone(act.id, chance.random() < 0.5, act.attempt)
        if chance.random() < 0.2:
            return c.Fail(act.id, act.attempt, Failure("BROKEN", "it broke", chance.random() < 0.5))
        if chance.random() < 0.15:
            wait = chance.choice(
                [Sleep(self.rig.now + 5, 1), AwaitSignal("go"), asks({"remind": (2, 2, 3)}, self.rig.now)]
            )
            return c.Complete(act.id, act.attempt, then=wait)
        return c.Complete(act.id, act.attempt, chance.randrange(3), chance.choice([None, "a", "b"]), size=100)


LIVELY = (Phase.EXECUTING, Phase.CANCELLING, Phase.CHILD, Phase.PERSON)


def with_people(document: dict[str, Any]) -> dict[str, Any]:
    """Where something was awaited a person is asked, and reminded along some of the edges."""
    asking = {node["id"] for node in document["nodes"] if node["type"] in ("signal", "sleep", "call")}
    for node in document["nodes"]:
        if node["id"] in asking:
            patience = {"us": 40} if node.get("config", {}).get("us") else {}
            node |= {"type": "ask", "config": {"remind": [5, 5, 4], "escalate": 12, **patience}}
    for number, edge in enumerate(document["edges"]):
        if edge["source"] in asking and not edge.get("outcome"):
            edge["outcome"] = [None, "reminder", "escalation"][number % 3]
    return document


runs = st.builds(Told, st.one_of(flows(), flows().map(with_people)), CHOICES)


def _replayed(told: Told, turns: int) -> RunState:
    state = told.rig.kernel.new("r")
    for at, events in told.rig.log[:turns]:
        told.rig.kernel.replay(state, events, at)
    return state


@some
@given(told=runs)
def test_replaying_any_prefix_of_the_log_gives_the_state_of_that_time(told: Told) -> None:
    kernel = told.rig.kernel
    states = [state for turn, state in zip(told.rig.turns, told.states[1:], strict=True) if turn.events]
    for turns, state in enumerate(states, 1):
        assert kernel.snapshot(_replayed(told, turns)) == state


@some
@given(told=runs)
def test_the_same_commands_at_the_same_times_give_the_same_events(told: Told) -> None:
    kernel = told.rig.kernel
    state = kernel.new("r")
    for (now, command), before in zip(told.commands, told.rig.turns, strict=True):
        turn = kernel.turn(state, now)
        kernel.handle(turn, command)
        kernel.finish(turn)
        assert (turn.at, turn.events, turn.effects, turn.sends) == (
            before.at,
            before.events,
            before.effects,
            before.sends,
        )


@some
@given(told=runs, data=st.data())
def test_deciding_on_a_copy_leaves_the_original_as_it_is(told: Told, data: st.DataObject) -> None:
    kernel = told.rig.kernel
    place = data.draw(st.integers(0, len(told.commands) - 1))
    original = kernel.restore(told.states[place])
    copy = kernel.copy(original)
    now, command = told.commands[place]
    turn = kernel.turn(copy, now)
    kernel.handle(turn, command)
    kernel.finish(turn)
    assert kernel.snapshot(original) == told.states[place]
    assert kernel.snapshot(copy) == told.states[place + 1]


@some
@given(told=runs, data=st.data())
def test_a_run_that_was_interrupted_has_the_same_future(told: Told, data: st.DataObject) -> None:
    kernel = told.rig.kernel
    place = data.draw(st.integers(1, len(told.commands) - 1)) if len(told.commands) > 1 else 0
    state = kernel.restore(told.states[place])
    for (now, command), after in zip(told.commands[place:], told.states[place + 1 :], strict=True):
        turn = kernel.turn(state, now)
        kernel.handle(turn, command)
        kernel.finish(turn)
        assert kernel.snapshot(state) == after


@some
@given(told=runs, data=st.data())
def test_reports_that_come_again_late_and_in_any_order_change_nothing(told: Told, data: st.DataObject) -> None:
    """T-13: whatever a handler has reported once counts once."""
    rig = told.rig
    before = rig.kernel.snapshot(rig.state)
    for report in data.draw(st.permutations(told.reports * 2)):
        assert rig.tell(report, after=1) == []
    assert rig.kernel.snapshot(rig.state) == before


@some
@given(told=runs, data=st.data())
def test_repeating_every_report_at_once_makes_no_difference(told: Told, data: st.DataObject) -> None:
    kernel = told.rig.kernel
    state = kernel.new("r")
    for (now, command), after in zip(told.commands, told.states[1:], strict=True):
        again = data.draw(st.integers(1, 3)) if command in told.reports else 1
        for _ in range(again):
            turn = kernel.turn(state, now)
            kernel.handle(turn, command)
            kernel.finish(turn)
        assert kernel.snapshot(state) == after


@some
@given(told=runs, data=st.data())
def test_the_time_of_the_log_never_goes_back(told: Told, data: st.DataObject) -> None:
    kernel = told.rig.kernel
    state = kernel.new("r")
    at = 0
    for _, command in told.commands:
        now = data.draw(st.integers(0, 5000))
        turn = kernel.turn(state, now)
        try:
            kernel.handle(turn, command)
        except PerdureError:  # another time, another run: the command may not be possible any more
            break
        kernel.finish(turn)
        if turn.events:
            assert turn.at >= at
            at = turn.at
        assert state.at == at
        assert state.active_total >= 0


@some
@given(told=runs)
def test_events_survive_the_codec(told: Told) -> None:
    for turn in told.rig.turns:
        stored = encode_events(turn.events)
        assert decode_events(stored.data, CODEC, stored.refs, stored.blobs) == turn.events


@some
@given(told=runs)
def test_commands_survive_the_codec(told: Told) -> None:
    for _, command in told.commands:
        assert decode_command(encode_command(command)) == command


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_ended_run_ignores_whatever_is_still_reported(name: str) -> None:
    rig = SCENARIOS[name]()
    if rig.state.final is None:
        return
    ids = [event.id for event in rig.events if isinstance(event, e.ActivationScheduled)]
    for id in ids:
        for report in (c.Complete(id, 1, "late"), c.Fail(id, 1, Failure("LATE", "late")), c.CancelDone(id)):
            assert rig.tell(report, after=1) == []
    assert rig.outstanding() == set()
