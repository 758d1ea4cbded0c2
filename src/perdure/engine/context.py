"""What a handler sees of the run that it works for."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perdure.engine.concealing import Concealed
from perdure.errors import InvalidInput
from perdure.model.values import Json, decode_json, encode_json
from perdure.ports.blobs import BlobInfo, Blobs
from perdure.ports.cells import Cell, Cells

if TYPE_CHECKING:
    from perdure.engine.execution import Execution
    from perdure.kernel.program import Work

_LOGGER = logging.getLogger("perdure.handlers")
_CHANGEABLE = frozenset({dict, list})
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class _Log(logging.LoggerAdapter[logging.Logger]):
    """A line is written out here, so that a secret in its arguments is found as well."""

    def __init__(self, logger: logging.Logger, names: dict[str, Any], execution: Execution) -> None:
        super().__init__(logger, names)
        self._execution = execution

    def log(self, level: int, msg: object, *args: object, **more: Any) -> None:
        concealed = self._execution.concealed
        if concealed is None or not self.isEnabledFor(level):
            super().log(level, msg, *args, **more)
            return
        try:
            line = logging.LogRecord("", level, "", 0, msg, args, None).getMessage()
        except Exception:
            line = f"{msg} {args}"  # as with other loggers, a line that is not well made stops nobody
        raised = more.pop("exc_info", None)
        if raised:
            problem = raised if isinstance(raised, BaseException) else sys.exception()
            line = f"{line}\n{''.join(traceback.format_exception(problem))}" if problem is not None else line
        super().log(level, "%s", concealed.text(line), **more)


class HandlerBlobs:
    """Large values of the run's namespace. What is written here is kept as long as the run."""

    __slots__ = ("_blobs", "_execution", "_namespace", "_run")

    def __init__(self, execution: Execution, namespace: str, run: str) -> None:
        self._blobs: Blobs = execution.runner.blobs
        self._execution = execution
        self._namespace = namespace
        self._run = run

    def open(self, hash: str, offset: int = 0) -> AsyncIterator[bytes]:
        return self._blobs.read(self._namespace, hash, offset)

    async def write(self, parts: AsyncIterator[bytes]) -> BlobInfo:
        concealed = self._execution.concealed
        info = await self._blobs.write(self._namespace, parts if concealed is None else concealed.stream(parts))
        await self._blobs.refer(self._namespace, info.hash, self._run)
        return info


class HandlerCells:
    """Small values that all workers of the run's namespace share (`perdure.ports.cells`). Secrets are cut out of them,
    and refused in their keys: cut out there, the cells of two secrets would be one."""

    __slots__ = ("_cells", "_execution", "_namespace")

    def __init__(self, execution: Execution, namespace: str) -> None:
        self._cells: Cells = execution.runner.cells
        self._execution = execution
        self._namespace = namespace

    async def get(self, key: str) -> Cell | None:
        """Raises InvalidInput for a key that holds a secret."""
        self._check(key)
        return await self._cells.get(self._namespace, key)

    async def put(
        self, key: str, value: bytes, *, ttl: int | None = None, if_version: str | None = None
    ) -> Cell | None:
        """Sets it, for `ttl` microseconds; with `if_version` only if it is still at that version. None: it is not.
        Raises InvalidInput for a key that holds a secret."""
        self._check(key)
        if self._execution.concealed is not None:
            value = self._execution.concealed.data(value)
        return await self._cells.put(self._namespace, key, value, ttl=ttl, if_version=if_version)

    def _check(self, key: str) -> None:
        concealed = self._execution.concealed
        if concealed is not None and concealed.text(key) != key:
            raise InvalidInput("the key of a cell holds a secret", expected="a key without one, such as a keyed hash")


class ActivationContext:
    """One attempt of one activation. What it reads of the run is its own: a step may change it, and the run will not
    notice. Copied when it is looked at, as most steps look at little."""

    __slots__ = (
        "_bindings",
        "_config",
        "_copies",
        "_execution",
        "_input",
        "_last_heartbeat",
        "_thread",
        "_vars",
        "_written",
        "activation_id",
        "attempt",
        "definition",
        "key",
        "namespace",
        "node_id",
        "run_id",
        "scheduled_at",
    )

    def __init__(self, execution: Execution, work: Work) -> None:
        owned = execution.owned
        state, activation = owned.state, execution.activation
        self._execution = execution
        self._copies: dict[str, Any] | None = None
        self._vars = getattr(state.body, "vars", None)
        self.namespace = owned.namespace
        self.definition = state.definition
        self.run_id = state.run
        self.node_id = activation.node
        self.activation_id = activation.id
        self.attempt = activation.attempt
        self.key = state.activation_key(activation)
        """Give it to the outside world: the same for every attempt and every worker."""
        self.scheduled_at = activation.scheduled_at
        """When the node's turn came, in microseconds since 1970: the same for every attempt and every worker."""
        self._input = activation.input
        self._config = work.config
        self._written = work.written
        self._bindings = work.bindings
        self._thread = state.thread
        self._last_heartbeat = activation.heartbeat

    @property
    def input(self) -> Json:
        return self._own("input", self._input)

    @property
    def config(self) -> Json:
        return self._own("config", self._config)

    @property
    def written(self) -> Json:
        """The configuration as the document has it, where the node's plan has made another one; else None. It is the
        document's own: not to be changed."""
        return self._written

    @property
    def bindings(self) -> dict[str, Any]:
        """The values of the names that the node's type says it reads (`NodeType.reads`)."""
        found: dict[str, Any] = self._own("bindings", self._bindings or {})
        return found

    @property
    def shared_bindings(self) -> Mapping[str, Any]:
        """The same, but the run's own values: for those who only pass them on. They must not be changed."""
        return self._bindings or _NOTHING

    @property
    def thread(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._own("thread", self._thread)
        return found

    @property
    def last_heartbeat(self) -> Json:
        """What the attempt before (or the worker before) said last."""
        return self._own("last_heartbeat", self._last_heartbeat)

    @property
    def vars(self) -> Mapping[str, Any]:
        """The run's shared data as it was when this attempt looked. Changes go into `Result.vars`."""
        return MappingProxyType(self._own("vars", self._vars)) if self._vars is not None else _NOTHING

    def _own(self, name: str, value: Json) -> Json:
        if type(value) not in _CHANGEABLE:
            return value
        if self._copies is None:
            self._copies = {}
        if name not in self._copies:
            self._copies[name] = decode_json(encode_json(value))
        return self._copies[name]

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        names = {"namespace": self.namespace, "run": self.run_id, "node": self.node_id, "attempt": self.attempt}
        return _Log(_LOGGER, names, self._execution)

    @property
    def blobs(self) -> HandlerBlobs:
        return HandlerBlobs(self._execution, self.namespace, self.run_id)

    @property
    def cells(self) -> HandlerCells:
        return HandlerCells(self._execution, self.namespace)

    async def secret(self, name: str) -> str:
        """Raises NotFound. It is cut out of what the attempt reports; see `engine.concealing` for what that finds."""
        found = await self._execution.runner.secrets.get(self.namespace, name)
        self.conceal(found)
        return found

    def conceal(self, secret: str) -> None:
        """For what is as good as a secret: a token that was fetched with one, for instance."""
        if self._execution.concealed is None:
            self._execution.concealed = Concealed()
        self._execution.concealed.add(secret)

    def without_secrets(self, value: Json) -> Json:
        """As it would be reported. For what is taken apart or cut before it is: what is left of a secret then would not
        be found any more."""
        return value if self._execution.concealed is None else self._execution.concealed.value(value)

    @property
    def is_cancelled(self) -> bool:
        """For blocking handlers, which cannot be interrupted: look here now and then."""
        return not self._execution.is_wanted

    def now(self) -> int:
        """Microseconds since 1970 by the store's clock."""
        return self._execution.runner.time.now()

    def heartbeat(self, details: Json = None) -> None:
        """Records how far it has come; a later attempt finds it in `last_heartbeat`. May be called from any thread.
        Raises InvalidInput for what is not JSON."""
        self._execution.runner.heartbeats.say(self._execution, details)
