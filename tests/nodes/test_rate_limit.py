"""rate-limit: over all runs and workers no more pass than the limit allows, whoever comes when."""

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import RunEnded
from perdure.model.events import ActivationCompleted
from perdure.model.values import digest
from perdure.nodes.rate_limit import Limit, lasts
from tests.rows.worlds import World, on_every_store

SECOND = 1_000_000


def most_in_any_window(limit: Limit, passed: list[int]) -> bool:
    """Whether never more pass than the burst and what the rate allows in the time."""
    for first, begin in enumerate(passed):
        for last in range(first, len(passed)):
            if (last - first + 1 - limit.burst) * limit.period > (passed[last] - begin) * limit.rate:
                return False
    return True


limits = st.builds(Limit, st.integers(1, 50), st.integers(1, 10 * SECOND), st.integers(1, 10))
gaps = st.lists(st.one_of(st.just(0), st.integers(0, SECOND), st.integers(0, 60 * SECOND)), max_size=60)


@given(limits, gaps, st.one_of(st.none(), st.integers(0, 5 * SECOND)))
@settings(max_examples=300, deadline=None)
def test_no_window_of_time_sees_more_than_burst_and_rate(limit: Limit, gaps: list[int], patience: int | None) -> None:
    full: int | None = None
    passed = []
    for now in accumulate(gaps, initial=1_800_000_000 * SECOND):
        at, after = limit.place(full, now, patience)
        if after is not None:
            assert at >= now
            passed.append(at)
            full = after
        else:
            assert patience is not None
            assert at - now > patience
    assert passed == sorted(passed)
    assert most_in_any_window(limit, passed)


whole = st.builds(
    lambda rate, each, burst: Limit(rate, rate * each, burst), *(st.integers(1, 50),) * 2, st.integers(1, 9)
)


@given(whole, gaps)
@settings(max_examples=200, deadline=None)
def test_what_the_limit_allows_is_not_refused(limit: Limit, gaps: list[int]) -> None:
    """Nobody waits for more than its turn: one microsecond earlier would have been one too many."""
    full: int | None = None
    passed: list[int] = []
    for now in accumulate(gaps, initial=1_800_000_000 * SECOND):
        at, full = limit.place(full, now, None)
        if at > now:
            assert not most_in_any_window(limit, [*passed, at - 1])
        passed.append(at)


def test_a_quiet_time_fills_the_burst_again_and_no_more() -> None:
    limit = Limit(1, SECOND, 3)
    full, begin = None, 1_800_000_000 * SECOND
    for now, count in ((begin, 3), (begin + 100 * SECOND, 3), (begin + 101 * SECOND, 1)):
        for _ in range(count):
            at, full = limit.place(full, now, 0)
            assert at == now
        assert limit.place(full, now, 0)[1] is None


@given(st.lists(st.tuples(limits, st.one_of(st.just(0), st.integers(0, 60 * SECOND))), max_size=40))
@settings(max_examples=300, deadline=None)
def test_limits_of_several_rates_share_a_key_and_each_of_them_holds(comers: list[tuple[Limit, int]]) -> None:
    """Whoever comes waits for the places that others have taken, and for nothing else."""
    full: int | None = None
    now = 1_800_000_000 * SECOND
    taken = 0
    passed: dict[Limit, list[int]] = {}
    for limit, gap in comers:
        now, taken = now + gap, max(0, taken - gap)
        at, full = limit.place(full, now, None)
        assert full is not None
        assert at - now <= taken
        taken += -(-limit.period // limit.rate) + 1  # a turn begins at a whole microsecond
        assert lasts(full, now) <= taken
        passed.setdefault(limit, []).append(at)
    for limit, moments in passed.items():
        assert most_in_any_window(limit, sorted(moments))


@given(limits, st.lists(limits, max_size=20), gaps)
@settings(max_examples=200, deadline=None)
def test_after_a_change_the_new_limit_holds(limit: Limit, before: list[Limit], gaps: list[int]) -> None:
    full: int | None = None
    now = 1_800_000_000 * SECOND
    for old in before:
        _, full = old.place(full, now, None)
    passed = []
    for later in accumulate(gaps, initial=now):
        at, full = limit.place(full, later, None)
        passed.append(at)
    assert passed == sorted(passed)
    assert most_in_any_window(limit, passed)


def document(config: Any, **edges: Any) -> dict[str, Any]:
    nodes = [{"id": "start", "type": "start"}, {"id": "limit", "type": "rate-limit", "config": config}]
    lines = [{"source": "start", "target": "limit"}]
    for outcome, name in edges.items():
        nodes.append({"id": outcome, "type": "json", "config": {"data": {"way": outcome}}})
        lines.append({"source": "limit", "target": outcome, "outcome": name})
    return {"nodes": nodes, "edges": lines}


@on_every_store
async def test_who_comes_too_early_waits_its_turn_and_holds_nothing(world: World) -> None:
    async with world.app(slots=1) as app:
        await app.deploy(document({"key": "api", "rate": 2, "period": "1s", "burst": 1}), id="flow")
        runs = [await app.start("flow", {"n": n}) for n in range(9)]
        assert [await run.result() for run in runs] == [{"n": n} for n in range(9)]
        ends = []
        for run in runs:
            history = await run.history()
            ends.append(next(each.at for each in history if isinstance(each.event, ActivationCompleted)))
        assert max(end - min(ends) for end in ends) >= 4 * SECOND - 1000


@on_every_store
async def test_a_new_version_with_another_rate_waits_for_no_more_than_was_taken(world: World) -> None:
    async with world.app() as app:
        begun = world.clock.now()
        for rate in (10, 5, 10, 1, 1000):
            await app.deploy(document({"key": "crm", "rate": rate, "period": "1s"}), id="flow")
            await (await app.start("flow")).result()
        await app.deploy(document({"key": "crm", "rate": "${input.rate}", "period": "1s"}), id="other")
        for rate in (7, 100, 1):
            await (await app.start("other", {"rate": rate})).result()
        assert world.clock.now() - begun < 4 * SECOND


@on_every_store
async def test_what_an_earlier_release_has_counted_is_forgotten(world: World) -> None:
    async with world.app() as app:
        old = b"%d" % (world.clock.now() * 10)
        await app.store.cells.put("default", f"rate:{digest(b'crm')}", old, ttl=3600 * SECOND)
        await app.deploy(document({"key": "crm", "rate": 5, "period": "1s"}), id="flow")
        begun = world.clock.now()
        await (await app.start("flow")).result()
        assert world.clock.now() - begun < SECOND


@on_every_store
async def test_workers_share_the_limit(world: World) -> None:
    async with world.app() as one, world.app() as two:
        config = {"key": "{{input.who}}", "rate": 5, "period": "1h", "exceeded": "limited"}
        flow = document(config, passed="passed", limited="limited")
        await one.deploy(flow, id="flow")
        runs = [await (one, two)[n % 2].start("flow", {"who": "ab"[n % 4 < 2]}) for n in range(40)]
        ways = [(await run.result())["data"]["way"] for run in runs]
        assert ways.count("passed") == 10
        assert ways.count("limited") == 30


@on_every_store
async def test_the_input_is_handed_on_as_it_is(world: World) -> None:
    """Whatever its fields are called, and whichever way it goes. A plain edge is taken beside the outcome's."""
    async with world.app() as app:
        flow = document({"key": "x", "rate": 1, "period": "1h", "exceeded": "limited"})
        flow["nodes"].append(
            {
                "id": "told",
                "type": "json",
                "config": {"data": "${[nodes.limit.output, _global['limit:rate'].retry_after_ms ?? 0]}"},
            }
        )
        flow["edges"].append({"source": "limit", "target": "told"})
        await app.deploy(flow, id="flow")
        given = {"limited": "mine", "data": {"waited_ms": "too"}}
        found = [(await (await app.start("flow", given)).result())["data"] for _ in range(2)]
        assert [each[0] for each in found] == [given, given]
        assert found[0][1] == 0
        assert 3_599_000 <= found[1][1] <= 3_600_000


@on_every_store
async def test_who_may_not_wait_fails_and_says_when_to_come_again(world: World) -> None:
    async with world.app() as app:
        await app.deploy(document({"key": "x", "rate": 1, "period": "1m", "exceeded": "fail"}), id="fails")
        await app.deploy(document({"key": "y", "rate": 1, "period": "1m", "max_wait": "90s"}), id="waits")
        await (await app.start("fails")).result()
        with pytest.raises(RunEnded) as ended:
            await (await app.start("fails")).result()
        assert ended.value.details["failure"]["code"] == "RATE_LIMITED"
        assert 59_000 <= ended.value.details["failure"]["details"]["retry_after_ms"] <= 60_000
        runs = [await app.start("waits") for _ in range(3)]
        await runs[0].result()
        with pytest.raises(RunEnded, match="more than 1 in 60 s"):
            await runs[2].result()
        await runs[1].result()


@on_every_store
async def test_a_computed_rate_that_is_none(world: World) -> None:
    async with world.app() as app:
        await app.deploy(document({"key": "${input.k}", "rate": "${input.r}"}), id="flow")
        for input in ({"k": "x", "r": 0}, {"k": "x", "r": "5"}, {"k": None, "r": 5}, {"k": [], "r": 5}):
            with pytest.raises(RunEnded) as ended:
                await (await app.start("flow", input)).result()
            assert ended.value.details["failure"]["code"] == "RATE_INVALID"
