"""What all parts of one engine share: the store's ports, the settings, the clock, and one another."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from perdure.engine.adoption import Adoption
from perdure.engine.alarms import Alarms
from perdure.engine.changes import Changes
from perdure.engine.children import Children
from perdure.engine.claims import Claimer
from perdure.engine.declining import Declined
from perdure.engine.dispatch import Dispatch
from perdure.engine.execution import HandlerRunner
from perdure.engine.handlers import NodeHandlers
from perdure.engine.ids import Ids
from perdure.engine.lease import Lease
from perdure.engine.library import Library
from perdure.engine.loading import Loader
from perdure.engine.observer import Observer
from perdure.engine.post import Post
from perdure.engine.results import Results
from perdure.engine.roster import Roster
from perdure.engine.settings import EngineSettings
from perdure.engine.settling import pauses
from perdure.engine.stalls import StallWatch
from perdure.engine.starts import Starts
from perdure.engine.storetime import StoreTime
from perdure.errors import PerdureError
from perdure.ports.secrets import Secrets
from perdure.ports.store import Store

T = TypeVar("T")
_LOGGER = logging.getLogger("perdure.engine")


class Runtime:
    """Made on the running loop; the engine opens and closes the parts."""

    def __init__(
        self,
        store: Store,
        library: Library,
        handlers: NodeHandlers,
        settings: EngineSettings,
        observer: Observer | None,
        ids: Ids,
        secrets: Secrets,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.context = contextvars.Context()
        """Handlers begin in a copy of this one, so that nothing leaks from one into the next."""
        self.store = store
        self.journal = store.journal
        self.ownership = store.ownership
        self.inbox = store.inbox
        self.library = library
        self.settings = settings
        self.park_after = int(settings.park_after * 1_000_000)
        self.observer = observer
        self.ids = ids
        self.secrets = secrets
        self.time = StoreTime(self.loop)
        self.worker = ""
        self._turn_prefix = ""
        self._turns = 0
        self._tasks: dict[asyncio.Task[Any], None] = {}
        """In the order in which they began, not as a set, so that a simulation ends them in the same order again."""
        self.rename()

        self.loader = Loader(store.journal, store.blobs)
        self.roster = Roster(self)
        self.runner = HandlerRunner(self, handlers)
        self.children = Children(self)
        self.starts = Starts(self)
        self.results = Results(self)
        self.changes = Changes(self)
        self.alarms = Alarms(self)
        self.claimer = Claimer(self)
        self.declined = Declined(self)
        self.adoption = Adoption(self)
        self.post = Post(self)
        self.dispatch = Dispatch(self)
        self.lease = Lease(self)
        self.stalls = StallWatch(self)

    def rename(self) -> None:
        """A worker whose lease ran out never comes back under the same name."""
        self.worker = self.ids.worker()
        self._turn_prefix = self.ids.token()

    def turn_id(self) -> str:
        self._turns += 1
        return f"{self._turn_prefix}.{self._turns:x}"

    def pauses(self) -> Iterator[float]:
        return pauses(self)

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """In the background."""
        self.task(work).add_done_callback(self._ended, context=self.context)

    def task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Ended with the engine at the latest."""
        task = self.loop.create_task(work, context=self.context.copy())
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop, context=self.context)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (problem := task.exception()) is not None:
            self.trouble("the engine itself (a bug)", problem)

    def owns(self, task: asyncio.Task[Any]) -> bool:
        return task in self._tasks

    async def end_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def trouble(self, where: str, problem: BaseException) -> None:
        said = problem.message if isinstance(problem, PerdureError) else repr(problem)
        _LOGGER.warning("%s: %s", where, said, exc_info=problem if isinstance(problem, AssertionError) else None)
        if self.observer is not None:
            self.observer.trouble(where, problem)
