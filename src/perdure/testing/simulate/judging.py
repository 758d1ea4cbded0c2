"""What every run must have come to, from what clients were told, from what the world saw, and from the log."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter

import msgspec

from perdure.assembly import Perdure
from perdure.engine import Engine
from perdure.errors import NotFound
from perdure.model import events as e
from perdure.ports.store import Store
from perdure.service.histories import read_history
from perdure.testing.simulate.clients import NAMESPACE, Clients
from perdure.testing.simulate.flows import PLOTS, Plot
from perdure.testing.simulate.world import World

PATIENCE = 2_000
MESSAGE_PATIENCE = 400


class Judge:
    def __init__(self, app: Perdure, world: World, clients: Clients) -> None:
        self._app = app
        self._world = world
        self._clients = clients

    async def judge(self, engine: Engine, run_id: str, name: str, number: int) -> list[str]:
        plot = PLOTS[name]
        where = f"{name} {number} ({run_id})"
        try:
            await asyncio.wait_for(engine.result(NAMESPACE, run_id), PATIENCE)
        except TimeoutError:
            return [f"{where} does not end: {await self._why(run_id)}"]
        except NotFound:
            return [f"{where} was acknowledged and does not exist"]
        view = await self._app.runs.get(NAMESPACE, run_id)
        wrong = []
        if view.status != plot.status(number):
            wrong.append(f"it ended as {view.status}: {view.failure}")
        elif plot.output is not None and view.output != plot.output(number):
            wrong.append(f"it gave {view.output}")
        keys = {key for key in self._world.effects if key.startswith(run_id + "/")}
        if view.status == plot.status(number) and not plot.is_cancelled and len(keys) != plot.effects(number):
            wrong.append(f"it showed {len(keys)} different effects to the world, not {plot.effects(number)}")
        recorded = await read_history(self._app.store, NAMESPACE, run_id, limit=100_000)
        history = [one.event for one in recorded]
        wrong += self._signals(run_id, history)
        wrong += self._reports(run_id, history)
        wrong += await self._messages(run_id, plot)
        return [f"{where}: {text}" for text in wrong]

    async def _why(self, run_id: str) -> str:
        try:
            return str([reason.text for reason in await self._app.runs.explain(NAMESPACE, run_id)])
        except Exception as problem:  # it may be the very log that is damaged
            return repr(problem)

    def _signals(self, run_id: str, history: list[e.Event]) -> list[str]:
        received = [event for event in history if isinstance(event, e.SignalReceived)]
        times = Counter(event.id for event in received)
        wrong = [
            f"the acknowledged signal {id} is {times[id]} times in the log"
            for id in sorted(self._clients.acked_signals.get(run_id, ()))
            if times[id] != 1
        ]
        acked, unclear = self._clients.acked_ticks[run_id], self._clients.unclear_ticks[run_id]
        if not acked <= times[None] <= acked + unclear:
            wrong.append(f"{times[None]} signals in the log, {acked} were acknowledged and {unclear} are not known of")
        return wrong

    def _reports(self, run_id: str, history: list[e.Event]) -> list[str]:
        """What the log says of handlers must have happened."""
        wrong = []
        nodes = {event.id: event for event in history if isinstance(event, e.ActivationScheduled)}
        for event in history:
            match event:
                case e.ActivationFailed(id=id, attempt=attempt, failure=failure) if failure.code in (
                    "NODE_FAILED",
                    "ODD",
                ):
                    if (run_id, id, attempt) not in self._world.failed:
                        wrong.append(f"attempt {attempt} of {nodes[id].node} is said to have failed, and it has not")
                case _:
                    pass
        return wrong

    async def _messages(self, run_id: str, plot: Plot) -> list[str]:
        if not plot.messages:
            return []
        for _ in range(MESSAGE_PATIENCE):
            found = [id for id in self._world.heard if id.startswith(run_id + "/")]
            if len(found) >= plot.messages:
                break
            await asyncio.sleep(1)
        if len(found) != plot.messages:
            return [f"{len(found)} of {plot.messages} messages reached the world"]
        order = [tuple(int(part) for part in id.removeprefix(run_id + "/").split("/")) for id in found]
        return [] if order == sorted(order) else [f"messages came out of order: {found}"]


async def in_words(store: Store) -> list[str]:
    """The whole log."""
    log: list[str] = []
    after = ""
    while heads := await store.runs.walk(after, 500):
        for head in heads:
            history = await read_history(store, NAMESPACE, head.run, limit=1_000_000)
            log += [f"{head.run} {one.seq} {one.at} {msgspec.json.encode(one.event).decode()}" for one in history]
        after = heads[-1].run
    return log


def fingerprint(log: list[str]) -> str:
    return hashlib.sha256("\n".join(log).encode()).hexdigest()
