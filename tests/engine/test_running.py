"""Steps, outputs, failures: one engine, nothing goes wrong with the store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import ActivationContext, ActivationError, Result
from perdure.errors import InvalidInput, NotFound
from perdure.testing.simloop import simulated
from tests.engine.world import NAMESPACE, output_of, result_of, sleep, step, steps, world


@simulated()
async def test_steps_run_one_after_the_other_and_hand_their_output_on() -> None:
    async with world() as w:
        w.handlers.add("inc", lambda context: context.input + 1)
        await w.define("five", *steps(["inc"] * 5))
        engine = await w.engine()
        assert output_of(await w.run(engine, "five", 0)) == 5
        assert w.handlers.count("inc") == 5
