"""The pure runner itself: its clock, its order, and that its checks would notice."""

import asyncio
from typing import Any

import pytest

from perdure.errors import DocumentInvalid, InvariantBroken
from perdure.kernel.legality import Phase
from perdure.model.events import ActivationScheduled
from perdure.testing.pure import BEGIN, PureRunner, lasting

SECOND = 1_000_000


def step(id: str, name: str | None = None, **rest: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "config": {"step": name or id}, **rest}


def fan(*ids: str) -> dict[str, Any]:
    nodes = [{"id": "start", "type": "start"}, *(step(id) for id in ids), {"id": "end", "type": "end"}]
    edges = [{"source": "start", "target": id} for id in ids] + [{"source": id, "target": "end"} for id in ids]
    return {"nodes": nodes, "edges": edges}


def test_the_clock_jumps_to_what_is_due() -> None:
    runner = PureRunner(fan("a", "b"), steps={"a": lasting(5, lambda: 1), "b": lasting(900, lambda: 2)})
    result = runner.run()
    assert runner.now == BEGIN + 900 * SECOND
    assert result.completed == ["start", "a", "b", "end"]
    assert result.output == {"a": 1, "b": 2}


def test_time_can_be_let_pass_bit_by_bit() -> None:
    runner = PureRunner(fan("a"), steps={"a": lasting(5, lambda: 1)})
    result = runner.start()
    runner.advance(4.9)
    assert result.status == "RUNNING"
    runner.advance(0.1)
    assert result.status == "COMPLETED"


def test_any_order_is_repeatable() -> None:
    ids = "abcdefgh"
    steps = {id: (lambda: 1) for id in ids}

    def order(seed: int) -> list[str]:
        return PureRunner(fan(*ids), steps=steps, shuffle=seed).run().completed

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(10)}) > 5


def test_what_is_cancelled_is_stopped() -> None:
    done: list[str] = []
    runner = PureRunner(fan("a"), steps={"a": lasting(10, lambda: done.append("a"))})
    result = runner.run(cancel_at=5)
    assert result.status == "CANCELLED"
    assert runner.now == BEGIN + 5 * SECOND


def test_documents_are_validated() -> None:
    with pytest.raises(DocumentInvalid):
        PureRunner({"nodes": []})


def test_a_step_may_give_way_but_not_wait() -> None:
    async def gives_way() -> int:
        await asyncio.sleep(0)
        return 1

    async def waits() -> None:
        await asyncio.Event().wait()

    assert PureRunner(fan("a"), steps={"a": gives_way}).run().output == 1
    assert PureRunner(fan("a"), steps={"a": waits}).run().status == "FAILED"


def test_a_state_that_differs_from_its_log_is_noticed() -> None:
    runner = PureRunner(fan("a"), steps={"a": lasting(5, lambda: 1)})
    result = runner.start()
    result.state.body.vars["smuggled"] = 1
    with pytest.raises(InvariantBroken, match="another state"):
        result.check()


def test_an_effect_that_was_never_asked_for_is_noticed() -> None:
    runner = PureRunner(fan("a"), steps={"a": lasting(5, lambda: 1)})
    result = runner.start()
    result.check()
    [begun] = result.of(ActivationScheduled)
    assert result.state.activations[begun.id].phase is Phase.EXECUTING
    result._under_way.clear()
    with pytest.raises(InvariantBroken, match="never asked for"):
        result.check()
