"""A mail as it was recorded, and as the bytes that a server gets.

The bytes follow from the record, the activation's key and the settings, and from nothing else: every attempt, by
whatever worker, sends the same mail with the same Message-ID. So who gets it twice can know.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import mimetypes
import quopri
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from perdure.model.values import Json, encode_json
from perdure.nodes.mail.addresses import Address
from perdure.nodes.mail.headers import address_field, field, file_parameters
from perdure.nodes.mail.plain import text_of

BOUNDARY = "=_perdure_"


class Attached(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of the record. Its content is one of the last four."""

    filename: str
    type: str | None = None
    text: str | None = None
    base64: str | None = None
    blob: str | None = None
    """The hash of a large value."""
    from_input: bool = False
    """What the node was given, which is in the log already."""


class Rendered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is recorded with the turn that asks for the mail to be sent. Times are microseconds."""

    to: list[Address]
    subject: str
    date: int
    sender: Address | None = None
    cc: list[Address] = []
    bcc: list[Address] = []
    reply_to: list[Address] = []
    text: str | None = None
    html: str | None = None
    attachments: list[Attached] = []
    headers: dict[str, str] = {}
    provider: str = ""

    @property
    def recipients(self) -> list[str]:
        return list(dict.fromkeys(each.mailbox for each in [*self.to, *self.cc, *self.bcc]))


def digest(namespace: str, key: str) -> str:
    return hashlib.blake2b(f"{namespace}\0{key}".encode(), digest_size=20).hexdigest()


def message_id(namespace: str, key: str, domain: str) -> str:
    """One per activation, and no other activation's."""
    return f"<{digest(namespace, key)}@{domain}>"


def content_of(attached: Attached, input: Json, blob: bytes | None) -> bytes:
    """Raises ValueError."""
    if blob is not None:
        return blob
    if attached.base64 is not None:
        try:
            return base64.b64decode("".join(attached.base64.split()), validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"the content of the attachment {attached.filename!r} is no base64") from None
    return as_text(input).encode() if attached.from_input else (attached.text or "").encode()


def as_text(value: Json) -> str:
    """What a node gave, as the content of a file: text as it is, of an object its `csv` or `data`."""
    if isinstance(value, dict):
        if isinstance(value.get("csv"), str):
            return str(value["csv"])
        value = value.get("data", value)
    return value if isinstance(value, str) else encode_json(value).decode()


class Part(NamedTuple):
    head: str
    body: bytes

    def written(self) -> bytes:
        return self.head.encode() + b"\r\n" + self.body


def compose(mail: Rendered, sender: Address, id: str, contents: list[bytes]) -> bytes:
    """The whole message. Only mailboxes may be in other scripts, for servers that take that."""
    from email.utils import format_datetime

    date = format_datetime(datetime.fromtimestamp(mail.date // 1_000_000, UTC))
    head = [field("Message-ID", id), field("Date", date), address_field("From", [sender])]
    for name, addresses in (("To", mail.to), ("Cc", mail.cc), ("Reply-To", mail.reply_to)):
        if addresses:
            head.append(address_field(name, addresses))
    head.append(field("Subject", mail.subject))
    head += [field(name, value) for name, value in mail.headers.items()]
    if not any(name.lower() == "auto-submitted" for name in mail.headers):
        head.append(field("Auto-Submitted", "auto-generated"))  # absence notices are not sent in answer to it
    head.append("MIME-Version: 1.0\r\n")
    part = _texts(mail, contents, id)
    if contents:
        attached = [_attached(*pair) for pair in zip(mail.attachments, contents, strict=True)]
        part = _several("mixed", [part, *attached], _boundary(id, "mixed", mail, contents))
    return "".join(head).encode() + part.written()


def _texts(mail: Rendered, contents: list[bytes], id: str) -> Part:
    if mail.html is None:
        return _text(mail.text or "", "plain")
    plain = _text(mail.text if mail.text is not None else text_of(mail.html), "plain")
    parts = [plain, _text(mail.html, "html")]
    return _several("alternative", parts, _boundary(id, "alternative", mail, contents))


def _text(text: str, kind: str) -> Part:
    """Never 8bit, which not every server takes; and no line that is longer than a server must take."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.endswith("\n"):
        text += "\n"
    if text.isascii() and "\0" not in text and all(len(line) <= 900 for line in text.split("\n")):
        encoding, body = "7bit", text.encode()
    elif sum(character < "\x80" for character in text) * 2 >= len(text):
        encoding, body = "quoted-printable", quopri.encodestring(text.encode())
    else:
        encoding, body = "base64", base64.encodebytes(text.replace("\n", "\r\n").encode())
    head = f'Content-Type: text/{kind}; charset="utf-8"\r\nContent-Transfer-Encoding: {encoding}\r\n'
    return Part(head, body.replace(b"\n", b"\r\n"))


def _attached(attached: Attached, content: bytes) -> Part:
    guessed, packed = mimetypes.guess_type(attached.filename)
    plain = attached.text is not None or attached.from_input
    kind = attached.type or (guessed if guessed and not packed else None)
    kind = kind or ("text/plain" if plain else "application/octet-stream")
    charset = '; charset="utf-8"' if kind.lower().startswith("text/") and plain else ""
    parameters = "".join(f";\r\n {each}" for each in file_parameters(attached.filename))
    head = f"Content-Type: {kind}{charset}\r\nContent-Transfer-Encoding: base64\r\n"
    head += f"Content-Disposition: attachment{parameters}\r\n"
    return Part(head, base64.encodebytes(content).replace(b"\n", b"\r\n"))


def _several(kind: str, parts: list[Part], boundary: str) -> Part:
    line = f"--{boundary}".encode()
    body = b"".join(line + b"\r\n" + part.written() + b"\r\n" for part in parts) + line + b"--\r\n"
    return Part(f'Content-Type: multipart/{kind};\r\n boundary="{boundary}"\r\n', body)


def _boundary(id: str, kind: str, mail: Rendered, contents: list[bytes]) -> str:
    """Always the same for the same mail; and no text can hold it, since it follows from all texts."""
    found = hashlib.blake2b(digest_size=20)
    for part in (id, kind, mail.text or "", "", mail.html or ""):
        found.update(part.encode() + b"\0")
    for content in contents:
        found.update(content)
    return BOUNDARY + found.hexdigest()
