"""Attempts: how often, after which pause, and whose report counts."""

from __future__ import annotations

import pytest

from perdure.kernel.backoff import fraction, pause_before
from perdure.kernel.outlook import next_wake
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.policies import SECOND, Retry
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _rig(seed: int = 0, **retry: object) -> Rig:
    node = {"type": "step", "retry": {"attempts": 3, "initial": 1, **retry}}
    return Rig(flow({"s": "start", "a": node, "e": "end"}, "s>a a>e"), seed=seed)


def test_a_retryable_failure_is_tried_again_after_a_pause() -> None:
    rig = _rig()
    events = rig.fail("a", retryable=True)
    assert kinds(events) == ["ActivationFailed", "ActivationRetrying"]
    assert rig.phase("a") == "retrying"
    assert next_wake(rig.state) == rig.now + SECOND
    rig.wake()
    assert rig.phase("a") == "executing"
    assert rig.live("a").attempt == 2
    rig.complete("a", "at last")
    assert rig.output == "at last"


def test_a_failure_that_is_not_retryable_is_final_at_once() -> None:
    rig = _rig()
    rig.fail("a")
    assert rig.state.final == "FAILED"
    assert rig.of(e.ActivationRetrying) == []


def test_the_first_attempt_counts_so_three_attempts_are_two_retries() -> None:
    rig = _rig()
    for attempt in (1, 2):
        assert rig.live("a").attempt == attempt
        rig.fail("a", retryable=True)
        rig.wake()
    rig.fail("a", code="LAST", retryable=True)
    assert rig.state.final == "FAILED"
    assert rig.failure.code == "LAST"
    assert rig.failure.node == "a"


def test_a_node_without_a_policy_is_tried_once() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    rig.fail("a", retryable=True)
    assert rig.state.final == "FAILED"


def test_pauses_grow_by_the_multiplier_up_to_the_maximum() -> None:
    policy = Retry(attempts=9, initial=SECOND, multiplier=3.0, maximum=20 * SECOND)
    assert [pause_before(policy, attempt, 0, 1) // SECOND for attempt in range(2, 7)] == [1, 3, 9, 20, 20]


def test_a_thousand_attempts_overflow_nothing() -> None:
    policy = Retry(attempts=1000, initial=SECOND, multiplier=100.0, maximum=300 * SECOND)
    assert pause_before(policy, 1000, 0, 1) == 300 * SECOND


def test_jitter_shortens_a_pause_by_at_most_its_share_and_never_lengthens_it() -> None:
    policy = Retry(attempts=3, initial=SECOND, jitter=0.25)
    pauses = [pause_before(policy, 2, seed, 1) for seed in range(200)]
    assert all(0.75 * SECOND <= pause <= SECOND for pause in pauses)
    assert len(set(pauses)) > 150


def test_jitter_follows_from_the_seed_the_activation_and_the_attempt() -> None:
    assert fraction(1, 2, 3) == fraction(1, 2, 3)
    assert len({fraction(1, 2, 3), fraction(2, 2, 3), fraction(1, 3, 3), fraction(1, 2, 4)}) == 4
    assert all(0 <= fraction(seed) < 1 for seed in range(100))


def test_the_same_seed_pauses_just_as_long_in_another_run() -> None:
    first, second, other = _rig(7, jitter=1), _rig(7, jitter=1), _rig(8, jitter=1)
    for rig in (first, second, other):
        rig.fail("a", retryable=True)
    assert next_wake(first.state) == next_wake(second.state) != next_wake(other.state)


def test_what_the_other_side_asks_us_to_wait_lengthens_the_pause() -> None:
    rig = _rig()
    rig.fail("a", retryable=True, retry_after=90 * SECOND)
    assert next_wake(rig.state) == rig.now + 90 * SECOND


def test_what_the_other_side_asks_us_to_wait_never_shortens_the_pause() -> None:
    rig = _rig()
    rig.fail("a", retryable=True, retry_after=1)
    assert next_wake(rig.state) == rig.now + SECOND


def test_a_report_about_an_earlier_attempt_changes_nothing() -> None:
    rig = _rig()
    rig.fail("a", retryable=True)
    rig.wake()
    a = rig.live("a").id
    assert rig.tell(c.Complete(a, 1, "stale")) == []
    assert rig.tell(c.Fail(a, 1, Failure("STALE", "stale"))) == []
    assert rig.live("a").attempt == 2


def test_a_report_that_comes_while_the_next_attempt_is_pending_changes_nothing() -> None:
    rig = _rig()
    a = rig.live("a").id
    rig.fail("a", retryable=True)
    assert rig.tell(c.Fail(a, 1, Failure("AGAIN", "delivered twice", retryable=True))) == []
    assert rig.tell(c.Complete(a, 2, "too early")) == []
    assert rig.phase("a") == "retrying"


def test_the_last_heartbeat_is_there_for_the_next_attempt() -> None:
    rig = _rig()
    rig.tell(c.Heartbeat(rig.live("a").id, 1, {"done": 40}))
    rig.fail("a", retryable=True)
    rig.wake()
    assert rig.live("a").heartbeat == {"done": 40}


def test_a_heartbeat_of_an_earlier_attempt_is_not_recorded() -> None:
    rig = _rig()
    a = rig.live("a").id
    rig.fail("a", retryable=True)
    rig.wake()
    assert rig.tell(c.Heartbeat(a, 1, "old")) == []


def test_a_withdrawn_activation_is_not_tried_again() -> None:
    rig = _rig()
    rig.tell(c.Cancel())
    rig.fail("a", retryable=True)
    assert rig.state.final == "CANCELLED"
    assert rig.of(e.ActivationRetrying) == []


@pytest.mark.parametrize("attempts", [2, 4])
def test_an_inline_node_that_refuses_is_planned_again_if_its_refusal_is_retryable(attempts: int) -> None:
    node = {"type": "refuse", "retryable": True, "retry": {"attempts": attempts, "initial": 1}}
    rig = Rig(flow({"s": "start", "a": node}, "s>a"))
    while rig.state.final is None:
        rig.wake()
    assert len(rig.of(e.ActivationRetrying)) == attempts - 1
