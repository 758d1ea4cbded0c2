"""The settings about calls, from the texts in which an operator writes them."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.errors import SettingsInvalid
from perdure.nodes.outgoing.policy import AuthClient, OutgoingSettings, parse_allow, parse_hosts
from perdure.settings import Settings


def outgoing_settings(settings: Settings) -> OutgoingSettings:
    """Raises SettingsInvalid."""
    return OutgoingSettings(
        allow=parse_allow(settings.http_allow),
        hosts=parse_hosts(settings.http_hosts),
        connections_per_host=settings.http_connections_per_host,
        response_bytes=settings.http_response_bytes,
        clients=_clients(settings.http_clients),
    )


def _clients(text: str) -> dict[str, AuthClient]:
    if not text.strip():
        return {}
    expected = '{"name": {"token_url": "https://…", "client_id": "…", "secret": "NAME"}}'
    try:
        given: Any = msgspec.json.decode(text)
        return msgspec.convert(given, dict[str, AuthClient])
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise SettingsInvalid(f"http_clients: {problem}", expected=expected) from None
