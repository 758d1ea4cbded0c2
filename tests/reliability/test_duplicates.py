"""Everything that is delivered may be delivered again, late and out of order: it counts once (T-13)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from perdure.engine import ActivationContext, Engine, Reply
from perdure.engine.relay import Delivered, Relay
from perdure.errors import IllegalCommand
from perdure.model import commands as c
from perdure.model.events import SignalReceived
from perdure.model.failures import Failure
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, World, output_of, signal, sleep, step
from tests.reliability.places import STORES, world_on

LATEST = 600.0
SEEDS = range(8)
Story = Callable[[World, random.Random], Coroutine[Any, Any, None]]


def told_on_every_store(story: Story) -> Callable[[str, int], None]:
    @pytest.mark.parametrize("store", STORES)
    @pytest.mark.parametrize("seed", SEEDS)
    def test(store: str, seed: int) -> None:
        @simulated(seed)
        async def tell() -> None:
            async with world_on(store) as (w, _):
                await story(w, random.Random(seed))

        tell()

    test.__name__ = story.__name__
    return test


async def again_and_again(chance: random.Random, call: Callable[[], Coroutine[Any, Any, Any]]) -> list[Any]:
    """One to five times, at random moments within ten minutes. A refusal is an answer."""

    async def late() -> Any:
        await pass_time(chance.uniform(0, LATEST))
        try:
            return await call()
        except IllegalCommand as refusal:
            return refusal

    return await asyncio.gather(*(late() for _ in range(chance.randint(1, 5))))


async def three_engines(w: World) -> list[Engine]:
    return [await w.engine(lease=10, park_after=after) for after in (0, 1, 1)]


@told_on_every_store
async def test_a_start_that_is_repeated_starts_one_run(w: World, chance: random.Random) -> None:
    await w.define("one", step(), sleep(100), step())
    engines = await three_engines(w)

    def start() -> Coroutine[Any, Any, str]:
        return w.start(chance.choice(engines), "one", 7, key="k")

    runs = await again_and_again(chance, start)
    assert len(set(runs)) == 1
    assert output_of(await w.ended(engines[0], runs[0])) == 7
    assert len(await w.beneath.runs.walk()) == 1


@told_on_every_store
async def test_signals_that_are_repeated_in_any_order_count_once_each(w: World, chance: random.Random) -> None:
    names = [f"s{number}" for number in range(6)]
    await w.define("all", *(signal(name) for name in names), step())
    engines = await three_engines(w)
    run = await w.start(engines[0], "all")

    def send(name: str, by_request: bool) -> Coroutine[Any, Any, Reply]:
        command = c.Signal(name, name, None if by_request else f"id of {name}")
        engine = chance.choice(engines)
        return engine.send(NAMESPACE, run, command, request_id=f"request {name}" if by_request else None)

    shuffled = chance.sample(names, len(names))
    answers = await asyncio.gather(
        *(again_and_again(chance, lambda n=name, b=bool(place % 2): send(n, b)) for place, name in enumerate(shuffled))
    )
    assert output_of(await w.ended(engines[0], run)) == "s5"
    received = [event.name for event in await w.events(run) if isinstance(event, SignalReceived)]
    assert sorted(received) == names
    for said in answers:
        first = [answer for answer in said if answer in (Reply.DECIDED, Reply.ACCEPTED)]
        assert first, said
        others = {answer for answer in said if not isinstance(answer, IllegalCommand)}
        assert others <= {Reply.DECIDED, Reply.ACCEPTED, Reply.UNCHANGED}


@told_on_every_store
async def test_cancel_suspend_and_resume_that_are_repeated_do_no_harm(w: World, chance: random.Random) -> None:
    await w.define("long", sleep(2 * LATEST), step())
    engines = await three_engines(w)
    run = await w.start(engines[0], "long")
    commands: list[c.Command] = [c.Suspend("why not"), c.Resume(), c.Cancel("enough")]

    def send(command: c.Command) -> Coroutine[Any, Any, Reply]:
        return chance.choice(engines).send(NAMESPACE, run, command)

    await asyncio.gather(*(again_and_again(chance, lambda each=command: send(each)) for command in commands))
    assert (await w.ended(engines[0], run)).status == "CANCELLED"
    names = await w.event_names(run)
    assert names.count("RunCancelled") == 1
    assert abs(names.count("RunSuspended") - names.count("RunResumed")) <= 1


@told_on_every_store
async def test_what_handlers_report_is_heard_once_whoever_repeats_it(w: World, chance: random.Random) -> None:
    async def sometimes(context: ActivationContext) -> Any:
        await pass_time(chance.uniform(0, 60))
        if context.attempt < 3:
            raise ConnectionError("not yet")
        return (context.input or 0) + 1

    w.handlers.add("sometimes", sometimes)
    await w.define("chain", *(step("sometimes", attempts=3) for _ in range(4)))
    engines = await three_engines(w)
    run = await w.start(engines[0], "chain")
    late = Failure("NODE_FAILED", "an old story", retryable=True)

    def other_attempt(id: int) -> int:
        """Any but the current one. A run that nobody holds executes nothing."""
        held = [engine.runtime.roster.owned[run] for engine in engines if run in engine.runtime.roster.owned]
        activation = held[0].state.activations.get(id) if held else None
        return chance.randint(1, 3) if activation is None else activation.attempt + chance.choice([-1, 1])

    async def rumours() -> None:
        while not (await w.head(run)).status.is_final:
            id = chance.randint(1, 6)
            attempt = other_attempt(id)
            reports: list[c.Command] = [c.Complete(id, attempt, -1_000), c.Fail(id, attempt, late), c.CancelDone(id)]
            await chance.choice(engines).send(NAMESPACE, run, chance.choice(reports))
            await pass_time(chance.uniform(0, 5))

    spreading = asyncio.ensure_future(rumours())
    assert output_of(await w.ended(engines[0], run)) == 4
    await spreading
    names = await w.event_names(run)
    assert names.count("ActivationCompleted") == 4
    assert names.count("ActivationFailed") == 8


@told_on_every_store
async def test_messages_reach_a_forgetful_subscriber_again_with_the_same_id_and_in_order(
    w: World, chance: random.Random
) -> None:
    await w.define("teller", *({"do": "publish", "type": f"t{number}"} for number in range(5)), step())
    engine = await w.engine()
    heard: dict[str, list[Delivered]] = {}
    first_heard: list[str] = []

    async def forgetful(message: Delivered) -> None:
        await pass_time(chance.uniform(0, 3))
        before = heard.setdefault(message.id, [])
        before.append(message)
        if len(before) < 5 and chance.random() < 0.5:
            raise ConnectionResetError("taken, and the answer is lost")
        if message.id not in first_heard:
            first_heard.append(message.id)

    relays = [Relay(w.store, f"relay-{number}") for number in range(3)]
    for relay in relays:
        relay.subscribe("t*", forgetful)
        relay.open()
    runs = [await w.start(engine, "teller", number) for number in range(3)]
    for run in runs:
        await w.ended(engine, run)
    while len(first_heard) < 15:
        await pass_time(1)
    for relay in relays:
        await relay.close()
    for run in runs:
        mine = [id for id in first_heard if id.startswith(run)]
        types = [heard[id][0].type for id in mine]
        assert types == [f"t{number}" for number in range(5)]
    for deliveries in heard.values():
        assert len({(each.type, str(each.payload)) for each in deliveries}) == 1
        attempts = [each.attempt for each in deliveries]
        assert attempts == sorted(attempts)
