"""Header fields of mails, written from text that nobody has vouched for.

The standard library reads a header value before it writes it: `=?utf-8?q?a=0ABcc:_eve@…?=` becomes two lines there, and
the second is a header. Here nothing is read. What is not plain ASCII, or looks like an encoded word, is encoded as a
whole; the rest is written as it is, and a control character is refused.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from perdure.nodes.mail.addresses import Address

WIDTH = 76
LONGEST_WORD = 200
_ENCODED_BYTES = 45  # of UTF-8 in one encoded word, which may have 75 characters
_PLAIN = re.compile(r"[\x20-\x7e]*")
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_TOKEN = re.compile(r"[\x20!#-\[\]-\x7e]{1,200}")


def field(name: str, value: str) -> str:
    """A field whose value is just text."""
    return _folded(name, encoded(value) if must_encode(value) else value.split(" "))


def address_field(name: str, addresses: Iterable[Address]) -> str:
    words: list[str] = []
    for address in addresses:
        if words:
            words[-1] += ","
        if address.name:
            words += _phrase(address.name)
            words.append(f"<{_checked(address.mailbox)}>")
        else:
            words.append(_checked(address.mailbox))
    return _folded(name, words)


def file_parameters(name: str) -> list[str]:
    """The file name as parameters of Content-Disposition: as it is, or by RFC 2231, in pieces if it is long."""
    if _TOKEN.fullmatch(name) and "=?" not in name:
        return [f'filename="{name}"']
    pieces = re.findall(r"(?:%[0-9A-F]{2}|[^%]){1,20}", quote(name, safe=""))
    if len(pieces) == 1:
        return [f"filename*=utf-8''{pieces[0]}"]
    first, *rest = pieces
    numbered = [f"filename*{number}*={piece}" for number, piece in enumerate(rest, 1)]
    return [f"filename*0*=utf-8''{first}", *numbered]


def must_encode(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or "=?" in text:
        return True
    return any(len(word) > LONGEST_WORD for word in text.split(" "))


def encoded(text: str) -> list[str]:
    """As encoded words (RFC 2047); the blanks between them do not count."""
    return [f"=?utf-8?b?{base64.b64encode(part).decode()}?=" for part in _parts(text)]


def _parts(text: str) -> Iterator[bytes]:
    """Pieces of UTF-8 that end where a character does."""
    piece = b""
    for character in text:
        more = character.encode()
        if len(piece) + len(more) > _ENCODED_BYTES:
            yield piece
            piece = b""
        piece += more
    yield piece


def _phrase(name: str) -> list[str]:
    if must_encode(name) or len(name) > LONGEST_WORD:
        return encoded(name)
    if _ATOMS.fullmatch(name):
        return name.split(" ")
    return ['"' + re.sub(r'(["\\])', r"\\\1", name) + '"']


def _folded(name: str, words: list[str]) -> str:
    lines, line = [], f"{name}:"
    for word in words:
        if word and len(line) + 1 + len(word) > WIDTH and line != f"{name}:" and line.strip():
            lines.append(line)
            line = ""
        line += f" {word}"
    lines.append(line)
    return "".join(f"{_checked(each)}\r\n" for each in lines)


def _checked(text: str) -> str:
    """Whatever came before: no line of a header has a line break in it."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("a control character in a header")
    return text
