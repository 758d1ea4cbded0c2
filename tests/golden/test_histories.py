"""Every history that a release has recorded is replayed to the state that it had led to, and can go on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.errors import HistoryUnreadable
from perdure.kernel.outlook import next_wake
from perdure.model import codec
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.codec import CODEC, decode_events, encode_events
from perdure.model.statuses import Phase
from tests.golden.histories import digest_of, kernel_of, read, recordings, replay, summary_of
from tests.kernel.every_scenario import SCENARIOS

EVERY = recordings()


@pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_history_leads_to_the_state_that_was_recorded_with_it(path: Path) -> None:
    recording = read(path)
    kernel = kernel_of(recording)
    summary = summary_of(kernel, replay(recording, kernel))
    assert summary == recording.summary
    assert digest_of(summary) == recording.digest == digest_of(recording.summary)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_replayed_run_can_be_stored_and_read_back(path: Path) -> None:
    recording = read(path)
    kernel = kernel_of(recording)
    state = replay(recording, kernel)
    assert summary_of(kernel, kernel.restore(kernel.snapshot(state))) == recording.summary


@pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_open_run_goes_on_to_its_end(path: Path) -> None:
    recording = read(path)
    kernel = kernel_of(recording)
    state = replay(recording, kernel)
    now = state.at
    for _ in range(100):
        if state.final is not None:
            return
        wake = next_wake(state)
        now = max(now, wake or 0)
        commands: list[c.Command] = [c.FireTimers()] if wake is not None else [c.Signal("go")]
        for activation in state.activations.values():
            if activation.phase in (Phase.EXECUTING, Phase.CANCELLING):
                commands.append(c.Complete(activation.id, activation.attempt, "done"))
            elif activation.phase is Phase.CHILD:
                commands.append(c.ChildEnded(activation.id, activation.child or "", "COMPLETED", "done"))
        turn = kernel.turn(state, now)
        for command in commands:
            if state.final is None:
                kernel.handle(turn, command)
        kernel.finish(turn)
    raise AssertionError("it does not end")


def test_every_scenario_is_recorded() -> None:
    missing = set(SCENARIOS) - {path.stem for path in EVERY}
    assert missing == set(), "run tools/record_golden.py, and keep the files"


def test_every_event_stands_in_some_recorded_history() -> None:
    seen = {
        type(event)
        for recording in map(read, EVERY)
        for turn in recording.turns
        for event in decode_events(turn.data, recording.codec, [], {})
    }
    missing = {kind.__name__ for kind in e.Event.__subclasses__()} - {kind.__name__ for kind in seen}
    assert missing == set(), "an event without a recorded history: add a scenario and run tools/record_golden.py"


def test_a_recorded_history_holds_a_value_that_lives_in_a_blob() -> None:
    assert any(recording.blobs and any(turn.refs for turn in recording.turns) for recording in map(read, EVERY))


# -- what cannot be read -------------------------------------------------------------------------

STARTED = encode_events([e.RunStarted("flow", "d", 1, "h", 1)]).data


def test_an_event_of_a_later_release_is_refused_by_name() -> None:
    with pytest.raises(HistoryUnreadable) as refused:
        decode_events(b'[{"event":"RunStarted"},{"event":"WormholeOpened","to":7}]', CODEC, [], {})
    assert refused.value.message == "the history holds an event 'WormholeOpened', which this Perdure does not know"
    assert refused.value.remedy is not None


def test_a_history_of_a_newer_codec_is_refused() -> None:
    with pytest.raises(HistoryUnreadable, match="written by a newer Perdure"):
        decode_events(STARTED, CODEC + 1, [], {})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[",
        b'[{"event":"RunStarted"}]',
        b'[{"event":"RunStarted","program":5}]',
        b"\xff",
        b"[null]",
        b'["x"]',
    ],
)
def test_a_damaged_history_is_refused_and_never_guessed_at(data: bytes) -> None:
    with pytest.raises(HistoryUnreadable):
        decode_events(data, CODEC, [], {})


def test_a_history_whose_blob_is_missing_is_refused() -> None:
    stored = encode_events([e.RunCompleted("x" * 10_000)])
    assert stored.refs
    with pytest.raises(HistoryUnreadable):
        decode_events(stored.data, CODEC, stored.refs, {})


# -- what has changed its shape ------------------------------------------------------------------


def test_events_of_an_older_codec_pass_through_the_upcasters(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if codec 2 had renamed a field of an event, and codec 3 had doubled a number."""

    def renamed(event: dict[str, Any]) -> dict[str, Any]:
        return {"id" if name == "timer" else name: value for name, value in event.items()}

    def later(event: dict[str, Any]) -> dict[str, Any]:
        return event | {"due": event["due"] * 2}

    monkeypatch.setattr(codec, "CODEC", CODEC + 2)
    monkeypatch.setitem(codec.UPCASTERS, (CODEC, "TimerArmed"), renamed)
    monkeypatch.setitem(codec.UPCASTERS, (CODEC + 1, "TimerArmed"), later)
    data = b'[{"event":"TimerArmed","timer":"a","due":50,"purpose":"user"},{"event":"TimerFired","id":"a"}]'
    assert decode_events(data, CODEC, [], {}) == [e.TimerArmed("a", 100, "user"), e.TimerFired("a")]
    newer = data.replace(b'"timer"', b'"id"')
    assert decode_events(newer, CODEC + 1, [], {})[0] == e.TimerArmed("a", 100, "user")
    assert decode_events(newer, CODEC + 2, [], {})[0] == e.TimerArmed("a", 50, "user")


def test_a_field_that_an_older_release_did_not_write_has_its_default() -> None:
    (event,) = decode_events(b'[{"event":"ActivationCompleted","id":4}]', CODEC, [], {})
    assert event == e.ActivationCompleted(4)
