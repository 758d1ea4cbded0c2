"""A mail as it was recorded, and as the bytes that a server gets.

The bytes follow from the record, the activation's key and the settings, and from nothing else: every attempt, by
whatever worker, sends the same mail with the same Message-ID. So who gets it twice can know.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import mimetypes
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.model.values import Json, encode_json
from perdure.nodes.mail.addresses import Address
from perdure.nodes.mail.plain import text_of

if TYPE_CHECKING:
    from email.message import EmailMessage

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


def compose(mail: Rendered, sender: Address, id: str, contents: list[bytes], *, utf8: bool) -> bytes:
    """The whole message. `utf8`: the server takes addresses in other scripts, and this mail has some."""
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import format_datetime

    policy = SMTP.clone(utf8=utf8, cte_type="7bit", max_line_length=76)
    message = EmailMessage(policy)
    message["Message-ID"] = id
    message["Date"] = format_datetime(datetime.fromtimestamp(mail.date // 1_000_000, UTC))
    message["From"] = _header([sender])
    for name, addresses in (("To", mail.to), ("Cc", mail.cc), ("Reply-To", mail.reply_to)):
        if addresses:
            message[name] = _header(addresses)
    message["Subject"] = mail.subject
    for name, value in mail.headers.items():
        message[name] = value
    if "Auto-Submitted" not in message:
        message["Auto-Submitted"] = "auto-generated"  # absence notices are not sent in answer to it
    _fill(message, mail)
    for attached, content in zip(mail.attachments, contents, strict=True):
        _attach(message, attached, content)
    for number, part in enumerate(part for part in message.walk() if part.is_multipart()):
        part.set_boundary(f"{BOUNDARY}{number}_{id[1:33]}")
    return message.as_bytes(policy=policy)


def _header(addresses: list[Address]) -> Any:
    from email.headerregistry import Address as Written

    return [Written(each.name, *_halves(each.mailbox)) for each in addresses]


def _halves(mailbox: str) -> tuple[str, str]:
    local, _, domain = mailbox.rpartition("@")
    return local, domain


def _fill(message: EmailMessage, mail: Rendered) -> None:
    text = mail.text
    if mail.html is None:
        message.set_content(text or "", charset="utf-8", cte=_encoding(text or ""))
        return
    text = text if text is not None else text_of(mail.html)
    message.set_content(text, charset="utf-8", cte=_encoding(text))
    message.add_alternative(mail.html, subtype="html", charset="utf-8", cte=_encoding(mail.html))


def _encoding(text: str) -> str:
    """Never 8bit, which not every server takes; and no line that is longer than a server must take."""
    if text.isascii() and all(len(line) <= 900 for line in text.split("\n")) and "\r" not in text and "\0" not in text:
        return "7bit"
    letters = sum(character < "\x80" for character in text)
    return "quoted-printable" if letters * 2 >= len(text) else "base64"


def _attach(message: EmailMessage, attached: Attached, content: bytes) -> None:
    guessed, packed = mimetypes.guess_type(attached.filename)
    plain = attached.text is not None or attached.from_input
    kind = attached.type or (guessed if guessed and not packed else None)
    kind = kind or ("text/plain" if plain else "application/octet-stream")
    main, _, sub = kind.partition("/")
    params = {"charset": "utf-8"} if main == "text" and plain else {}
    message.add_attachment(content, main, sub, filename=attached.filename, params=params)
