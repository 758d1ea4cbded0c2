"""Secrets do not get into the store: what an attempt has read with `ctx.secret` is cut out of all that it reports.

A handler is careful with a secret, and the server to which it sends it may not be: it can answer with the header that
it was sent. So outputs, failures, heartbeats, log lines and blobs of the attempt are searched for the secret itself and
for the forms in which it travels: base64 (at any offset, so also inside of `user:password`), percent-encoded, as JSON
and HTML write it, in hexadecimal; in small and capital letters alike.

What this does not find: a secret of fewer than six characters, one that was encrypted, compressed or taken apart, and
one that another run brings as data.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, quote_plus

from msgspec.structs import replace

from perdure.model.commands import Command, Complete, Fail
from perdure.model.failures import Failure
from perdure.model.values import Json

SHORTEST = 6
CONCEALED = "[secret]"
_B64_SHORTEST = 6
_LONG = 1024
"""Longer texts are first searched for each form by itself, which is many times faster than for any of them."""


class Concealed:
    """The secrets of one attempt."""

    __slots__ = ("_bytes", "_forms", "_longest", "_secrets", "_text", "_written")

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._text: re.Pattern[str] | None = None
        self._bytes: re.Pattern[bytes] | None = None
        self._forms: tuple[str, ...] = ()
        self._written: tuple[bytes, ...] = ()
        self._longest = 0

    def add(self, secret: str) -> None:
        if len(secret) >= SHORTEST and secret not in self._secrets:
            self._secrets.add(secret)
            self._text = None

    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[bytes]] | None:
        if not self._secrets:
            return None
        if self._text is None or self._bytes is None:
            forms = sorted({form for secret in self._secrets for form in forms_of(secret)}, key=len, reverse=True)
            self._text = re.compile("|".join(map(re.escape, forms)), re.IGNORECASE)
            written = [form.encode("utf-8", "surrogatepass") for form in forms]
            self._bytes = re.compile(b"|".join(map(re.escape, written)), re.IGNORECASE)
            self._longest = max(map(len, written))
            self._forms = tuple({form.lower() for form in forms})
            self._written = tuple({form.lower() for form in written})
        return self._text, self._bytes

    def text(self, text: str) -> str:
        patterns = self._patterns()
        return text if patterns is None else self._cut(text, patterns[0])

    def _cut(self, text: str, pattern: re.Pattern[str]) -> str:
        if len(text) > _LONG:
            lower = text.lower()
            if not any(form in lower for form in self._forms):
                return text
        return pattern.sub(CONCEALED, text)

    def value(self, value: Json) -> Json:
        patterns = self._patterns()
        return value if patterns is None else self._without(value, patterns[0])

    def _without(self, value: Any, pattern: re.Pattern[str]) -> Any:
        if isinstance(value, str):
            return self._cut(value, pattern)
        if isinstance(value, dict):
            return {self._cut(key, pattern): self._without(part, pattern) for key, part in value.items()}
        if isinstance(value, list):
            return [self._without(part, pattern) for part in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and pattern.search(str(value)):
            return CONCEALED
        return value

    async def stream(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """A stream of bytes; as much is held back as a secret that has only begun could be long."""
        patterns = self._patterns()
        if patterns is None:
            async for part in parts:
                yield part
            return
        held = b""
        async for part in parts:
            held += part
            lower = held.lower()
            if any(form in lower for form in self._written):
                held = patterns[1].sub(CONCEALED.encode(), held)
            ready = max(0, len(held) - self._longest + 1)
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
                    vars=self.value(report.vars),
                    beside=self.value(report.beside),
                )
            case Fail():
                return replace(report, failure=self.failure(report.failure), output=self.value(report.output))
            case _:
                return report

    def failure(self, failure: Failure) -> Failure:
        return replace(
            failure,
            code=self.text(failure.code),
            message=self.text(failure.message),
            details=self.value(failure.details),
        )


def forms_of(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogatepass")
    found = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
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
