"""The settings about mail, from the texts in which an operator writes them.

    smtp://user@mail.example:587?tls=starttls&secret=SMTP_PASSWORD

`tls` is `starttls` (default), `implicit` (default of smtps:// and of port 465) or `none`; `secret` names the secret
with the password; `cafile` is a file with the certificates to trust instead of the system's; `verify=no` trusts any.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from perdure.errors import SettingsInvalid
from perdure.nodes.mail.addresses import Address, parse_address
from perdure.settings import Settings

Tls = Literal["starttls", "implicit", "none"]
DEFAULT = "smtp"
PROVIDERS = ("resend", "mailgun", "ses")
SECRET = "smtp-password"
EXPECTED = "smtp://user@host:587?tls=starttls&secret=NAME"


class SmtpServer(msgspec.Struct, frozen=True):
    host: str
    port: int
    tls: Tls = "starttls"
    user: str | None = None
    secret: str = SECRET
    verify: bool = True
    cafile: str | None = None


class MailSettings(msgspec.Struct, frozen=True, kw_only=True):
    servers: Mapping[str, SmtpServer] = {}
    """By provider; DEFAULT is the one for all others."""
    sender: Address | None = None
    domain: str | None = None
    """Of Message-IDs. Without it, that of the sender."""
    seconds: float = 60.0
    connections: int = 2
    size: int = 25 * 1024 * 1024


def mail_settings(settings: Settings) -> MailSettings:
    """Raises SettingsInvalid."""
    urls = {DEFAULT: ("smtp_url", settings.smtp_url)}
    for provider in PROVIDERS:
        name = f"smtp_url_{provider}"
        urls[provider] = (name, getattr(settings, name))
    sender = domain = None
    try:
        sender = parse_address(settings.mail_from) if settings.mail_from else None
        domain = parse_address(f"x@{settings.mail_domain}").mailbox[2:] if settings.mail_domain else None
    except ValueError as problem:
        raise SettingsInvalid(f"mail_from or mail_domain: {problem}") from None
    return MailSettings(
        servers={provider: parse_smtp_url(url, name) for provider, (name, url) in urls.items() if url},
        sender=sender,
        domain=domain,
        seconds=settings.mail_seconds,
        connections=settings.mail_connections,
        size=settings.mail_bytes,
    )


def parse_smtp_url(url: str, setting: str = "smtp_url") -> SmtpServer:
    """Raises SettingsInvalid. What it says does not hold the URL, in which somebody may have put a password."""

    def wrong(why: str) -> SettingsInvalid:
        return SettingsInvalid(f"{setting}: {why}", expected=EXPECTED, setting=setting)

    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise wrong("it cannot be read") from None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path.strip("/"):
        raise wrong("it should be smtp:// or smtps://, a host and a port")
    if parts.password is not None:
        raise wrong("a password does not belong here: name the secret that holds it, secret=NAME")
    for name in options:
        if name not in ("tls", "secret", "verify", "cafile"):
            raise wrong(f"there is no option {name!r}")
    implicit = parts.scheme == "smtps" or port == 465
    tls = options.get("tls", "implicit" if implicit else "starttls")
    if tls not in ("starttls", "implicit", "none"):
        raise wrong(f"tls is starttls, implicit or none, not {tls!r}")
    if options.get("verify", "yes") not in ("yes", "no"):
        raise wrong("verify is yes or no")
    user = unquote(parts.username) if parts.username else None
    if user is not None and tls == "none" and not is_local(parts.hostname):
        raise wrong("with tls=none the password would be readable on its way")
    return SmtpServer(
        parts.hostname,
        port or {"implicit": 465, "starttls": 587, "none": 25}[tls],
        tls,  # type: ignore[arg-type]
        user,
        options.get("secret", SECRET),
        options.get("verify", "yes") == "yes",
        options.get("cafile"),
    )


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
