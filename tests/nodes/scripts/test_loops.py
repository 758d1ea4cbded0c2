"""Scripts run on whatever event loop the application runs on."""

from __future__ import annotations

from typing import Any

import uvloop

from perdure.engine.handlers import ActivationError
from perdure.nodes.scripts import ScriptLimits, Scripts, compile_script
from perdure.nodes.scripts.pool import ScriptSettings
from perdure.testing.simloop import simulated

SMALL = ScriptLimits(seconds=0.2, memory=8 * 1024 * 1024, output=1_000)


async def one_of_each() -> list[Any]:
    pool = Scripts(ScriptSettings(workers=1))
    try:
        found = [await pool.run(compile_script("input + 1"), {"input": 1}, now=0, seed=0)]
        found.append(await pool.run(compile_script("{1}"), {}, now=0, seed=0))
        for source in ("1 / 0", "'a' * 10**10", "[0] * 2000"):
            try:
                await pool.run(compile_script(source), {}, now=0, seed=0, limits=SMALL)
            except ActivationError as error:
                found.append((error.code, (error.details or {}).get("limit")))
        return found
    finally:
        await pool.close()


EACH = [2, [1], ("SCRIPT_RUNTIME", None), ("SCRIPT_LIMIT", "memory"), ("SCRIPT_LIMIT", "output")]


def test_scripts_run_on_uvloop() -> None:
    assert uvloop.run(one_of_each()) == EACH


def test_scripts_run_on_a_loop_whose_time_is_a_number() -> None:
    assert simulated()(one_of_each)() == EACH
