"""Typed settings, read once at the edge: flags, then `PERDURE_…` variables, then a TOML file, then the defaults."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from perdure.errors import SettingsInvalid

PREFIX = "PERDURE_"
DEFAULT_FILE = "perdure.toml"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Level = Literal["CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "TRACE"]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    database_url: Annotated[str, Meta(min_length=1)] = "sqlite:///perdure.db"
    """The database: a URL as below."""
    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    """The address that `perdure dev` listens on. A loopback address, as this release has no login."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8000
    """The port that `perdure dev` listens on; 0 is any free one."""
    namespace: Annotated[str, Meta(min_length=1, max_length=256)] = "default"
    """To which namespace everything that this process starts, lists and changes belongs."""
    lease_seconds: Seconds = 30.0
    """A worker that has not been heard of for so long is taken for dead."""
    poll_seconds: Seconds = 1.0
    """How late work is found at most when the hint about it was lost."""
    max_runs: Count = 10_000
    """Runs that one process holds at once. Starts beyond it are refused with BUSY."""
    handler_slots: Count = 1_000
    """`async` steps that one process executes at once."""
    handler_threads: Count = 16
    """Plain functions that one process executes at once, each in a thread."""
    request_seconds: Seconds = 10.0
    """How long a client of `perdure dev` may take for the head of a request, and for its body."""
    stall_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 0.5
    """An `async` step that blocks the event loop for longer is named in the log, once; 0 turns this off."""
    plugins_off: str = ""
    """Node types of plug-ins that are not used here though they are installed: names of types, of entry points or of
    distributions, with commas between them; `*` for all."""
    http_allow: str = ""
    """What nodes may call beyond the public internet: hosts, host:port and networks, with commas between them; one with
    `namespace=` before it is for that namespace alone. `internal.example:8443, 10.1.0.0/16, billing=10.2.0.7`"""
    http_hosts: str = ""
    """Hosts whose calls go elsewhere, for tests and for names that only exist inside: `api.example=http://127.0.0.1:8081`.
    The call keeps its URL and its Host header."""
    http_connections_per_host: Count = 20
    """Connections that a namespace keeps to one host; calls beyond it wait for one."""
    http_response_bytes: Annotated[int, Meta(ge=1_024, le=1_073_741_824)] = 10_485_760
    """The largest response, decoded, that a node may ask for."""
    http_clients: str = ""
    """Clients that fetch tokens for calls, by name, as JSON:
    `{"billing": {"token_url": "https://…", "client_id": "perdure", "secret": "BILLING_SECRET"}}`"""
    script_workers: Annotated[int, Meta(ge=0, le=1_024)] = 0
    """Processes that run scripts; 0 is one for each processor. They start with the first script."""
    script_seconds: Seconds = 1.0
    """How long a script may run that says nothing about it."""
    script_longest_seconds: Seconds = 30.0
    """How long a script may ask for."""
    script_memory: Annotated[int, Meta(ge=1, le=65_536)] = 64
    """Mebibytes that the values of a script may take that says nothing about it."""
    script_most_memory: Annotated[int, Meta(ge=1, le=65_536)] = 512
    """Mebibytes that a script may ask for."""
    script_output_bytes: Annotated[int, Meta(ge=1, le=1_073_741_824)] = 4_194_304
    """The longest value, as JSON, that a script may give."""
    smtp_url: str = ""
    """The server that mails are sent through: `smtp://user@mail.example:587?tls=starttls&secret=SMTP_PASSWORD`. `tls`
    is `starttls`, `implicit` (port 465) or `none`; `secret` names the secret with the password, else `smtp-password`;
    `cafile` is a file of certificates to trust. Certificates are checked unless `verify=no`."""
    smtp_url_resend: str = ""
    """The same for mails whose provider is `resend`. Without it, `smtp_url`."""
    smtp_url_mailgun: str = ""
    """The same for mails whose provider is `mailgun`."""
    smtp_url_ses: str = ""
    """The same for mails whose provider is `ses`."""
    mail_from: str = "Perdure <perdure@localhost>"
    """Who sends mails whose node does not say. Most servers want an address of a domain of yours."""
    mail_domain: str = ""
    """The domain of Message-IDs, the same for all processes. Without it, that of the sender."""
    mail_seconds: Seconds = 60.0
    """How long a mail server may take for one answer."""
    mail_connections: Annotated[int, Meta(ge=1, le=100)] = 2
    """Connections that a namespace keeps to one mail server; mails beyond it wait for one."""
    mail_bytes: Annotated[int, Meta(ge=1_024, le=1_073_741_824)] = 26_214_400
    """The largest mail, attachments included as they are sent."""
    log_level: Level = "INFO"
    """From which level on `perdure dev` reports on standard error; small letters will do."""


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: str | Path | None = None,
) -> Settings:
    """Raises SettingsInvalid naming the setting, where it came from, and what would be right."""
    environ = os.environ if environ is None else environ
    found: dict[str, tuple[Any, str]] = {}
    named = file or environ.get(PREFIX + "CONFIG")
    path = Path(named or DEFAULT_FILE)
    if named and not path.exists():
        raise SettingsInvalid(f"the settings file {path} does not exist")
    if path.exists():
        for name, value in _read_file(path).items():
            found[name] = (_substitute(value, environ, f"{name} in {path}"), str(path))
    for name in Settings.__struct_fields__:
        if (text := environ.get(PREFIX + name.upper())) is not None:
            found[name] = (text, PREFIX + name.upper())
    for name, value in (flags or {}).items():
        if value is not None:
            found[name] = (value, f"--{name.replace('_', '-')}")
    for name, (_, origin) in found.items():
        if name not in Settings.__struct_fields__:
            known = ", ".join(Settings.__struct_fields__)
            raise SettingsInvalid(f"{origin} has an unknown setting {name!r}", expected=f"one of {known}")
    given = {name: value for name, (value, _) in found.items()}
    if isinstance(given.get("log_level"), str):
        given["log_level"] = given["log_level"].upper()
    try:
        return msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as problem:
        told, _, place = str(problem).partition(" - at `$.")
        name = place.rstrip("`")
        origin = found[name][1] if name in found else "settings"
        levels = f"one of {', '.join(get_args(Level))}" if name == "log_level" else None
        raise SettingsInvalid(f"{origin}: {told}", expected=levels, setting=name) from None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsInvalid(f"the settings file {path} cannot be read: {problem}") from None


def _substitute(value: Any, environ: Mapping[str, str], where: str) -> Any:
    """`${NAME}` and `${NAME:-default}` in texts; a missing variable is named at start, not found out at night."""
    if not isinstance(value, str):
        return value

    def fill(match: re.Match[str]) -> str:
        name, default = match.groups()
        if name in environ:
            return environ[name]
        if default is None:
            raise SettingsInvalid(f"{where} needs the variable {name}, which is not set", variable=name)
        return default

    return _VARIABLE.sub(fill, value)
