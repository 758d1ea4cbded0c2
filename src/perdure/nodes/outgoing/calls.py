"""A call and its answer."""

from __future__ import annotations

from typing import Final

import msgspec

from perdure.nodes.outgoing.urls import read_url

TIMEOUT: Final = 30.0
RESPONSE_BYTES: Final = 1024 * 1024
REDIRECTS: Final = 10


class Call(msgspec.Struct, frozen=True):
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    timeout: float = TIMEOUT
    """Seconds for all of it: connecting, redirects, reading the response."""
    max_bytes: int = RESPONSE_BYTES
    """Of the decoded response."""
    redirects: int = REDIRECTS
    """How many are followed; with 0 the redirect itself is the answer."""
    private: frozenset[str] = frozenset()
    """Headers in small letters, besides those that are known, which are not carried to another origin."""
    has_private_body: bool = False
    """The body is not carried to another origin."""
    has_private_url: bool = False
    """The URL is a secret: whatever is told of the call names its host alone."""


class Answer(msgspec.Struct, frozen=True):
    status: int
    url: str
    """Of the last hop."""
    method: str
    headers: list[tuple[str, str]]
    body: bytes
    redirects: int = 0
    has_private_url: bool = False

    @property
    def told_url(self) -> str:
        """As it may be told: of a secret one, scheme and host."""
        return read_url(self.url).origin if self.has_private_url else self.url

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)
