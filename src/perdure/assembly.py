"""Settings in, a working application out. The only file that names concrete stores, engine and node types together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from perdure.authoring.steps import Steps
from perdure.dialects.known import BY_KIND
from perdure.engine import Engine, EngineSettings, HandlerSpec, Observer
from perdure.engine.library import Library
from perdure.engine.relay import Relay, Subscriber
from perdure.engine.secrets import GivenSecrets
from perdure.errors import SettingsInvalid
from perdure.kernel.kernel import Kernel
from perdure.model.policies import Limits
from perdure.model.references import Word
from perdure.model.values import Json, check_name
from perdure.nodes.catalogue import builtin_types
from perdure.nodes.handlers import builtin_handlers
from perdure.nodes.mail.servers import MailSettings, mail_settings
from perdure.nodes.outgoing.policy import OutgoingSettings
from perdure.nodes.outgoing.reading import outgoing_settings
from perdure.nodes.plugins import NodePlugin, installed
from perdure.nodes.scripts.pool import ScriptSettings, script_settings
from perdure.nodes.toolbox import Toolbox
from perdure.ports.clock import Clock
from perdure.ports.definitions import Active, Linked, Summary, Version
from perdure.ports.runs import RunFilter
from perdure.ports.secrets import Secrets
from perdure.ports.store import Store
from perdure.programs.flow.nodetypes import NodeType
from perdure.programs.flow.program import FlowProgram
from perdure.service.checking import check_linked
from perdure.service.definitions import DefinitionService
from perdure.service.drift import DriftService
from perdure.service.experiments import asking
from perdure.service.handles import Run
from perdure.service.lookups import LookupService
from perdure.service.parts import PartService
from perdure.service.runs import RunService, RunView, check_version
from perdure.service.selection import SelectionService
from perdure.service.tasks import TaskService
from perdure.service.tokens import TaskTokens, TokenKey
from perdure.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
OnFatal = Callable[[BaseException], None]


def open_store(url: str, clock: Clock | None = None, on_fatal: OnFatal | None = None) -> Store:
    """The store that a database URL names. Drivers are imported only when they are needed.

    `on_fatal` is called when a disk has failed under the store, which then answers nothing any more."""
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        from perdure.stores.memory import MemoryStore

        return MemoryStore(clock=clock)
    if scheme == "sqlite":
        from perdure.stores.sqlite import SqliteStore

        return SqliteStore(sqlite_path(url), clock=clock, on_fatal=on_fatal)
    if scheme in ("postgresql", "postgres"):
        from perdure.stores.postgres import PostgresStore

        return PostgresStore(url, clock=clock)
    raise SettingsInvalid(
        f"{url!r} names no database that Perdure knows",
        expected="sqlite:///file.db, postgresql://user@host/name or memory://",
    )


def sqlite_path(url: str) -> str:
    """sqlite:///a.db is a.db here; sqlite:////var/a.db is /var/a.db."""
    rest = url.removeprefix("sqlite://")
    if rest in (":memory:", "/:memory:"):
        return ":memory:"
    path = rest.removeprefix("/")
    if not path:
        raise SettingsInvalid(f"{url!r} names no file", expected="sqlite:///file.db")
    return str(Path(path))


def installed_plugins(settings: Settings) -> list[NodePlugin[..., Any]]:
    """Broken ones are named in the log, and left out."""
    off = settings.plugins_off.split(",")
    return [] if "*" in [each.strip() for each in off] else installed(off)[0]


class Perdure:
    """A Perdure application in this process: one store, one engine, and the functions that its flows call.

    async with Perdure.open("sqlite:///perdure.db") as app:
        app.register(charge)
        await app.deploy(document)
        run = await app.start("refund", {"order": 7}, key="order-7")
        print(await run.result())
    """

    def __init__(
        self,
        store: Store,
        *,
        namespace: str = "default",
        clock: Clock | None = None,
        engine_settings: EngineSettings | None = None,
        observer: Observer | None = None,
        secrets: Mapping[str, str] | None = None,
        outgoing: OutgoingSettings | None = None,
        scripts: ScriptSettings | None = None,
        mail: MailSettings | None = None,
    ) -> None:
        self.store = store
        self.namespace = namespace
        self.steps = Steps()
        self.catalogue = builtin_types()
        self.secrets: Secrets = GivenSecrets(secrets, os.environ)
        self.tools = Toolbox(self.secrets, outgoing, scripts, mail)
        self.handlers: dict[str, HandlerSpec] = builtin_handlers(self.steps, self.tools)
        self._clock = clock
        self._engine_settings = engine_settings
        self._observer = observer
        self._subscriptions: list[tuple[str, Subscriber]] = []
        self._relay: Relay | None = None

    def _assemble(self) -> None:
        """Everything that needs an open store."""
        store = self.store
        self.library = Library(store.definitions, dict.fromkeys(BY_KIND, self._compile), linkers=BY_KIND)
        self.engine = Engine(
            store,
            self.library,
            self.handlers,
            clock=self._clock,
            settings=self._engine_settings,
            observer=self._observer,
            secrets=self.secrets,
        )
        self.steps.on_change = self.engine.equipped
        self.definitions = DefinitionService(store.definitions, self.catalogue, self.library)
        self.lookups = LookupService(store.definitions, self.library)
        self.parts = PartService(store.definitions, self.catalogue, self.library)
        self.runs = RunService(self.engine, store, self.library)
        token_key = TokenKey(self.secrets, store.cells, self.namespace)
        self.tasks = TaskService(self.engine, store, self.runs, TaskTokens(token_key))
        self.selection = SelectionService(store.definitions, asking(self.tools))
        self.drift = DriftService(self.engine, store, self.runs, self.tasks, self.selection)

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        namespace: str | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
        on_fatal: OnFatal | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> Self:
        """`sqlite:///file.db`, `postgresql://…` or `memory://`. Use it with `async with`."""
        settings = settings or Settings()
        engine_settings = EngineSettings(
            lease=settings.lease_seconds,
            poll=settings.poll_seconds,
            max_runs=settings.max_runs,
            slots=settings.handler_slots,
            threads=settings.handler_threads,
            stall=settings.stall_seconds,
        )
        store = open_store(url or settings.database_url, clock, on_fatal)
        app = cls(
            store,
            namespace=namespace or settings.namespace,
            clock=clock,
            engine_settings=engine_settings,
            observer=observer,
            secrets=secrets,
            outgoing=outgoing_settings(settings),
            scripts=script_settings(settings),
            mail=mail_settings(settings),
        )
        app.use(*installed_plugins(settings))
        return app

    async def __aenter__(self) -> Self:
        await self.store.open()
        try:
            self._assemble()
            await self.engine.open()
            self._open_relay()
        except BaseException:
            await self.store.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Once begun it is finished, even if the caller is cancelled: runs that are not handed over stand still until
        the lease has run out, and what was executing counts as a death."""
        leaving = asyncio.ensure_future(self._leave())
        cancelled: asyncio.CancelledError | None = None
        while not leaving.done():
            try:
                await asyncio.wait([leaving])
            except asyncio.CancelledError as asked:
                cancelled = asked
        if cancelled is not None:
            raise cancelled from (None if leaving.cancelled() else leaving.exception())
        leaving.result()

    async def _leave(self) -> None:
        try:
            if self._relay is not None:
                await self._relay.close()
        finally:
            try:
                await self.engine.close()
            finally:
                try:
                    await self.tools.close()
                finally:
                    await self.store.close()

    def _open_relay(self) -> None:
        poll = self._engine_settings.poll if self._engine_settings is not None else EngineSettings().poll
        self._relay = Relay(self.store, self.engine.worker, poll, self._observer)
        for pattern, subscriber in self._subscriptions:
            self._relay.subscribe(pattern, subscriber)
        self._relay.open()

    # -- messages --------------------------------------------------------------------------------

    def on_message(self, pattern: str, subscriber: Subscriber) -> None:
        """Calls `subscriber` for every published message whose type matches, at least once each, in order per run."""
        self._subscriptions.append((pattern, subscriber))
        if self._relay is not None:
            self._relay.subscribe(pattern, subscriber)

    # -- code ------------------------------------------------------------------------------------

    def register(self, *functions: Callable[..., Any], name: str | None = None) -> None:
        """Makes functions available to `python` nodes, under their own names or under `name`."""
        for function in functions:
            self.steps.register(name or function.__name__, function)

    def step(self, name: str | None = None) -> Callable[[F], F]:
        """The same as a decorator."""

        def add(function: F) -> F:
            return self.steps.register(name or function.__name__, function)

        return add

    def use(self, *plugins: NodePlugin[..., Any]) -> None:
        """Node types that were made with `perdure.nodes.plugins.node`. Those that are installed are used already."""
        for each in plugins:
            self.add_node_type(each.type, each.handler)

    def add_node_type(self, type: NodeType, handler: HandlerSpec | None = None) -> None:
        """A node type of your own. One that acts on the world brings its handler."""
        if type.name in self.catalogue:
            raise SettingsInvalid(f"there is a node type {type.name!r} already")
        self.catalogue[type.name] = type
        if handler is not None:
            self.handlers[type.name] = handler
        if self.steps.on_change is not None:
            self.steps.on_change()

    # -- definitions -----------------------------------------------------------------------------

    async def deploy(self, document: Any, *, id: str | None = None, note: str | None = None) -> Version:
        """Checks, saves, publishes and activates a flow document."""
        return await self.definitions.deploy(self.namespace, document, id, note)

    async def activate(self, id: str, version: int) -> Active:
        return await self.definitions.activate(self.namespace, check_name(id, "/id"), check_version(version))

    async def list_definitions(self) -> Sequence[Summary]:
        return await self.definitions.list(self.namespace)

    # -- runs ------------------------------------------------------------------------------------

    async def start(
        self,
        definition: str,
        input: Json = None,
        *,
        key: str | None = None,
        version: int | Word | None = None,
        thread: dict[str, Any] | None = None,
        limits: Limits | None = None,
        trigger: str = "api",
    ) -> Run:
        """Starts a run. With a `key`, the same call again gives the same run. Durable when it returns."""
        id = await self.runs.start(
            self.namespace,
            definition,
            input,
            key=key,
            version=version,
            thread=thread,
            limits=limits,
            trigger=trigger,
        )
        return Run(self.runs, self.tasks, self.namespace, id)

    def run(self, id: str) -> Run:
        return Run(self.runs, self.tasks, self.namespace, id)

    async def list_runs(self, *, before: str | None = None, limit: int = 100, **filter: Any) -> Sequence[RunView]:
        return await self.runs.list(RunFilter(namespace=self.namespace, **filter), before, limit)

    def _compile(self, version: Linked) -> Kernel:
        dialect = BY_KIND[version.kind]
        if version.is_new:
            check_linked(dialect.validate(version.document, self.catalogue), version)
        graph = dialect.compile(version.document, self.catalogue)
        return Kernel(FlowProgram(graph, version.lookups))

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[Self]:
        """The application without its engine: nothing is executed. For checks and maintenance."""
        await self.store.open()
        try:
            self._assemble()
            yield self
        finally:
            await self.store.close()
