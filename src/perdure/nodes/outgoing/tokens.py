"""Tokens by OAuth 2 client credentials (RFC 6749 §4.4): fetched once, shared by all who need it, renewed in time.

They live in memory, per namespace, and for those alone who know the client's secret: one that is wrong gets no token
that another was given, and its refusal is not that of another. A thousand calls that find none wait for the one that
fetches it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_plus, urlencode

from perdure.errors import PerdureError
from perdure.model.values import decode_json
from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.failures import CallFailed

if TYPE_CHECKING:
    from perdure.nodes.outgoing.client import HttpClient

SKEW = 30.0
"""Seconds before its end at which a token is not used any more; of a short one, a tenth of its life."""
LIFE = 300.0
"""Of a token that does not say how long it lives."""
LONGEST_LIFE = 10 * 366 * 24 * 3600
_MOST = 1_000
_TIMEOUT = 15.0
_LONGEST = 16 * 1024
_ERRORS = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)


class Grant(NamedTuple):
    token_url: str
    client_id: str
    scope: str | None = None
    audience: str | None = None


class _Token(NamedTuple):
    text: str
    until: float


Secret = Callable[[], Awaitable[str]]
_Key = tuple[str, Grant, bytes]
"""Namespace, grant, and a keyed hash of the secret."""


class Tokens:
    def __init__(self, http: Callable[[], HttpClient], clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        self._salt = secrets.token_bytes(32)
        self._kept: OrderedDict[_Key, _Token] = OrderedDict()
        self._fetching: dict[_Key, asyncio.Task[_Token]] = {}

    async def get(self, namespace: str, grant: Grant, secret: Secret) -> str:
        """Raises CallFailed with the code HTTP_AUTH_FAILED."""
        known = await secret()
        key = (namespace, grant, blake2b(known.encode("utf-8", "surrogatepass"), key=self._salt).digest())
        kept = self._kept.get(key)
        if kept is not None and self._clock() < kept.until:
            self._kept.move_to_end(key)
            return kept.text
        task = self._fetching.get(key)
        if task is None:
            # A task of its own: whoever asked first may be cancelled while others wait for the same token.
            task = self._fetching[key] = asyncio.ensure_future(self._fetch(namespace, grant, known))
            task.add_done_callback(lambda done: self._fetched(key, done))
        return (await asyncio.shield(task)).text

    def refused(self, namespace: str, grant: Grant, header: str) -> None:
        """The other side did not take this token: it is not used again. One that came after it stays."""
        for key, kept in list(self._kept.items()):
            if key[:2] == (namespace, grant) and header == f"Bearer {kept.text}":
                del self._kept[key]

    def _fetched(self, key: _Key, done: asyncio.Task[_Token]) -> None:
        self._fetching.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._kept[key] = done.result()
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    async def _fetch(self, namespace: str, grant: Grant, secret: str) -> _Token:
        pair = f"{quote_plus(grant.client_id)}:{quote_plus(secret)}"
        form = {"grant_type": "client_credentials", "scope": grant.scope, "audience": grant.audience}
        call = Call(
            "POST",
            grant.token_url,
            (
                ("Authorization", f"Basic {b64encode(pair.encode()).decode()}"),
                ("Content-Type", "application/x-www-form-urlencoded"),
                ("Accept", "application/json"),
            ),
            urlencode({name: value for name, value in form.items() if value}).encode(),
            timeout=_TIMEOUT,
            redirects=0,
        )
        try:
            answer = await self._http().call(namespace, call)
        except CallFailed as failed:
            raise _no_token(failed.message, failed.retryable, cause=failed.code) from None
        return self._read(answer)

    def _read(self, answer: Answer) -> _Token:
        found: Any = None
        with suppress(PerdureError):
            found = decode_json(answer.body)
        told = found if isinstance(found, dict) else {}
        if answer.status != 200:
            may_pass = answer.status in (408, 425, 429) or answer.status >= 500
            # Only words that we know: what a server makes up might be what it was sent.
            why = next((word for word in _ERRORS if word == told.get("error")), "")
            raise _no_token(f"it answered {answer.status} {why}".strip(), may_pass, status=answer.status)
        token = told.get("access_token")
        if not isinstance(token, str) or not 0 < len(token) <= _LONGEST or not token.isprintable():
            raise _no_token("its answer holds no token", False, status=answer.status)
        if str(told.get("token_type", "bearer")).lower() != "bearer":
            raise _no_token("its token is no bearer token", False, status=answer.status)
        life = told.get("expires_in")
        seconds = (
            float(min(life, LONGEST_LIFE)) if isinstance(life, int | float) and not isinstance(life, bool) else LIFE
        )
        return _Token(token, self._clock() + seconds - min(SKEW, seconds / 10))


def _no_token(why: str, may_pass: bool, **details: object) -> CallFailed:
    return CallFailed("HTTP_AUTH_FAILED", f"no token for the call: {why}", retryable=may_pass, details=dict(details))
