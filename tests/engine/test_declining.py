"""A worker that lacks what a run needs leaves it to others: nothing fails, nothing counts, nothing spins."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from perdure.engine import ActivationContext, Engine, Library, Reply
from perdure.errors import NotInstalled
from perdure.model.commands import Cancel, Command, Resume, RetryRun, Signal, Suspend
from perdure.model.events import ActivationsRedelivered, SignalReceived
from perdure.ports.journal import TurnWrite
from perdure.testing.crashing import crash
from perdure.testing.faults import Fault
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import (
    NAMESPACE,
    Handlers,
    World,
    child,
    output_of,
    result_of,
    signal,
    sleep,
    step,
    until,
    world,
)


def having(*types: str) -> Handlers:
    """Handlers of these types, which pass their input on; no others."""
    handlers = Handlers()
    for type in types:
        handlers.add(type, lambda context: context.input)
    return handlers


async def taking_time(context: ActivationContext) -> Any:
    await pass_time(20)
    return context.input


def count_claims(w: World) -> Counter[str]:
    """By worker: how often it asks the store for runs; with `runs` in front, how many it gets."""
    counted: Counter[str] = Counter()
    claim = w.beneath.ownership.claim

    async def counting(worker: str, *rest: Any) -> Any:
        claimed = await claim(worker, *rest)
        counted[worker] += 1
        counted[f"runs {worker}"] += len(claimed)
        return claimed

    w.beneath.ownership.claim = counting  # type: ignore[method-assign]
    return counted


async def is_free(w: World, run: str) -> None:
    """Until nobody owns it."""
    for _ in range(1_000):
        if (await w.head(run)).owner is None:
            return
        await pass_time(0.01)
    raise AssertionError("somebody keeps it")


@simulated()
async def test_a_run_moves_to_the_worker_that_has_what_it_needs_and_nothing_fails() -> None:
    async with world() as w:
        await w.define("one", step("here"), step("there"), step("here"), step("there"))
        first, second = having("here"), having("there")
        one = await w.engine(handlers=first, decline=5)
        await w.engine(handlers=second, decline=5)
        run = await w.start(one, "one", 7)
        assert output_of(await w.ended(one, run)) == 7
        assert [type for type, _, _ in first.calls] == ["here", "here"]
        assert [type for type, _, _ in second.calls] == ["there", "there"]
        assert {attempt for _, _, attempt in [*first.calls, *second.calls]} == {1}
        names = set(await w.event_names(run))
        assert not names & {"ActivationFailed", "ActivationRetrying"}
        redelivered = [event for event in await w.events(run) if isinstance(event, ActivationsRedelivered)]
        assert not any(event.ids for event in redelivered), "nobody died"
        assert not w.diary.aside


@simulated()
async def test_it_moves_at_once_where_the_other_has_room() -> None:
    async with world() as w:
        await w.define("one", step("there"))
        one = await w.engine(handlers=having())
        two = await w.engine(handlers=having("there"))
        begun = asyncio.get_running_loop().time()
        for n in range(50):
            assert output_of(await w.run(one, "one", n)) == n
        assert asyncio.get_running_loop().time() - begun < 1
        assert two.runtime.roster.count == 50


@simulated()
async def test_what_runs_beside_it_ends_where_it_has_begun() -> None:
    async with world() as w:
        first, second = having(), having("missing")
        first.add("slow", taking_time)
        await w.define("one", {"do": "together", "types": ["missing", "slow"]})
        one = await w.engine(handlers=first)
        await w.engine(handlers=second)
        run = await w.start(one, "one", 7)
        await pass_time(19)
        assert (await w.head(run)).owner == one.worker
        assert not second.calls
        assert output_of(await w.ended(one, run)) == 7
        assert asyncio.get_running_loop().time() < 21
        assert (first.count("slow"), second.count("missing")) == (1, 1)
        assert "completed" in w.diary.endings
        assert "cancelled" not in w.diary.endings


@simulated()
async def test_two_workers_that_have_one_half_each_do_it_together() -> None:
    """Also after a death, when both halves are outstanding at once: each does its own before it passes the run on."""
    async with world() as w:
        hanging = Handlers()
        for type in ("left", "right"):
            hanging.add(type, lambda context: pass_time(1_000_000))
        await w.define("one", {"do": "together", "types": ["left", "right"]})
        dying = await w.engine(handlers=hanging, lease=10)
        run = await w.start(dying, "one", 7)
        await pass_time(1)
        crash(dying)
        w.engines.remove(dying)
        left, right = having("left"), having("right")
        one = await w.engine(handlers=left, lease=10)
        await w.engine(handlers=right, lease=10)
        assert output_of(await w.ended(one, run)) == 7
        assert asyncio.get_running_loop().time() < 20
        assert (left.count("left"), right.count("right")) == (1, 1)


@simulated()
async def test_what_waits_for_a_slot_has_begun_as_far_as_that_goes() -> None:
    async with world() as w:
        first, second = having(), having("missing")
        first.add("slow", taking_time)
        await w.define("two", {"do": "together", "types": ["slow", "missing", "slow"]})
        one = await w.engine(handlers=first, slots=1)
        await w.engine(handlers=second)
        run = await w.start(one, "two", 7)
        assert output_of(await w.ended(one, run)) == 7
        assert (first.count("slow"), second.count("missing")) == (2, 1)


@simulated()
async def test_where_nobody_has_it_the_run_stays_open_and_the_worker_asks_once_a_minute() -> None:
    async with world() as w:
        counted = count_claims(w)
        await w.define("one", step("missing"))
        engine = await w.engine(handlers=having(), poll=1)
        runs = [await w.start(engine, "one", n) for n in range(10)]
        await pass_time(600)
        assert {(await w.head(run)).status for run in runs} == {"RUNNING"}
        assert [(await w.head(run)).owner for run in runs] == [None] * 10
        assert counted[engine.worker] < 600 / 0.75 + 30, "the poll and little more"
        assert counted[f"runs {engine.worker}"] <= 10 * 10
        await w.engine(handlers=having("missing"))
        for n, run in enumerate(runs):
            assert output_of(await w.ended(engine, run)) == n


@simulated()
async def test_other_runs_are_claimed_as_before() -> None:
    async with world() as w:
        await w.define("stuck", step("missing"))
        await w.define("well", sleep(5), step())
        engine = await w.engine(handlers=having("echo"), parked_runs=0)
        for _ in range(20):
            await w.start(engine, "stuck")
        begun = asyncio.get_running_loop().time()
        assert output_of(await w.run(engine, "well", 7)) == 7
        assert asyncio.get_running_loop().time() - begun < 5.1, "by its wake time, not by the poll"


@simulated()
async def test_what_comes_to_be_here_is_used_at_once() -> None:
    async with world() as w:
        handlers = having()
        await w.define("one", step("later"))
        engine = await w.engine(handlers=handlers, poll=60)
        run = await w.start(engine, "one", 7)
        await is_free(w, run)
        await pass_time(1)
        handlers.add("later", lambda context: context.input)
        engine.equipped()
        begun = asyncio.get_running_loop().time()
        assert output_of(await w.ended(engine, run)) == 7
        assert asyncio.get_running_loop().time() - begun < 0.1
        Engine(w.store, w.library(), handlers).equipped()  # one that is not open has nothing to try again


@simulated()
async def test_a_run_of_a_version_that_is_left_to_others_begins_where_it_is_started() -> None:
    async with world() as w:
        first, second = having("here"), having("missing")
        await w.define("one", step("here"), step("missing"))
        one = await w.engine(handlers=first)
        await is_free(w, await w.start(one, "one"))
        run = await w.start(one, "one", 7)
        await is_free(w, run)
        assert first.count("here") == 2
        await w.engine(handlers=second)
        assert output_of(await w.ended(one, run)) == 7


@simulated()
async def test_runs_that_cannot_go_on_do_not_keep_the_others_of_their_version_from_it_for_ever() -> None:
    async with world() as w:
        await w.define("one", signal("go"), step("missing"))
        engine = await w.engine(handlers=having(), claim_batch=5)
        stuck = [await w.start(engine, "one") for _ in range(30)]
        for run in stuck:
            await engine.send(NAMESPACE, run, Signal("go"))
        late = await w.start(engine, "one")
        assert await engine.send(NAMESPACE, late, Signal("extra", None, "e")) is Reply.ACCEPTED
        await pass_time(10 * 60)
        assert "SignalReceived" in await w.event_names(late)


@simulated()
async def test_a_run_that_has_ended_with_its_first_turn_is_not_due() -> None:
    async with world() as w:
        await w.define("inline", {"do": "label", "values": {"a": 1}})
        await w.define("parent", child("inline"))
        engine = await w.engine()
        engine.runtime.settings = type(engine.runtime.settings)(max_runs=1)
        assert (await w.run(engine, "parent")).status == "COMPLETED"
        heads = await w.beneath.runs.walk()
        assert [head.wake_at for head in heads] == [None, None]


# -- commands -----------------------------------------------------------------------------------------


@simulated()
async def test_a_signal_for_a_run_that_is_left_to_others_is_accepted_and_decided_by_them() -> None:
    async with world() as w:
        await w.define("one", step("here"), signal("go"), step("missing"))
        first = having("here")
        one = await w.engine(handlers=first)
        run = await w.start(one, "one")
        stuck = await w.start(one, "one")
        await until(lambda: not one.runtime.roster.owned)
        assert await one.send(NAMESPACE, stuck, Signal("go")) is Reply.DECIDED, "nobody knew yet"
        await is_free(w, stuck)
        assert await one.send(NAMESPACE, run, Signal("go", 7, "once")) is Reply.ACCEPTED
        assert await one.send(NAMESPACE, run, Signal("go", 7, "once")) is Reply.UNCHANGED
        await w.engine(handlers=having("missing"))
        assert output_of(await w.ended(one, run)) == 7
        assert [event.id for event in await w.events(run) if isinstance(event, SignalReceived)] == ["once"]


@simulated()
async def test_what_needs_nobody_who_could_execute_is_decided_within_the_minute() -> None:
    async with world() as w:
        await w.define("one", step("missing"))
        engine = await w.engine(handlers=having())
        run = await w.start(engine, "one")
        await is_free(w, run)
        for name in ("a", "b"):
            assert await engine.send(NAMESPACE, run, Signal(name, None, name)) is Reply.ACCEPTED
        await pass_time(62)
        received = [event.id for event in await w.events(run) if isinstance(event, SignalReceived)]
        assert received == ["a", "b"]
        assert (await w.head(run)).owner is None


@pytest.mark.parametrize("is_remembered", [True, False])
def test_a_run_of_which_nobody_has_the_step_can_be_suspended_resumed_and_cancelled(is_remembered: bool) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", step("missing"))
            engine = await w.engine(handlers=having(), parked_runs=100 if is_remembered else 0)
            run = await w.start(engine, "one")
            await is_free(w, run)
            assert await engine.send(NAMESPACE, run, Suspend("wait")) is Reply.DECIDED
            assert (await w.head(run)).status == "SUSPENDED"
            await is_free(w, run)
            assert await engine.send(NAMESPACE, run, Resume()) is Reply.ACCEPTED
            await pass_time(62)
            assert (await w.head(run)).status == "RUNNING"
            await is_free(w, run)
            assert await engine.send(NAMESPACE, run, Cancel("enough")) is Reply.DECIDED
            assert (await w.ended(engine, run)).status == "CANCELLED"

    check()


@simulated()
async def test_a_timer_of_a_run_of_which_nobody_has_the_step_fires_within_the_minute() -> None:
    async with world() as w:
        await w.define("one", step("missing", attempts=2))
        failing = having()

        def fails(context: ActivationContext) -> None:
            raise ConnectionError("no luck")

        failing.add("missing", fails)
        able = await w.engine(handlers=failing)
        run = await w.start(able, "one")
        await until(lambda: failing.count("missing") == 1)
        await able.close()  # its second attempt is due in a second
        w.engines.remove(able)
        await w.engine(handlers=having())
        await pass_time(70)
        assert "TimerFired" in await w.event_names(run)
        third = await w.engine(handlers=having("missing"))
        assert (await w.ended(third, run)).status == "COMPLETED"


@simulated()
async def test_a_command_that_comes_while_the_run_is_handed_back_is_decided_before() -> None:
    async with world() as w:
        await w.define("one", step("missing"), signal("go"))
        one = await w.engine(handlers=having(), poll=60)
        with w.store.held() as gate:
            starting = asyncio.ensure_future(w.start(one, "one"))
            await pass_time(0.1)
            gate.set()
            run = await starting
        await is_free(w, run)
        # What an inbox gets between the decision to hand back and its commit is met by that commit.
        with w.store.held() as gate:
            cancelled = asyncio.ensure_future(one.send(NAMESPACE, run, Suspend("a moment")))
            await pass_time(0.1)
            await w.beneath.inbox.send(NAMESPACE, run, _encoded(Signal("go", 7, "between")), "r")
            gate.set()
            assert await cancelled is Reply.DECIDED
        await is_free(w, run)
        assert "SignalReceived" in await w.event_names(run)
        await one.send(NAMESPACE, run, Resume())
        two = await w.engine(handlers=having("missing"))
        assert output_of(await w.ended(two, run)) == 7


def _encoded(command: Command) -> bytes:
    from perdure.model.codec import encode_command

    return encode_command(command)


@simulated()
async def test_a_failed_run_is_taken_up_again_by_whoever_is_asked() -> None:
    async with world() as w:
        first = having()

        def fails(context: ActivationContext) -> None:
            raise ConnectionError("no luck")

        first.add("missing", fails)
        await w.define("one", step("missing"))
        able = await w.engine(handlers=first)
        run = await w.start(able, "one", 7)
        assert result_of(await w.ended(able, run))["failure"]["code"] == "NODE_FAILED"
        await able.close()
        w.engines.remove(able)
        one = await w.engine(handlers=having())
        assert await one.send(NAMESPACE, run, RetryRun()) is Reply.DECIDED
        await is_free(w, run)
        two = await w.engine(handlers=having("missing"))
        assert output_of(await w.ended(two, run)) == 7


# -- definitions that cannot be run here --------------------------------------------------------------


async def engine_without_scripts(w: World, **settings: Any) -> Engine:
    """It has the handlers, but not the program."""
    engine = Engine(w.store, Library(w.store.definitions, {}), w.handlers, clock=w.clock, observer=w.diary, **settings)
    await engine.open()
    w.engines.append(engine)
    return engine


@simulated()
async def test_a_run_whose_definition_cannot_be_run_here_is_given_back_untouched() -> None:
    async with world() as w:
        await w.define("one", sleep(5), step())
        able = await w.engine()
        runs = [await w.start(able, "one", n) for n in range(30)]
        await until(lambda: not able.runtime.roster.owned)
        await able.close()
        w.engines.remove(able)
        counted = count_claims(w)
        unable = await engine_without_scripts(w)
        commits = len(w.store.commits)
        await pass_time(100)
        assert len(w.store.commits) == commits
        assert counted[f"runs {unable.worker}"] <= 2 * 30
        assert not w.diary.aside
        able = await w.engine()
        for n, run in enumerate(runs):
            assert output_of(await w.ended(unable, run)) == n


@simulated()
async def test_a_definition_that_does_not_compile_here_may_compile_elsewhere() -> None:
    def newer(version: Any) -> Any:
        raise ValueError("a field that nobody has heard of")

    async with world() as w:
        await w.define("one", sleep(5), step())
        able = await w.engine(park_after=0)
        run = await w.start(able, "one", 7)
        await able.close()
        w.engines.remove(able)
        older = Engine(w.store, Library(w.store.definitions, {"script": newer}), w.handlers, clock=w.clock)
        await older.open()
        w.engines.append(older)
        await pass_time(10)
        assert not older.set_aside
        await w.engine()
        assert output_of(await w.ended(older, run)) == 7


@simulated()
async def test_a_signal_for_a_run_whose_definition_cannot_be_run_here_is_accepted_and_not_lost() -> None:
    async with world() as w:
        await w.define("one", signal("go"))
        able = await w.engine()
        run = await w.start(able, "one")
        await until(lambda: not able.runtime.roster.owned)
        await able.close()
        w.engines.remove(able)
        unable = await engine_without_scripts(w)
        replies = await asyncio.gather(*(unable.send(NAMESPACE, run, Signal("go", n, str(n))) for n in range(3)))
        assert replies == [Reply.ACCEPTED] * 3
        assert await unable.send(NAMESPACE, run, Signal("go", 0, "0")) is Reply.UNCHANGED
        with pytest.raises(NotInstalled):
            await unable.start(NAMESPACE, "one")
        await pass_time(100)
        two = await w.engine()
        assert output_of(await w.ended(two, run)) == 0
        received = [event.id for event in await w.events(run) if isinstance(event, SignalReceived)]
        assert received == ["0", "1", "2"]


@simulated()
async def test_a_failed_run_whose_definition_cannot_be_run_here_is_not_taken_up_again_here() -> None:
    async with world() as w:
        await w.define("one", signal("go", seconds=1))
        able = await w.engine()
        run = await w.start(able, "one")
        assert (await w.ended(able, run)).status == "FAILED"
        await able.close()
        w.engines.remove(able)
        unable = await engine_without_scripts(w)
        with pytest.raises(NotInstalled, match="script"):
            await unable.send(NAMESPACE, run, RetryRun())
        head = await w.head(run)
        assert (head.status, head.owner, head.wake_at) == ("FAILED", None, None)


@simulated()
async def test_a_child_whose_definition_cannot_be_run_here_is_started_by_another_worker() -> None:
    async with world() as w:
        from tests.engine.script import compile_script

        def picky(version: Any) -> Any:
            if version.id == "child":
                raise NotInstalled("not here", kind="node type", name="rare")
            return compile_script(version)

        await w.define("child", step())
        await w.define("parent", step(), child("child"), step())
        unable = Engine(w.store, Library(w.store.definitions, {"script": picky}), w.handlers, clock=w.clock)
        await unable.open()
        w.engines.append(unable)
        run = await w.start(unable, "parent", 7)
        await is_free(w, run)
        assert not (await w.head(run)).status.is_final
        await w.engine()
        assert output_of(await w.ended(unable, run)) == 7
        assert "ChildClosed" in await w.event_names(run)


# -- deaths, lost answers, leaving --------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["step", "definition"])
def test_the_death_of_the_worker_before_counts_once_whoever_looks_at_the_run_in_between(whose: str) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            hanging = Handlers()
            hanging.add("work", lambda context: pass_time(1_000_000))
            await w.define("one", step("work"))
            dying = await w.engine(handlers=hanging, lease=10)
            run = await w.start(dying, "one", 7)
            await pass_time(3)
            crash(dying)
            w.engines.remove(dying)
            unable = await (w.engine(handlers=having()) if whose == "step" else engine_without_scripts(w))
            await pass_time(300)
            assert "ActivationsRedelivered" not in await w.event_names(run), "it is not told yet"
            await w.engine(handlers=having("work"))
            assert output_of(await w.ended(unable, run)) == 7
            (told,) = [event for event in await w.events(run) if isinstance(event, ActivationsRedelivered)]
            assert len(told.ids) == 1
            assert told.idle > 250_000_000, "nobody was executing it meanwhile"

    check()


@simulated()
async def test_time_in_which_nobody_has_the_run_is_not_active_time() -> None:
    async with world() as w:
        from perdure.model.policies import Limits

        await w.define("one", step("here"), step("missing"))
        one = await w.engine(handlers=having("here"))
        run = await w.start(one, "one", 7, limits=Limits(active_time=30_000_000))
        await pass_time(500)
        two = await w.engine(handlers=having("missing"))
        assert output_of(await w.ended(two, run)) == 7


@simulated()
async def test_a_step_that_may_run_once_only_is_done_once_by_the_worker_that_has_it() -> None:
    async with world() as w:
        await w.define("one", step("missing", once=True))
        one = await w.engine(handlers=having())
        run = await w.start(one, "one", 7)
        await pass_time(200)
        able = having("missing")
        two = await w.engine(handlers=able)
        assert output_of(await w.ended(two, run)) == 7
        assert able.count("missing") == 1


def hands_back(turn: TurnWrite) -> bool:
    return turn.owner is None and turn.result is None


@pytest.mark.parametrize("fault", list(Fault))
def test_a_hand_over_whose_answer_is_lost_is_a_hand_over(fault: Fault) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", step("missing"))
            one = await w.engine(handlers=having())
            able = having("missing")
            w.store.next_commit(fault, when=hands_back)
            run = await w.start(one, "one", 7)
            await w.engine(handlers=able, store=w.beneath)
            assert output_of(await w.ended(one, run)) == 7
            assert able.count("missing") == 1
            assert w.store.struck

    check()


@pytest.mark.parametrize("moment", ["before", "during"])
def test_a_worker_that_dies_while_it_hands_a_run_back_holds_nobody_up(moment: str) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", step("missing"))
            dying = await w.engine(handlers=having(), lease=10)
            two = await w.engine(handlers=having("missing"), store=w.beneath)
            with w.store.held() as gate:
                starting = asyncio.ensure_future(w.start(dying, "one", 7))
                await pass_time(0.1)
                if moment == "during":
                    gate.set()
                    run = await starting
                else:
                    starting.cancel()
                    run = w.store.commits[0].run
                    gate.set()
                    await until(lambda: len(w.store.commits) == 2)
                crash(dying)
                w.engines.remove(dying)
            assert output_of(await w.ended(two, run)) == 7
            assert asyncio.get_running_loop().time() < 13

    check()


@simulated()
async def test_a_store_that_cannot_be_reached_when_a_claim_is_given_back_is_asked_again() -> None:
    async with world() as w:
        await w.define("one", sleep(5), step())
        able = await w.engine(park_after=0)
        run = await w.start(able, "one", 7)
        await able.close()
        w.engines.remove(able)
        unable = await engine_without_scripts(w)
        give_back, refusals = w.beneath.ownership.give_back, [1, 2, 3]

        async def unwilling(*asked: Any) -> None:
            from perdure.errors import StoreUnavailable

            if refusals:
                refusals.pop()
                raise StoreUnavailable("not now")
            await give_back(*asked)

        w.beneath.ownership.give_back = unwilling  # type: ignore[method-assign]
        await until(lambda: not refusals)
        await is_free(w, run)
        await w.engine()
        assert output_of(await w.ended(unable, run)) == 7


@simulated()
async def test_a_worker_that_waits_to_hand_a_run_back_can_be_closed() -> None:
    async with world() as w:
        first = having()
        first.add("slow", taking_time)
        await w.define("one", {"do": "together", "types": ["missing", "slow"]})
        one = await w.engine(handlers=first, grace=1)
        run = await w.start(one, "one", 7)
        await pass_time(1)
        await one.close()
        w.engines.remove(one)
        two = await w.engine(handlers=having("missing", "slow"))
        assert output_of(await w.ended(two, run)) == 7


@simulated()
async def test_more_versions_than_can_be_named_are_tried_again_slowly() -> None:
    async with world() as w:
        counted = count_claims(w)
        for n in range(40):
            await w.define(f"flow-{n}", step("missing"))
        engine = await w.engine(handlers=having(), declines=10, decline=60)
        for n in range(40):
            await w.start(engine, f"flow-{n}")
        await pass_time(600)
        assert counted[engine.worker] < 800
        assert len(engine.runtime.declined.versions()) <= 10
        await w.engine(handlers=having("missing"))
        await pass_time(10)
        assert {head.status for head in await w.beneath.runs.walk()} == {"COMPLETED"}


@pytest.mark.parametrize("seed", range(20))
def test_workers_with_different_steps_bring_all_runs_to_their_end_in_any_order_of_events(seed: int) -> None:
    @simulated(seed)
    async def check() -> None:
        async with world() as w:
            kinds = ["a", "b", "c"]
            await w.define("one", *(step(type) for type in "abcacb"))
            await w.define("wide", {"do": "together", "types": kinds}, sleep(3), {"do": "together", "types": kinds})
            workers = [having("a", "b"), having("b", "c"), having("c", "a")]
            engines = [await w.engine(handlers=each, decline=4, poll=0.5) for each in workers]
            runs = [await w.start(engines[n % 3], ["one", "wide"][n % 2], n) for n in range(12)]
            for n, run in enumerate(runs):
                assert output_of(await w.ended(engines[n % 3], run)) == n
            calls = [call for each in workers for call in each.calls]
            assert len(calls) == len(set(calls)) == 12 * 6
            assert not w.diary.aside

    check()
