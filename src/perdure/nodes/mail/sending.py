"""Connections to SMTP servers: a few for each server and namespace, used again and again, closed with the application.

Nothing is repeated here except on a connection that the server had closed meanwhile, before it was told anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from perdure.nodes.mail.servers import SmtpServer

if TYPE_CHECKING:
    import aiosmtplib

IDLE_SECONDS = 30.0
"""Servers close connections that say nothing for long."""
LEAVING_SECONDS = 2.0

Answer = tuple[int, str]


class Receipt(msgspec.Struct, frozen=True):
    """What the server said of one mail that it was given, to each of its recipients."""

    accepted: list[str]
    refused: dict[str, Answer]
    said: str = ""


class MailFault(Exception):
    """The server did not take the mail. `code` is the server's, None if there was no answer at all."""

    def __init__(self, code: int | None, text: str, *, unknown: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.unknown = unknown
        """It was given the mail, and it is not known whether it has taken it."""


class Courier:
    """Brings mails to one server."""

    def __init__(self, server: SmtpServer, password: Callable[[], Awaitable[str]], most: int, seconds: float) -> None:
        self._server = server
        self._password = password
        self._seconds = seconds
        self._free = asyncio.Semaphore(most)
        self._idle: list[tuple[aiosmtplib.SMTP, float]] = []
        self._is_open = True

    async def send(self, sender: str, recipients: list[str], message: bytes, *, utf8: bool) -> Receipt:
        """Raises MailFault."""
        async with self._free:
            client = await self._begin(sender, len(message), utf8)
            is_clean = False
            try:
                receipt = await self._transact(client, recipients, message, utf8)
                is_clean = True
                return receipt
            except MailFault as fault:
                is_clean = fault.code is not None and fault.code != 421
                raise
            finally:
                if is_clean and self._is_open:
                    self._idle.append((client, asyncio.get_running_loop().time()))
                else:
                    _drop(client)

    async def close(self) -> None:
        self._is_open = False
        while self._idle:
            client, _ = self._idle.pop()
            transport: Any = client.transport
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.quit(), LEAVING_SECONDS)
            if transport is not None:
                transport.abort()

    # -- one mail ------------------------------------------------------------------------------------

    async def _begin(self, sender: str, size: int, utf8: bool) -> aiosmtplib.SMTP:
        """A connection that has been told the sender. One that was idle may have been closed at the other end."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            client, since = self._idle.pop()
            if now - since > IDLE_SECONDS:
                _drop(client)
                continue
            try:
                await self._tell_sender(client, sender, size, utf8)
            except MailFault as fault:
                _drop(client)
                if fault.code not in (None, 421):
                    raise
            except BaseException:
                _drop(client)
                raise
            else:
                return client
        client = await self._connect()
        try:
            await self._tell_sender(client, sender, size, utf8)
        except BaseException:
            _drop(client)
            raise
        return client

    async def _tell_sender(self, client: aiosmtplib.SMTP, sender: str, size: int, utf8: bool) -> None:
        options = []
        if client.supports_extension("size"):
            options.append(f"size={size}")
        if utf8:
            if not client.supports_extension("smtputf8"):
                raise MailFault(553, "the server takes no addresses in other scripts than Latin (SMTPUTF8)")
            options.append("SMTPUTF8")
        try:
            await client.mail(sender, options=options, encoding="utf-8" if utf8 else "ascii")
        except Exception as problem:
            _tell(problem)

    async def _transact(self, client: aiosmtplib.SMTP, recipients: list[str], message: bytes, utf8: bool) -> Receipt:
        from aiosmtplib import SMTPResponseException

        accepted: list[str] = []
        refused: dict[str, Answer] = {}
        try:
            for each in recipients:
                try:
                    await client.rcpt(each, encoding="utf-8" if utf8 else "ascii")
                    accepted.append(each)
                except SMTPResponseException as answer:
                    if answer.code == 421:
                        raise
                    refused[each] = (answer.code, answer.message)
            if not accepted:
                await client.rset()
                return Receipt([], refused)
        except Exception as problem:
            _tell(problem)
        try:
            said = await client.data(message)
        except SMTPResponseException as answer:
            with contextlib.suppress(Exception):
                await client.rset()
            _tell(answer)
        except Exception as problem:
            _tell(problem, unknown=True)
        return Receipt(accepted, refused, said.message)

    async def _connect(self) -> aiosmtplib.SMTP:
        import aiosmtplib

        server = self._server
        password = await self._password() if server.user is not None else None
        client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            timeout=self._seconds,
            use_tls=server.tls == "implicit",
            start_tls=False,
            tls_context=_context(server),
            local_hostname="localhost",
        )
        try:
            await client.connect()
            if server.tls == "starttls":
                await client.starttls()
            await client.ehlo()
            if server.user is not None and password is not None:
                await client.login(server.user, password)
        except BaseException as problem:
            _drop(client)
            if isinstance(problem, Exception):
                _tell(problem)
            raise
        return client


def _drop(client: aiosmtplib.SMTP) -> None:
    """At once: TLS would wait for the other side to say goodbye."""
    transport: Any = client.transport
    client.close()
    if transport is not None:
        transport.abort()


def _context(server: SmtpServer) -> ssl.SSLContext | None:
    if server.tls == "none":
        return None
    try:
        context = ssl.create_default_context(cafile=server.cafile)
    except OSError as problem:
        raise MailFault(None, f"the file of certificates {server.cafile} cannot be read: {problem}") from None
    if not server.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _tell(problem: Exception, unknown: bool = False) -> NoReturn:
    """As a fault, in the server's own words where it has said any."""
    from aiosmtplib import SMTPException, SMTPResponseException

    if isinstance(problem, MailFault):
        raise problem
    if isinstance(problem, SMTPResponseException) and problem.code > 0:
        raise MailFault(problem.code, problem.message) from None
    if isinstance(problem, SMTPException | OSError | TimeoutError | ssl.SSLError):
        why = str(problem.__cause__ or problem) or type(problem).__name__
        raise MailFault(None, why, unknown=unknown) from None
    raise problem
