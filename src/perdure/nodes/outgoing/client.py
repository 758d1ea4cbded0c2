"""The client: pooled connections per host, a deadline for the whole call, redirects followed by hand, and a guard that
looks at the address that a socket is really about to be connected to.

Each namespace has connections of its own. A connection that was opened because one namespace may reach a host is never
lent to another, and no cookie is kept anywhere.
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec.structs import replace
from multidict import CIMultiDict
from yarl import URL

from perdure.nodes.outgoing.addresses import read_address
from perdure.nodes.outgoing.bodies import ACCEPTED, read_body
from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.failures import CallFailed, invalid_request, invalid_response, invalid_url, refused_host
from perdure.nodes.outgoing.policy import OutgoingSettings, Policy
from perdure.nodes.outgoing.urls import Place, check_headers, is_sensitive, read_url, sendable

CONNECT: Final = 10.0
_LARGE: Final = 512 * 1024
"""Bodies beyond it are sent in pieces."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

Lookup = Callable[[str, int, socket.AddressFamily], Awaitable[list[ResolveResult]]]

_CALLED: ContextVar[tuple[str, int]] = ContextVar("perdure_called")
"""Host and port of the call for which a connection is being made: a socket factory is told only the address."""


class HttpClient:
    def __init__(self, settings: OutgoingSettings | None = None, lookup: Lookup | None = None) -> None:
        self.settings = settings or OutgoingSettings()
        self._lookup = lookup
        self._lines: dict[str, _Lines] = {}

    async def call(self, namespace: str, call: Call) -> Answer:
        """Makes the call and reads the whole response, whatever its status. Raises CallFailed."""
        lines = self._lines.get(namespace)
        if lines is None:
            lines = self._lines[namespace] = _Lines(self.settings, namespace, self._lookup)
        try:
            check_headers(call.headers)
        except ValueError as problem:
            raise invalid_request(str(problem)) from None
        try:
            async with asyncio.timeout(call.timeout):
                return await _follow(lines, call)
        except TimeoutError:
            told = f"{_told(call)} took longer than {call.timeout:g} seconds"
            raise CallFailed("TIMEOUT", told, retryable=True, details={"seconds": call.timeout}) from None

    async def close(self) -> None:
        while self._lines:
            await self._lines.popitem()[1].close()


async def _follow(lines: _Lines, call: Call) -> Answer:
    place = _place(call)
    for count in range(call.redirects + 1):
        answer = await lines.send(call, place, count)
        target = answer.header("location") if answer.status in _REDIRECTS else None
        if target is None or call.redirects == 0:
            return answer
        before, url = place, urljoin(call.url, target.strip())
        place = _redirected(url, call)
        call = _next_hop(replace(call, url=url), answer.status, before, place)
    raise _no_redirect(f"there are more than {call.redirects} redirects")


def _next_hop(call: Call, status: int, before: Place, place: Place) -> Call:
    if before.scheme == "https" and place.scheme == "http":
        raise _no_redirect("it leads from https to http")
    if (status == 303 and call.method != "HEAD") or (status in (301, 302) and call.method == "POST"):
        about_body = tuple(each for each in call.headers if not each[0].lower().startswith("content-"))
        call = replace(call, method="GET", body=None, headers=about_body)
    if before == place:
        return call
    if call.body is not None and call.has_private_body:
        raise _no_redirect("it leads to another origin, and the body holds a secret")
    kept = tuple(each for each in call.headers if each[0].lower() not in call.private and not is_sensitive(each[0]))
    return replace(call, headers=kept)


def _place(call: Call) -> Place:
    try:
        return read_url(call.url)
    except ValueError as problem:
        raise invalid_url("the secret is no URL" if call.has_private_url else str(problem)) from None


def _redirected(url: str, call: Call) -> Place:
    try:
        return read_url(url)
    except ValueError as problem:
        why = "it leads to what is no URL" if call.has_private_url else f"of where it leads: {problem}"
        raise _no_redirect(why) from None


def _no_redirect(why: str) -> CallFailed:
    return CallFailed("HTTP_REDIRECT_REFUSED", f"the redirect is not followed: {why}")


def _told(call: Call) -> str:
    """Method and URL without its query, which may hold what is nobody's business; of a secret URL the host alone."""
    url = call.url.partition("?")[0]
    if call.has_private_url:
        try:
            url = read_url(call.url).host
        except ValueError:
            url = "a secret URL"
    return f"{call.method} {url}"


class _Lines:
    """The connections of one namespace."""

    def __init__(self, settings: OutgoingSettings, namespace: str, lookup: Lookup | None) -> None:
        self.policy = Policy(settings, namespace)
        self._settings = settings
        self._lookup = lookup
        self._guarded: aiohttp.ClientSession | None = None
        self._mapped: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        for session in (self._guarded, self._mapped):
            if session is not None:
                await session.close()

    async def send(self, call: Call, place: Place, redirects: int) -> Answer:
        method, url, body = call.method, call.url, call.body
        told = _told(call)
        given: CIMultiDict[str] = CIMultiDict(call.headers)
        given["Accept-Encoding"] = ACCEPTED
        given.setdefault("User-Agent", "Perdure")
        target, session, server_name = self._line(url, place, given)
        data = io.BytesIO(body) if body is not None and len(body) > _LARGE else body
        try:
            async with session.request(
                method, target, headers=given, data=data, allow_redirects=False, server_hostname=server_name
            ) as response:
                coding = response.headers.get("Content-Encoding", "").strip().lower()
                found = b""
                if method != "HEAD" and response.status not in (204, 304):
                    most = min(call.max_bytes, self._settings.response_bytes)
                    found = await read_body(response.content, coding, response.content_length, most)
                headers = list(response.headers.items())
                return Answer(response.status, url, method, headers, found, redirects, call.has_private_url)
        except aiohttp.ClientError as problem:
            raise _failure(told, place.host, problem) from None
        except ssl.SSLError as problem:
            raise _untrusted(told, problem) from None
        except OSError as problem:
            if isinstance(problem, TimeoutError):
                raise
            raise _dropped(told, problem) from None
        except ValueError as problem:
            raise invalid_response(f"{told}: {problem}") from None

    def _line(self, url: str, place: Place, headers: CIMultiDict[str]) -> tuple[URL, aiohttp.ClientSession, str | None]:
        """Where the call really goes, over which connections, and under which name TLS is spoken."""
        policy = self.policy
        mapped = policy.mapped_to(place.host, place.port)
        _CALLED.set((place.host, place.port))
        if mapped is not None:
            headers["Host"] = place.origin.partition("://")[2]
            target = sendable(url, mapped.origin)
            if self._mapped is None:
                self._mapped = self._session(None)
            return URL(target, encoded=True), self._mapped, place.host if mapped.scheme == "https" else None
        policy.check_host(place.host, place.port)
        if self._guarded is None:
            self._guarded = self._session(policy)
        # Put together anew from what was checked: two readers of one text may not agree about its host.
        return URL(sendable(url, place.origin), encoded=True), self._guarded, None

    def _session(self, policy: Policy | None) -> aiohttp.ClientSession:
        settings = self._settings
        resolver = aiohttp.ThreadedResolver() if policy is None else _GuardedResolver(policy, self._lookup)
        connector = aiohttp.TCPConnector(
            limit=max(200, settings.connections_per_host),
            limit_per_host=settings.connections_per_host,
            resolver=resolver,
            socket_factory=None if policy is None else _guard(policy),
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT),
            requote_redirect_url=False,
            skip_auto_headers=["Content-Type"],
        )
        # aiohttp would repeat some calls by itself once; attempts are ours to count.
        session._retry_connection = False
        return session


class _GuardedResolver(AbstractResolver):
    """Looks a name up once and takes it only if every address that it has may be called."""

    def __init__(self, policy: Policy, lookup: Lookup | None) -> None:
        self._policy = policy
        self._inner = aiohttp.ThreadedResolver()
        self._lookup = lookup or self._inner.resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._lookup(host, port, family)
        for each in found:
            address = read_address(each["host"])
            if address is None:
                raise refused_host(host, "it was found at what is no address")
            self._policy.check(host, port, address)
        return found

    async def close(self) -> None:
        await self._inner.close()


def _guard(policy: Policy) -> Callable[[Any], socket.socket]:
    def guarded(info: Any) -> socket.socket:
        family, kind, protocol, _, name = info
        host, port = _CALLED.get((str(name[0]), int(name[1])))
        address = read_address(str(name[0]))
        if address is None or int(name[1]) != port:
            raise refused_host(host, "its address is none")
        policy.check(host, port, address)
        return socket.socket(family, kind, protocol)

    return guarded


# -- what goes wrong -------------------------------------------------------------------------------
#
# Nothing is cut off here, as it may hold an echoed secret: that is done once no secret is in it any more.


def _failure(told: str, host: str, problem: aiohttp.ClientError) -> CallFailed:
    match problem:
        case aiohttp.ClientConnectorDNSError():
            return _unreachable(told, f"the name {host} cannot be looked up")
        case aiohttp.ClientSSLError():
            return _untrusted(told, problem)
        case aiohttp.ClientConnectorError():
            return _unreachable(told, problem.os_error.strerror or str(problem.os_error))
        case aiohttp.ServerTimeoutError():
            return _unreachable(told, "no connection in time")
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return _dropped(told, problem)
        case aiohttp.InvalidURL():
            return refused_host(host, "its URL is unusual")
        case _:
            why = getattr(problem, "message", None) or str(problem) or type(problem).__name__
            return invalid_response(f"{told}: {why}")


def _unreachable(told: str, why: str) -> CallFailed:
    return CallFailed("HTTP_UNREACHABLE", f"{told}: {why}", retryable=True)


def _untrusted(told: str, problem: Exception) -> CallFailed:
    cause = getattr(problem, "certificate_error", None) or getattr(problem, "os_error", None) or problem
    return CallFailed("HTTP_TLS", f"{told}: {cause}")


def _dropped(told: str, problem: Exception) -> CallFailed:
    why = str(problem) or type(problem).__name__
    return CallFailed(
        "HTTP_DROPPED", f"{told}: the connection broke before the response was there ({why})", retryable=True
    )
