"""Which URLs and headers are taken. What is written down is checked when it is saved, what is computed before each
call: the rules are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from perdure.nodes.outgoing.addresses import read_address

LONGEST_URL = 8 * 1024
MOST_HEADERS = 100
LONGEST_HEADERS = 32 * 1024

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BAD_IN_URL = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"[^\x00-\x20/?#@:\[\]<>^|%\\]+|\[[0-9A-Fa-f:.]+\]")

_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_LONE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_KEPT = "%/?:@!$&'()*+,;=-._~"
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")

OURS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that say where a request ends and who it is for. Whoever could set them could smuggle a second request."""

_SENSITIVE = re.compile(r"auth|cookie|token|secret|passw|api-?key|signature|credential", re.IGNORECASE)


class Place(NamedTuple):
    scheme: str
    host: str
    """As it is looked up: small letters, IDNA; IPv6 without brackets."""
    port: int

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = (self.scheme, self.port) in (("http", 80), ("https", 443))
        return f"{self.scheme}://{host}" if usual else f"{self.scheme}://{host}:{self.port}"


def read_url(text: str) -> Place:
    """Raises ValueError saying what is wrong with it."""
    if len(text) > LONGEST_URL:
        raise ValueError(f"it is longer than {LONGEST_URL} characters")
    if _BAD_IN_URL.search(text):
        raise ValueError("it holds a space, a backslash or a control character")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https"):
        raise ValueError("it does not begin with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("it holds a user name or password; use `auth`")
    host, port = _host_and_port(parts.netloc)
    if not host or not _HOST.fullmatch(host):
        raise ValueError("it names no host")
    for segment in parts.path.split("/"):
        if unquote(segment) in (".", ".."):
            raise ValueError("its path goes up with '..' or '.'")
    return Place(parts.scheme, plain_host(host), port or (443 if parts.scheme == "https" else 80))


def sendable(text: str, origin: str) -> str:
    """The URL as it is sent: the same path and query at this origin. What is encoded stays exactly as it is, what
    has to be is encoded."""
    parts = urlsplit(text)
    path, query = (quote(_LONE.sub("%25", part), safe=_KEPT) for part in (parts.path or "/", parts.query))
    return f"{origin}{path}?{query}" if parts.query else origin + path


def _host_and_port(netloc: str) -> tuple[str, int | None]:
    host, colon, port = netloc.rpartition(":")
    if not colon or netloc.endswith("]"):
        return netloc, None
    if not port:
        return host, None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise ValueError(f"{port!r} is no port")
    return host, int(port)


def plain_host(host: str) -> str:
    """Raises ValueError."""
    if host.startswith("["):
        if read_address(host[1:-1]) is None:
            raise ValueError(f"{host!r} is no address")
        return host[1:-1].lower()
    plain = host
    if not plain.isascii():
        # What a browser would make of it: full-width and circled digits are digits.
        plain = unicodedata.normalize("NFKC", plain).translate(_DOTS)
    if not plain.isascii():
        import idna

        try:
            plain = idna.encode(plain, uts46=True, std3_rules=True).decode()
        except UnicodeError:
            raise ValueError(f"{host!r} is no host name") from None
    plain = plain.lower().removesuffix(".")
    if not _NAME.fullmatch(plain):
        raise ValueError(f"{host!r} is no host name")
    return plain


def what_is_wrong_with_header(name: str, value: str | None = None) -> str | None:
    if not _TOKEN.fullmatch(name):
        return f"{name!r} is no name of a header"
    if name.lower() in OURS:
        return f"the header {name} is set by Perdure alone"
    if value is not None:
        if _UNPRINTABLE.search(value):
            return f"the value of the header {name} holds a line break or another control character"
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            return f"the value of the header {name} holds what a header cannot; encode it"
    return None


def check_headers(headers: Iterable[tuple[str, str]]) -> None:
    """Raises ValueError."""
    size = 0
    for count, (name, value) in enumerate(headers, start=1):
        wrong = what_is_wrong_with_header(name, value)
        if wrong is not None:
            raise ValueError(wrong)
        size += len(name) + len(value) + 4
        if count > MOST_HEADERS or size > LONGEST_HEADERS:
            raise ValueError(f"more than {MOST_HEADERS} headers, or more than {LONGEST_HEADERS} bytes of them")


def is_sensitive(name: str) -> bool:
    """Whether a header is one that is not carried to another origin."""
    return _SENSITIVE.search(name) is not None
