"""Secrets do not get into the store: what an attempt has read with `ctx.secret` is cut out of all that it reports.

A handler is careful with a secret, and the server to which it sends it may not be: it can answer with the header that
it was sent. So outputs, waits, failures, heartbeats, log lines, cells and blobs of the attempt are searched for the
secret itself and for the forms in which it travels: without the white space around it, base64 (at any offset, so also
inside of `user:password`), percent-encoded, as JSON and HTML write it, in hexadecimal; in small and capital letters
alike. Of a secret that is a URL each part is looked for as well, except for its host: servers like to name the path
that they do not know.

What this does not find: a secret of fewer than six characters, one that was encrypted, compressed or taken apart, and
one that another run brings as data.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from msgspec.structs import replace

from perdure.model.commands import Command, Complete, Fail
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.model.waits import AnyWait, Ask, AwaitSignal, Sleep

SHORTEST = 6
SHORTEST_PART = 8
"""Characters of a single segment or value in a secret URL from which on it is taken for a secret of its own."""
CONCEALED = "[secret]"
_B64_SHORTEST = 6
_KEPT_IN_URLS: Final = "%/?:@!$&'()*+,;=-._~"
_WORDS: Final = frozenset(
    {"callback", "incoming", "messages", "services", "triggers", "webhooks", "workflow", "workflows"}
)
"""They stand in the URLs of many webhooks and in the answers of many servers; nobody is let in for them."""


class _Search(NamedTuple):
    text: re.Pattern[str]
    data: re.Pattern[bytes]
    forms: tuple[str, ...]
    written: tuple[bytes, ...]
    shortest: int
    longest: int


@lru_cache(maxsize=128)
def _search(secrets: frozenset[str]) -> _Search:
    """Kept, as a node reads the same secrets in each of its attempts."""
    forms = sorted({form for secret in secrets for form in forms_of(secret)}, key=len, reverse=True)
    written = [form.encode("utf-8", "surrogatepass") for form in forms]
    written += [secret.encode(code, "surrogatepass") for secret in secrets for code in ("utf-16-le", "utf-16-be")]
    written.sort(key=len, reverse=True)
    return _Search(
        re.compile("|".join(map(re.escape, forms)), re.IGNORECASE),
        re.compile(b"|".join(map(re.escape, written)), re.IGNORECASE),
        tuple({form.lower() for form in forms}),
        tuple({form.lower() for form in written}),
        len(forms[-1]),
        max(map(len, written)),
    )


class Concealed:
    """The secrets of one attempt."""

    __slots__ = ("_found", "_secrets")

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._found: _Search | None = None

    def add(self, secret: str) -> None:
        stripped = secret.strip()
        for each in {secret, stripped, *misread(stripped), *parts_of_url(stripped)}:
            if len(each) >= SHORTEST and each not in self._secrets:
                self._secrets.add(each)
                self._found = None

    def _searched(self) -> _Search | None:
        if self._found is None and self._secrets:
            self._found = _search(frozenset(self._secrets))
        return self._found

    def text(self, text: str) -> str:
        search = self._searched()
        return text if search is None else _cut(text, search)

    def value(self, value: Json) -> Json:
        search = self._searched()
        return value if search is None else _without(value, search)

    def data(self, data: bytes) -> bytes:
        search = self._searched()
        return data if search is None else _cut_data(data, search)

    async def stream(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """A stream of bytes; as much is held back as a secret that has only begun could be long."""
        search = self._searched()
        if search is None:
            async for part in parts:
                yield part
            return
        held = b""
        async for part in parts:
            held = _cut_data(held + part, search)
            ready = max(0, len(held) - search.longest + 1)
            if ready:
                yield held[:ready]
                held = held[ready:]
        if held:
            yield held

    def report(self, report: Command) -> Command:
        match report:
            case Complete():
                return replace(
                    report,
                    output=self.value(report.output),
                    outcome=None if report.outcome is None else self.text(report.outcome),
                    vars=self.value(report.vars),
                    beside=self.value(report.beside),
                    then=None if report.then is None else self.wait(report.then),
                )
            case Fail():
                return replace(report, failure=self.failure(report.failure), output=self.value(report.output))
            case _:
                return report

    def wait(self, wait: AnyWait) -> AnyWait:
        match wait:
            case Sleep():
                return replace(wait, output=self.value(wait.output))
            case AwaitSignal():
                return replace(wait, name=self.text(wait.name))
            case Ask():
                return replace(
                    wait,
                    view=self.value(wait.view),
                    details=self.value(wait.details),
                    decided_by=self.value(wait.decided_by),
                    outcomes=self.value(wait.outcomes),
                )

    def failure(self, failure: Failure) -> Failure:
        return replace(
            failure,
            code=self.text(failure.code),
            message=self.text(failure.message),
            details=self.value(failure.details),
        )


def _cut(text: str, search: _Search) -> str:
    # To look for each form by itself is many times faster than for any of them, and most texts hold none.
    if len(text) < search.shortest:
        return text
    lower = text.lower()
    return search.text.sub(CONCEALED, text) if any(form in lower for form in search.forms) else text


def _cut_data(data: bytes, search: _Search) -> bytes:
    lower = data.lower()
    return search.data.sub(CONCEALED.encode(), data) if any(form in lower for form in search.written) else data


def _without(value: Any, search: _Search) -> Any:
    if isinstance(value, str):
        return _cut(value, search)
    if isinstance(value, dict):
        return {_cut(key, search): _without(part, search) for key, part in value.items()}
    if isinstance(value, list):
        return [_without(part, search) for part in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and _cut(str(value), search) != str(value):
        return CONCEALED
    return value


def misread(secret: str) -> set[str]:
    """What becomes of it where one side writes UTF-8 and the other reads Latin-1, or the other way round."""
    found: set[str] = set()
    if not secret.isascii():
        for wrote, read in (("utf-8", "latin-1"), ("utf-8", "cp1252"), ("latin-1", "utf-8")):
            for errors in ("replace", "surrogateescape"):
                with suppress(UnicodeError):
                    found.add(secret.encode(wrote).decode(read, errors))
    return found


@lru_cache(maxsize=128)
def parts_of_url(secret: str) -> frozenset[str]:
    """What of a secret URL is a secret by itself: all but scheme and host. None if it is no URL."""
    scheme, found, _ = secret.partition("://")
    if not found or not scheme.isascii() or not scheme.isalpha():
        return frozenset()
    try:
        url = urlsplit(secret)
        origin = f"{url.scheme}://{url.netloc}"
        password = url.password
    except ValueError:
        return frozenset()  # such a one is never called
    segments = [each for each in url.path.split("/") if each]
    rests = ["/".join(segments[start:]) for start in range(len(segments))]
    if url.query:
        rests += [f"{rest}?{url.query}" for rest in rests]
    values = [pair.partition("=")[2] for pair in url.query.split("&")]
    alone = [*segments, *rests, *values, url.fragment, url.username or ""]
    kept = {each for each in alone if len(each) >= SHORTEST_PART and each.lower() not in _WORDS}
    kept |= {url.path, url.query, f"{url.path}?{url.query}", password or ""}
    if url.path.strip("/"):
        kept.add(origin + url.path)
    kept -= {f"/{word}" for word in _WORDS}
    return frozenset(
        form
        for each in kept
        for form in (each, quote(each, safe=_KEPT_IN_URLS), unquote(each), unquote_plus(each))
        if len(form) >= SHORTEST
    )


def forms_of(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogatepass")
    written = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    found = {
        secret,
        *written,
        *(each.replace("/", "\\/") for each in written),
        quote(data, safe=""),
        quote(data),
        quote_plus(data),
        html.escape(secret),
        html.escape(secret, quote=False),
        data.hex(),
    }
    for offset in range(3):
        plain = b64encode(bytes(offset) + data).decode()
        whole = plain.rstrip("=")
        # The first and last letters are shared with what stands before and after the secret.
        core = whole[(0, 2, 3)[offset] : len(whole) - (1 if whole != plain else 0)]
        if len(core) >= _B64_SHORTEST:
            found |= {core, core.replace("+", "-").replace("/", "_")}
    return found
