"""The handler of `email` nodes: sends what was recorded, and says how it went.

What the server has taken for some recipients while it put off others is noted with a heartbeat, so that the next
attempt goes to the others alone.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import msgspec

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError
from perdure.model.values import Json
from perdure.nodes.mail.addresses import Address
from perdure.nodes.mail.message import Attached, Rendered, compose, content_of, message_id
from perdure.nodes.mail.sending import Answer, Courier, MailFault, Receipt
from perdure.nodes.mail.servers import DEFAULT, MailSettings
from perdure.ports.secrets import Secrets

LARGE = 256 * 1024
"""Mails beyond it are put together in a thread, as it would keep the others waiting."""


class PostOffice:
    """All couriers of an application."""

    def __init__(self, settings: MailSettings, secrets: Secrets) -> None:
        self.settings = settings
        self._secrets = secrets
        self._couriers: dict[tuple[str, str], Courier] = {}

    def provider(self, ctx: ActivationContext, wanted: str) -> str:
        """Which server it goes to. Raises ActivationError."""
        servers = self.settings.servers
        if wanted in servers:
            return wanted
        if DEFAULT not in servers:
            asked = f"the mail provider {wanted!r} is not configured, and neither is" if wanted else "there is"
            raise ActivationError(
                "MAIL_NOT_CONFIGURED",
                f"{asked} a server for the others" if wanted else "no mail server is configured",
                details={"remedy": "set smtp_url (PERDURE_SMTP_URL)"},
            )
        if wanted and wanted != DEFAULT:
            ctx.logger.warning("the mail provider %r is not configured; smtp_url is used instead", wanted)
        return DEFAULT

    def courier(self, namespace: str, provider: str) -> Courier:
        found = self._couriers.get((namespace, provider))
        if found is None:
            server, settings = self.settings.servers[provider], self.settings
            password = functools.partial(self._secrets.get, namespace, server.secret)
            found = Courier(server, password, settings.connections, settings.seconds)
            self._couriers[namespace, provider] = found
        return found

    async def close(self) -> None:
        while self._couriers:
            await self._couriers.popitem()[1].close()


class Progress(msgspec.Struct, frozen=True):
    """What earlier attempts have brought about."""

    accepted: list[str] = []
    refused: dict[str, Answer] = {}

    def with_receipt(self, receipt: Receipt) -> Progress:
        permanent = {mailbox: answer for mailbox, answer in receipt.refused.items() if not _passes(answer[0])}
        return Progress([*self.accepted, *receipt.accepted], {**self.refused, **permanent})


async def post(office: PostOffice, ctx: ActivationContext) -> Json:
    mail = msgspec.convert(ctx.config, Rendered)
    settings = office.settings
    provider = office.provider(ctx, mail.provider)
    sender = mail.sender or settings.sender
    if sender is None:
        raise ActivationError(
            "MAIL_NOT_CONFIGURED",
            "nobody is named as the sender of mails",
            details={"remedy": "give the node a `from`, or set mail_from (PERDURE_MAIL_FROM)"},
        )
    id = message_id(ctx.namespace, ctx.key, settings.domain or sender.mailbox.rpartition("@")[2])
    progress = _progress(ctx.last_heartbeat)
    done = {*progress.accepted, *progress.refused}
    recipients = [each for each in mail.recipients if each not in done]
    if not recipients:
        return _output(progress, id, provider)
    utf8 = not all(each.is_ascii for each in [sender, *mail.to, *mail.cc, *mail.bcc, *mail.reply_to])
    message = await _composed(ctx, mail, sender, id, settings.size)
    server = settings.servers[provider]
    if server.user is not None:
        # A server may repeat it, also where it takes the mail; what an attempt has read is cut out of its report.
        await ctx.secret(server.secret)
    try:
        receipt = await office.courier(ctx.namespace, provider).send(sender.mailbox, recipients, message, utf8=utf8)
    except MailFault as fault:
        raise _failure(fault, id, provider) from None
    progress = progress.with_receipt(receipt)
    deferred = {mailbox: answer for mailbox, answer in receipt.refused.items() if mailbox not in progress.refused}
    output = _output(progress, id, provider)
    if deferred:
        if progress.accepted or progress.refused:
            ctx.heartbeat({"accepted": progress.accepted, "refused": progress.refused})
        code, text = next(iter(deferred.values()))
        told = f"the server put off {_named(deferred)}: {code} {text}"
        details = {"code": code, "messageId": id, "deferred": _told(deferred), "accepted": progress.accepted}
        raise ActivationError("MAIL_DEFERRED", told, retryable=True, output=output, details=details)
    if not progress.accepted:
        code, text = next(iter(progress.refused.values()))
        told = f"the server refused {_named(progress.refused)}: {code} {text}"
        details = {"code": code, "messageId": id, "refused": _told(progress.refused)}
        raise ActivationError("MAIL_REJECTED", told, output=output, details=details)
    return output


async def _composed(ctx: ActivationContext, mail: Rendered, sender: Address, id: str, most: int) -> bytes:
    """Raises ActivationError."""
    given = ctx.input if any(each.from_input for each in mail.attachments) else None
    blobs = [await _blob(ctx, each, most) for each in mail.attachments]
    size = sum(len(each.text or each.base64 or "") for each in mail.attachments)
    size += sum(len(each or b"") for each in blobs)

    def make() -> bytes:
        pairs = zip(mail.attachments, blobs, strict=True)
        contents = [content_of(attached, given, blob) for attached, blob in pairs]
        if sum(map(len, contents)) > most:
            raise ValueError(f"its attachments have {sum(map(len, contents))} bytes")
        return compose(mail, sender, id, contents)

    is_large = size + len(mail.html or "") + len(mail.text or "") > LARGE or given is not None
    try:
        message = await asyncio.to_thread(make) if is_large else make()
    except ValueError as problem:
        raise ActivationError("MAIL_INVALID", f"the mail cannot be written: {problem}") from None
    if len(message) > most:
        told = f"the mail has {len(message)} bytes, of at most {most}"
        raise ActivationError("MAIL_INVALID", told, details={"remedy": "send a link, or raise mail_bytes"})
    return message


async def _blob(ctx: ActivationContext, attached: Attached, most: int) -> bytes | None:
    if attached.blob is None:
        return None
    parts, size = [], 0
    async for part in ctx.blobs.open(attached.blob):
        parts.append(part)
        size += len(part)
        if size > most:
            raise ActivationError("MAIL_INVALID", f"the attachment {attached.filename!r} has more than {most} bytes")
    return b"".join(parts)


def _output(progress: Progress, id: str, provider: str) -> dict[str, Any]:
    return {
        "data": bool(progress.accepted),
        "sent": bool(progress.accepted),
        "messageId": id,
        "accepted": progress.accepted,
        "refused": _told(progress.refused),
        "provider": provider,
    }


def _progress(heard: Json) -> Progress:
    try:
        return msgspec.convert(heard, Progress)
    except msgspec.ValidationError:
        return Progress()


def _failure(fault: MailFault, id: str, provider: str) -> ActivationError:
    details: dict[str, Any] = {"messageId": id, "provider": provider}
    if fault.code is not None:
        details["code"] = fault.code
        told = f"the server answered {fault.code} {fault.text}"
        if _passes(fault.code):
            return ActivationError("MAIL_DEFERRED", told, retryable=True, details=details)
        return ActivationError("MAIL_REJECTED", told, details=details)
    if fault.unknown:
        told = f"whether the server has taken the mail is not known: {fault.text}"
        return ActivationError("OUTCOME_UNKNOWN", told, retryable=True, details=details)
    return ActivationError("MAIL_UNREACHABLE", f"the mail server: {fault.text}", retryable=True, details=details)


def _passes(code: int) -> bool:
    """Whether it may be different another time."""
    return 400 <= code < 500


def _named(answers: dict[str, Answer]) -> str:
    first, *rest = answers
    return f"{first} and {len(rest)} more" if rest else first


def _told(answers: dict[str, Answer]) -> list[dict[str, Any]]:
    return [{"address": mailbox, "code": code, "message": text} for mailbox, (code, text) in answers.items()]
