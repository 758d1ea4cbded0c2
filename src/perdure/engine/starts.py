"""Starting runs: the first turn puts the run into the store, owned by this worker already, and nothing comes before
it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from perdure.engine.answers import StartRefused
from perdure.engine.library import Edition
from perdure.engine.outputs import purified, purified_object
from perdure.engine.owned import OwnedRun
from perdure.errors import Busy, KeyReused, StoreUnavailable, TooMuch
from perdure.model.commands import Start
from perdure.model.effects import StartChild
from perdure.model.events import ParentLink
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.references import Word
from perdure.model.values import Json, content_hash
from perdure.ports.journal import NewRun, Verdict

if TYPE_CHECKING:
    from perdure.engine.answers import Answer
    from perdure.engine.runtime import Runtime

_TRIES = 16
_FIRST_EPOCH = 1


class Started(msgspec.Struct, frozen=True):
    run: str
    existed: bool = False
    """The key had been used before, for the same request."""


class Starts:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.is_open = True

    async def outside(  # noqa: PLR0913 — every one is an option of a start
        self,
        namespace: str,
        definition: str,
        input: Json,
        *,
        key: str | None,
        version: int | Word | None,
        trigger: str,
        thread: dict[str, Any] | None,
        lookups: dict[str, Any] | None,
        limits: Limits | None,
        attributes: dict[str, Any] | None = None,
        request: Json = None,
    ) -> Started:
        """Raises NotFound, InvalidInput, TooMuch, KeyReused, Busy."""
        runtime = self._runtime
        self._check_room()
        input, size = purified(input, "/input")
        thread = purified_object(thread, "/thread")[0] if thread is not None else None
        lookups = purified_object(lookups, "/lookups")[0] if lookups is not None else None
        attributes = purified_object(attributes, "/attributes")[0] if attributes is not None else None
        same = [definition, version, input, thread] if request is None else request
        asked = content_hash(same) if key is not None else None
        for _ in range(_TRIES):
            edition = runtime.library.find(namespace, definition, version)
            if edition is None:
                edition = await runtime.library.get(namespace, definition, version)
            command = self._command(
                edition, input, trigger, key, None, thread, lookups, limits or DEFAULT_LIMITS, attributes
            )
            if size > command.limits.data:
                most = command.limits.data
                raise TooMuch(f"an input of {size} bytes; the run may hold {most}", pointer="/input", limit=most)
            run = runtime.ids.run()
            try:
                await self._begin(namespace, run, edition, command, asked)
            except StartRefused as refused:
                outcome = refused.outcome
                if outcome.verdict is Verdict.KEY_EXISTS:
                    assert outcome.existing_run is not None
                    if outcome.existing_digest != asked:
                        raise KeyReused(
                            "the key was used before, for another request", key=key, run=outcome.existing_run
                        ) from None
                    return Started(outcome.existing_run, existed=True)
                if outcome.verdict is Verdict.STALE_DEFINITION:
                    runtime.library.forget(namespace, definition)
            else:
                return Started(run)
        raise StoreUnavailable(f"the definition {definition!r} changes faster than a run of it can be started")

    async def child(
        self,
        namespace: str,
        effect: StartChild,
        *,
        key: str,
        link: ParentLink,
        thread: dict[str, Any] | None,
        limits: Limits,
    ) -> None:
        """Raises StartRefused if it exists, NotFound if its definition does not, NotInstalled if that cannot be run
        here. Never Busy: where there is no room it is only stored, and whoever has room takes it up."""
        runtime = self._runtime
        for _ in range(_TRIES):
            edition = await runtime.library.get(namespace, effect.definition, effect.version)
            command = self._command(edition, effect.input, "child", key, link, thread, None, limits)
            queued = not self.is_open or len(runtime.roster.owned) >= runtime.settings.max_runs
            try:
                await self._begin(namespace, effect.run, edition, command, None, queued)
            except StartRefused as refused:
                if refused.outcome.verdict is not Verdict.STALE_DEFINITION:
                    raise
                runtime.library.forget(namespace, effect.definition)
            else:
                return
        raise StoreUnavailable(f"the definition {effect.definition!r} changes faster than a run of it can be started")

    def _check_room(self) -> None:
        runtime = self._runtime
        if not self.is_open:
            raise Busy("this worker is closing", retry_after=runtime.settings.poll)
        if not runtime.lease.is_held:
            raise runtime.lease.refusal()
        if len(runtime.roster.owned) >= runtime.settings.max_runs:
            raise Busy(f"this worker holds {len(runtime.roster.owned)} runs already", retry_after=runtime.settings.poll)

    def _command(
        self,
        edition: Edition,
        input: Json,
        trigger: str,
        key: str | None,
        parent: ParentLink | None,
        thread: dict[str, Any] | None,
        lookups: dict[str, Any] | None,
        limits: Limits,
        attributes: dict[str, Any] | None = None,
    ) -> Start:
        program = edition.kernel.program
        program.check_input(input)
        return Start(
            edition.definition,
            edition.version,
            edition.hash,
            program.name,
            input,
            self._runtime.ids.seed(),
            trigger,
            key,
            parent,
            thread,
            lookups,
            program.limited(limits),
            {**program.attributes(input), **(attributes or {})} or None,
            edition.pins,
        )

    async def _begin(
        self, namespace: str, run: str, edition: Edition, command: Start, digest: str | None, queued: bool = False
    ) -> None:
        runtime = self._runtime
        owned = OwnedRun(runtime, edition.kernel, namespace, edition.kernel.new(run), _FIRST_EPOCH)
        owned.queued = queued
        owned.new = NewRun(
            namespace=namespace,
            definition=edition.definition,
            version=edition.version,
            hash=edition.hash,
            program=edition.kernel.program.name,
            created_at=runtime.time.now(),
            trigger=command.trigger,
            key=command.key,
            request_digest=digest,
            parent=command.parent.run if command.parent is not None else None,
            pins=edition.pins,
            active_revision=edition.revision,
        )
        if run not in runtime.roster.owned:
            runtime.roster.add(owned)
        answer: Answer = runtime.loop.create_future()
        owned.deliver(command, answer)
        await answer
