"""What the handlers of node types share: made with the application, opened when first needed, closed with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from perdure.nodes.mail.servers import MailSettings
from perdure.nodes.outgoing.policy import OutgoingSettings
from perdure.nodes.outgoing.tokens import Tokens
from perdure.nodes.scripts import Scripts
from perdure.nodes.scripts.pool import ScriptSettings
from perdure.ports.secrets import Secrets

if TYPE_CHECKING:
    from perdure.nodes.mail.posting import PostOffice
    from perdure.nodes.outgoing.client import HttpClient


class Toolbox:
    def __init__(
        self,
        secrets: Secrets,
        outgoing: OutgoingSettings | None = None,
        scripts: ScriptSettings | None = None,
        mail: MailSettings | None = None,
    ) -> None:
        self.secrets = secrets
        self.outgoing = outgoing or OutgoingSettings()
        self._http: HttpClient | None = None
        self.tokens = Tokens(lambda: self.http)
        self._mail_settings = mail or MailSettings()
        self._mail: PostOffice | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._script_settings = scripts or ScriptSettings()
        self._scripts: Scripts | None = None

    @property
    def http(self) -> HttpClient:
        """For every call to another machine."""
        if self._http is None:
            from perdure.nodes.outgoing.client import HttpClient

            self._http = HttpClient(self.outgoing)
            self.on_close(self._forget_http)
        return self._http

    async def _forget_http(self) -> None:
        """An application that is opened again, on another loop perhaps, gets connections of its own."""
        client, self._http = self._http, None
        if client is not None:
            await client.close()

    @property
    def scripts(self) -> Scripts:
        """For code of users that is not trusted."""
        if self._scripts is None:
            self._scripts = Scripts(self._script_settings)
            self.on_close(self._end_scripts)
        return self._scripts

    async def _end_scripts(self) -> None:
        scripts, self._scripts = self._scripts, None
        if scripts is not None:
            await scripts.close()

    @property
    def mail(self) -> PostOffice:
        """For every mail."""
        if self._mail is None:
            from perdure.nodes.mail.posting import PostOffice

            self._mail = PostOffice(self._mail_settings, self.secrets)
            self.on_close(self._forget_mail)
        return self._mail

    async def _forget_mail(self) -> None:
        office, self._mail = self._mail, None
        if office is not None:
            await office.close()

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """To be called when the application ends, in the reverse order."""
        self._closers.append(closer)

    async def close(self) -> None:
        while self._closers:
            await self._closers.pop()()
