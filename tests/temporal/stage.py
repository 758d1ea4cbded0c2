"""Steps of the flows under test, and the stage on which a test directs them: it sees what began, and says what may end.

Each backend plays on a stage of its own, and the same script is played on both.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from perdure.engine.handlers import ActivationError, Result
from perdure.model.waits import AwaitSignal

Step: TypeAlias = Callable[["Stage", Any], Coroutine[Any, Any, Any]]


class Stage:
    def __init__(self) -> None:
        self.began: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """By node: an attempt has begun."""
        self.gates: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """By node: it may end."""
        self.calls: list[tuple[str, int]] = []
        """Idempotency key and attempt of every call."""

    async def call(self, context: Any) -> Any:
        """The handler of `python` nodes, for either backend: it gets the context of that backend."""
        self.calls.append((context.key, context.attempt))
        self.began[context.node_id].set()
        return await STEPS[context.config["step"]](self, context)


async def echo(stage: Stage, context: Any) -> Any:
    return context.input


async def double(stage: Stage, context: Any) -> Any:
    return {"z": 2 * context.config["arguments"]["n"], "a": context.node_id}


async def hold(stage: Stage, context: Any) -> Any:
    """Goes on until its gate is opened."""
    await stage.gates[context.node_id].wait()
    return {"held": context.node_id}


async def flaky(stage: Stage, context: Any) -> Any:
    if context.attempt < 3:
        raise ConnectionError(f"attempt {context.attempt} came to nothing")
    return {"attempts": context.attempt}


async def broken(stage: Stage, context: Any) -> Any:
    raise ActivationError("OUT_OF_STOCK", "none left", output={"tried": True}, details={"left": 0})


async def choose(stage: Stage, context: Any) -> Any:
    return Result({"chosen": True}, outcome="right", vars={"side": "right"})


async def doze(stage: Stage, context: Any) -> Any:
    """Answers with a wait."""
    return AwaitSignal("woken")


STEPS: dict[str, Step] = {step.__name__: step for step in (echo, double, hold, flaky, broken, choose, doze)}
