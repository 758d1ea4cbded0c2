"""What people are told of a run that is in trouble."""

from __future__ import annotations

import pytest

from perdure import ActivationContext, ActivationError
from perdure.errors import IllegalCommand, RunEnded
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World, flow, on_every_store, step


@on_every_store
async def test_a_step_that_is_tried_again_says_what_failed_and_in_how_long_it_is_due(world: World) -> None:
    async def charge(ctx: ActivationContext) -> str:
        if ctx.attempt == 1:
            raise ActivationError("PAYMENT_DOWN", "the bank does not answer", retryable=True)
        return "paid"

    async with world.app(charge) as app:
        await app.deploy(flow("f", step("charge", retry={"attempts": 2, "initial": "12s"})))
        run = await app.start("f")
        await pass_time(2)
        (why,) = await run.why()
        assert why.startswith("charge failed with PAYMENT_DOWN: the bank does not answer; attempt 2 is due at ")
        assert why.endswith("Z (in 10 s)")
        assert await run.result() == "paid"


@on_every_store
async def test_a_step_that_could_not_be_undone_is_seen_in_the_view_the_error_and_the_reasons(world: World) -> None:
    async def pay(ctx: ActivationContext) -> str:
        return "paid"

    async def ship(ctx: ActivationContext) -> None:
        raise ActivationError("NO_STOCK", "nothing left")

    async def refund(ctx: ActivationContext) -> None:
        raise ActivationError("REFUND_REFUSED", "the card is closed")

    document = flow("f", step("pay", compensate="refund"), step("ship"))
    document["nodes"].append(step("refund"))
    async with world.app(pay, ship, refund) as app:
        await app.deploy(document)
        run = await app.start("f")
        with pytest.raises(RunEnded) as ended:
            await run.result()
        (failed,) = ended.value.failure["details"]["compensation"]["failed"]  # type: ignore[index]
        assert failed == {
            "node": "pay",
            "key": f"{run.id}/pay/1",
            "code": "REFUND_REFUSED",
            "message": "the card is closed",
        }
        assert (await run.view()).failure == ended.value.failure
        assert await run.why() == ["pay could not be undone: REFUND_REFUSED: the card is closed"]
        with pytest.raises(IllegalCommand, match="undoing pay was begun and failed"):
            await run.retry()
