"""Addresses of mails: read strictly, so that nothing that a run computes can add a header or a recipient.

`Ada Lovelace <ada@example.com>, "Babbage, C." <cb@example.com>`, or a list of such texts. A domain may be written in
any script; a mailbox too, if the server takes it (SMTPUTF8).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

MOST = 100
"""Recipients of one mail: what every server has to take."""

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
_NAMED = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*"|[^"<>]*?)\s*<(?P<mailbox>[^<>]*)>')
_UNFIT = frozenset({"Cc", "Cs", "Zl", "Zp"})


class Address(NamedTuple):
    name: str
    mailbox: str

    @property
    def is_ascii(self) -> bool:
        """Whether every server can take it; the name does not matter, as it is encoded."""
        return self.mailbox.isascii()


def parse_addresses(given: Any) -> list[Address]:
    """All addresses in a text or a list of texts, each mailbox once. Raises ValueError that says which is wrong."""
    found: dict[str, Address] = {}
    for text in given if isinstance(given, list) else [given]:
        if text is None:
            continue
        if not isinstance(text, str):
            raise ValueError(f"{str(text)[:80]!r} is no address")
        for piece in _pieces(text):
            address = parse_address(piece)
            found.setdefault(address.mailbox, address)
    if len(found) > MOST:
        raise ValueError(f"{len(found)} recipients; at most {MOST}")
    return list(found.values())


def parse_address(text: str) -> Address:
    """Raises ValueError."""
    text = text.strip()
    shown = f"{text[:80]!r}"
    if any(unicodedata.category(character) in _UNFIT for character in text):
        raise ValueError(f"{shown} has a line break or another control character in it")
    named = _NAMED.fullmatch(text)
    name, mailbox = (named["name"].strip(), named["mailbox"].strip()) if named else ("", text)
    if name.startswith('"'):
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    local, at, domain = mailbox.rpartition("@")
    if not at or not local or not domain:
        raise ValueError(f"{shown} is no address: it should be name@domain")
    if len(local.encode()) > 64 or not _LOCAL.fullmatch(local):
        raise ValueError(f"{shown} is no address: {local[:64]!r} cannot stand before the @")
    return Address(name, f"{local}@{_domain(domain, shown)}")


def _domain(domain: str, shown: str) -> str:
    """As mail servers write it."""
    lower = domain.lower().removesuffix(".")
    if not lower.isascii() and len(lower) <= 255:
        import idna  # few need it

        try:
            lower = idna.encode(lower, uts46=True).decode()
        except idna.IDNAError as problem:
            raise ValueError(f"{shown} is no address: {domain[:80]!r} is no domain ({problem})") from None
    if len(lower) > 255 or not _DOMAIN.fullmatch(lower):
        raise ValueError(f"{shown} is no address: {domain[:80]!r} is no domain")
    return lower


def _pieces(text: str) -> Iterator[str]:
    """What stands between commas that are neither quoted nor in angle brackets. Empty pieces do not count."""
    begin, quoted, angled, escaped = 0, False, False, False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif quoted:
            escaped = character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "<>":
            angled = character == "<"
        elif character == "," and not angled:
            if text[begin:at].strip():
                yield text[begin:at]
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:]
