"""What a run asks for besides handlers: children, and items of long loops.

A child's id and key follow from its parent, so starting it twice starts it once. If it exists already (the parent was
taken over), it is enough to know that; if it has ended already, the parent is told so again and ignores it if it
knew.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from perdure.engine.answers import Letter, StartRefused
from perdure.engine.declining import lack_in, leave_to_others
from perdure.errors import NotInstalled, PerdureError, StoreError
from perdure.model.commands import ChildEnded, ItemsLoaded
from perdure.model.effects import LoadItems, StartChild
from perdure.model.events import ParentLink
from perdure.model.failures import Failure, failure_from
from perdure.model.statuses import Phase
from perdure.model.values import Json, decode_json
from perdure.ports.journal import Verdict

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_STARTED = "STARTED"


class _Result(msgspec.Struct):
    """What a head keeps of a run's end."""

    output: Json = None
    failure: Failure | None = None


_decode_result = msgspec.json.Decoder(_Result).decode


class Children:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def start(self, parent: OwnedRun, effect: StartChild) -> None:
        """Ends when it is durable that the child exists, or certain that it never will."""
        said: ChildEnded | None = None
        for pause in self._runtime.pauses():
            try:
                said = await self._start(parent, effect)
                break
            except StoreError as problem:
                self._runtime.trouble(f"starting the child {effect.run}", problem)
                await asyncio.sleep(pause)
            except NotInstalled as problem:
                if not parent.dropped:
                    leave_to_others(parent, lack_in(problem))  # the next owner will be asked for the child again
                parent.settled(None)
                return
            except PerdureError as problem:
                said = _never(effect, failure_from(problem))
                break
            except Exception as problem:
                self._runtime.trouble(f"starting the child {effect.run}", problem)
                said = _never(effect, Failure("CHILD_FAILED", f"it could not be started: {problem!r}"))
                break
            if parent.dropped:
                return
        parent.children.add(effect.run)
        parent.settled((said, None, 0) if said is not None else None)

    async def _start(self, parent: OwnedRun, effect: StartChild) -> ChildEnded | None:
        runtime, state = self._runtime, parent.state
        activation = state.activations.get(effect.activation)
        if activation is None or activation.phase is not Phase.CHILD or activation.child != effect.run:
            return None
        depth = 1 + (state.parent.depth if state.parent is not None else 0)
        if depth > state.limits.child_depth:
            return _never(effect, Failure("LIMIT_CHILD_DEPTH", f"nested deeper than {state.limits.child_depth}"))
        waited_for = activation.child_wait
        try:
            await runtime.starts.child(
                parent.namespace,
                effect,
                key=state.activation_key(activation),
                link=ParentLink(state.run, effect.activation, depth),
                thread=state.thread,
                limits=state.limits,
            )
        except StartRefused as refused:
            if refused.outcome.verdict is Verdict.KEY_EXISTS and refused.outcome.existing_run != effect.run:
                return _never(effect, Failure("KEY_REUSED", "another run was started with the child's key"))
            head = await runtime.journal.head(effect.run)
            if head is not None and head.status.is_final and waited_for:
                result = _decode_result(head.result or b"{}")
                return ChildEnded(effect.activation, effect.run, head.status, result.output, result.failure)
        return None if waited_for else ChildEnded(effect.activation, effect.run, _STARTED)

    async def load_items(self, owned: OwnedRun, effect: LoadItems) -> None:
        runtime = self._runtime
        letters: list[Letter] = []
        for pause in runtime.pauses():
            try:
                parts = [part async for part in runtime.store.blobs.read(owned.namespace, effect.blob)]
                items = decode_json(b"".join(parts))[: effect.limit]
                letters.append((ItemsLoaded(effect.activation, effect.offset, items), None, 0))
                break
            except StoreError as problem:
                runtime.trouble(f"reading items of {owned.run}", problem)
                await asyncio.sleep(pause)
            except Exception as problem:
                if not owned.dropped:
                    runtime.roster.set_aside(owned, problem)
                break
            if owned.dropped:
                break
        owned.fetched(letters)


def _never(effect: StartChild, failure: Failure) -> ChildEnded:
    return ChildEnded(effect.activation, effect.run, "FAILED", failure=failure)
