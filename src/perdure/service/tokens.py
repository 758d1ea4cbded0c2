"""Tokens that let whoever has one answer one task: for links in letters and chats.

Nothing about them is stored. A token says which task it is for and until when, and is signed with a key of this
installation. It can be used once, because a task is answered once: used again with the same answer it is answered the
same, with another it is refused.

    the task  "."  expiry  "."  signature          each in URL-safe Base64, without padding
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from secrets import token_bytes
from typing import NamedTuple

from perdure.errors import NotFound, StoreUnavailable, TokenExpired, TokenInvalid
from perdure.model.times import iso
from perdure.ports.cells import ABSENT, Cells
from perdure.ports.secrets import Secrets

SECRET = "task-token-key"
_CELL = "perdure/task-token-key"
_SIGNATURE = 24
_LONGEST = 2_000
_REMEDY = "ask for a new one"


class Pass(NamedTuple):
    """What a token says."""

    run: str
    activation: int
    request: str
    """The id of the request that it is used for."""


class TokenKey:
    """The secret `task-token-key`. Where there is none, a key that is made once per namespace and kept in a cell of the
    store, so that all servers have the same."""

    def __init__(self, secrets: Secrets, cells: Cells, namespace: str) -> None:
        self._secrets = secrets
        self._cells = cells
        self._namespace = namespace
        self._kept: bytes | None = None

    async def __call__(self) -> bytes:
        try:
            return (await self._secrets.get(self._namespace, SECRET)).encode()
        except NotFound:
            if self._kept is None:
                self._kept = await self._keep()
            return self._kept

    async def _keep(self) -> bytes:
        made = await self._cells.put(self._namespace, _CELL, token_bytes(32), if_version=ABSENT)
        cell = made or await self._cells.get(self._namespace, _CELL)
        if cell is None:
            raise StoreUnavailable("the key of tokens could not be kept")
        return cell.value


class TaskTokens:
    def __init__(self, key: Callable[[], Awaitable[bytes]]) -> None:
        self._key = key

    async def issue(self, namespace: str, run: str, activation: int, expires: int) -> str:
        """For this activation, which is one visit of its node; until `expires`, in microseconds since 1970."""
        said = f"{_packed(f'{run}.{activation}')}.{_packed(str(expires))}"
        return f"{said}.{_text(await self._signature(namespace, said))}"

    async def read(self, namespace: str, token: str, now: int) -> Pass:
        """Raises TokenInvalid and TokenExpired. A forged one is not told that it has expired."""
        task, expires, signature = self._parts(token)
        said = token.rpartition(".")[0]
        if not hmac.compare_digest(signature, await self._signature(namespace, said)):
            raise _forged()
        if now >= int(expires):
            raise TokenExpired(f"the token was good until {iso(int(expires))}", remedy=_REMEDY)
        run, _, activation = task.rpartition(".")
        if not run or not activation.isdecimal():
            raise _forged()
        return Pass(run, int(activation), f"token/{hashlib.blake2b(token.encode(), digest_size=16).hexdigest()}")

    async def _signature(self, namespace: str, said: str) -> bytes:
        return hmac.digest(await self._key(), f"{namespace}\n{said}".encode(), "sha256")[:_SIGNATURE]

    def _parts(self, token: str) -> tuple[str, str, bytes]:
        parts = token.split(".") if isinstance(token, str) and len(token) <= _LONGEST else []
        if len(parts) != 3:
            raise _forged()
        try:
            task, expires = (_bytes(part).decode() for part in parts[:2])
            signature = _bytes(parts[2])
        except ValueError:
            raise _forged() from None
        if not expires.isdecimal() or len(expires) > 20:
            raise _forged()
        return task, expires, signature


def _forged() -> TokenInvalid:
    return TokenInvalid("this is no token of ours, or it was changed", remedy=_REMEDY)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _packed(text: str) -> str:
    return _text(text.encode())


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
