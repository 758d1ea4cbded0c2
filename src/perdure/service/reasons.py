"""Why a run is not further on, as far as the workers are the cause: nobody has taken it up, or nobody can."""

from __future__ import annotations

from perdure.engine import Engine, Lack
from perdure.engine.library import Library
from perdure.errors import NotInstalled
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import Reason, explain
from perdure.kernel.state import RunState
from perdure.model.statuses import Phase
from perdure.ports.journal import Head
from perdure.ports.store import Store


class Reasons:
    def __init__(self, engine: Engine, store: Store, library: Library) -> None:
        self._engine = engine
        self._store = store
        self._library = library

    async def of(self, head: Head, kernel: Kernel, state: RunState) -> list[Reason]:
        now = await self._store.ownership.now()
        reasons = explain(kernel.program, state, now)
        if not _is_left_alone(head, now):
            return reasons
        lacks = self._engine.lacking(kernel, state)
        lacks |= await self._children_lacking(head, state)
        return [_of_nobodys_run(reason, lacks) for reason in reasons]

    async def without_state(self, head: Head, missing: NotInstalled) -> list[Reason]:
        """Its definition cannot be run here, so what it waits for cannot be said here either."""
        lack = Lack(missing.kind, missing.name)
        if _is_left_alone(head, await self._store.ownership.now()):
            return [Reason("lacking", f"the run waits: {_nobody_has(lack)}", subject=lack.name)]
        return [Reason("unknown", f"what it waits for cannot be said here, without {lack}", subject=lack.name)]

    async def _children_lacking(self, head: Head, state: RunState) -> dict[str, Lack]:
        """By node: what the child would need that does not exist yet."""
        found: dict[str, Lack] = {}
        for activation in state.activations.values():
            if activation.phase is not Phase.CHILD or activation.child is None or activation.child_of is None:
                continue
            if await self._store.journal.head(activation.child) is None:
                definition, version, _ = activation.child_of
                try:
                    await self._library.get(head.namespace, definition, version)
                except NotInstalled as missing:
                    found[activation.node] = Lack(missing.kind, missing.name)
        return found


def _is_left_alone(head: Head, now: int) -> bool:
    """Due, and nobody takes it up."""
    return head.owner is None and head.wake_at is not None and head.wake_at <= now


def _of_nobodys_run(reason: Reason, lacks: dict[str, Lack]) -> Reason:
    lack = lacks.get(reason.node or "")
    if lack is not None and reason.kind in ("executing", "child"):
        return Reason("lacking", f"{reason.node} waits: {_nobody_has(lack)}", reason.node, subject=lack.name)
    if reason.kind == "executing":
        return Reason("ready", f"{reason.node} waits for a worker to take it up", reason.node)
    return reason


def _nobody_has(lack: Lack) -> str:
    """Whether one that has it is merely full cannot be seen from here."""
    return f"no worker that is running has {lack}, or none that has it has room"
