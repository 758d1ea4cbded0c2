"""Small parts on their own: ids, outputs, the simulated loop, the faulty store."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.engine.ids import Ids, base32
from perdure.engine.outputs import purified
from perdure.engine.storetime import StoreTime
from perdure.errors import InvalidInput
from perdure.model.values import decode_json, encode_json
from perdure.testing.simloop import SimClock, SimLoop, Stalled, pass_time, run, simulated


class FixedClock:
    def __init__(self, *times: int) -> None:
        self.times = list(times)

    def now(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


@given(st.lists(st.integers(0, 2**128 - 1), min_size=2, max_size=2))
def test_the_order_of_ids_is_the_order_of_their_numbers(numbers: list[int]) -> None:
    texts = [base32(number, 128) for number in numbers]
    assert (texts[0] < texts[1]) == (numbers[0] < numbers[1])
    assert {len(text) for text in texts} == {26}


def test_ids_grow_even_when_the_clock_goes_back() -> None:
    ids = Ids(FixedClock(5_000_000, 5_000_000, 1_000_000, 5_000_999, 9_000_000), random.Random(1))
    made = [ids.run() for _ in range(6)]
    assert made == sorted(set(made))


def test_the_same_seed_gives_the_same_ids() -> None:
    first, second = (Ids(FixedClock(7), random.Random(3)) for _ in range(2))
    assert [first.run(), first.token(), first.seed()] == [second.run(), second.token(), second.seed()]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(JSON)
def test_json_stays_what_it_is(value: Any) -> None:
    pure, size = purified(value)
    assert pure == value
    assert size >= 1
    assert decode_json(encode_json(pure)) == pure


@given(JSON)
def test_what_is_kept_is_always_what_a_replay_reads(value: Any) -> None:
    pure, _ = purified((value, {"when": datetime(2026, 1, 1, tzinfo=UTC)}))
    assert decode_json(encode_json(pure)) == pure


@pytest.mark.parametrize(
    "value", [float("nan"), [float("-inf")], {"a": {"b": float("nan")}}, {1.5, float("nan")}, "\0", {"\0": 1}, object()]
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        purified(value)


def test_endless_nesting_is_refused() -> None:
    value: Any = []
    for _ in range(70):
        value = [value]
    with pytest.raises(InvalidInput):
        purified(value)


# -- the simulated loop --------------------------------------------------------------------------


@simulated()
async def test_a_day_passes_at_once_on_the_simulated_loop() -> None:
    clock = SimClock()
    before = clock.now()
    await pass_time(86_400)
    assert clock.now() - before == 86_400_000_000


def test_a_loop_on_which_nothing_can_happen_says_so() -> None:
    async def wait_for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Stalled, match="wait_for_ever"):
        run(wait_for_ever())


def test_a_loop_that_goes_round_in_circles_says_so() -> None:
    async def spin() -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(0)

    with pytest.raises(Stalled, match="spin"):
        run(spin())


def test_the_order_of_what_is_ready_follows_from_the_seed() -> None:
    async def order() -> list[int]:
        seen: list[int] = []

        async def note(number: int) -> None:
            seen.append(number)

        await asyncio.gather(*(note(number) for number in range(20)))
        return seen

    assert run(order()) == list(range(20))
    assert run(order(), seed=5) == run(order(), seed=5) != list(range(20))
    assert len({tuple(run(order(), seed=seed)) for seed in range(10)}) > 5


def test_threads_are_not_threads_there() -> None:
    async def ask() -> int:
        return await asyncio.get_running_loop().run_in_executor(None, lambda: 7)

    assert run(ask()) == 7
    SimLoop().close()


@simulated()
async def test_a_slow_answer_about_the_time_does_not_make_a_close_estimate_worse() -> None:
    loop, clock = asyncio.get_running_loop(), SimClock()

    class Slow:
        delay = 0.0

        async def now(self) -> int:
            said = clock.now()
            await pass_time(self.delay)
            return said

    store: Any = Slow()
    time = StoreTime(loop)
    await time.measure(store)
    await pass_time(5)
    store.delay = 0.5
    await time.measure(store)
    assert 0 <= clock.now() - time.now() < 5_000
    clock.jump(-60)
    await time.measure(store)
    assert 0 <= clock.now() - time.now() < 600_000, "a clock that was set back is believed"
