"""What may be called: the public internet, and beyond it what the operator allows. Authors of documents have no say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from perdure.errors import SettingsInvalid
from perdure.nodes.outgoing.addresses import Address, Network, embedded, plain, read_address, what_is_wrong
from perdure.nodes.outgoing.failures import refused_address, refused_host
from perdure.nodes.outgoing.urls import Place

_USUAL_PORTS = frozenset({80, 443})
_FIRST_FREE_PORT = 1024
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.?", re.IGNORECASE)


class Allowed(NamedTuple):
    """One entry of the setting `http_allow`."""

    namespace: str | None
    """None: every namespace."""
    network: Network | None
    host: str | None
    port: int | None


class AuthClient(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A client that fetches tokens by OAuth 2 client credentials."""

    token_url: str
    client_id: str
    secret: str
    """The name of the secret."""
    scope: str | None = None
    audience: str | None = None


class OutgoingSettings(msgspec.Struct, frozen=True, kw_only=True):
    allow: tuple[Allowed, ...] = ()
    hosts: Mapping[str, Place] = {}
    """Where the calls to a host go instead."""
    connections_per_host: int = 20
    response_bytes: int = 10 * 1024 * 1024
    """The most that a call may ask for, decoded."""
    clients: Mapping[str, AuthClient] = {}
    """Named clients that fetch tokens; see `tokens`."""


class Policy:
    """What calls of one namespace may reach."""

    def __init__(self, settings: OutgoingSettings, namespace: str) -> None:
        own = [each for each in settings.allow if each.namespace in (None, namespace)]
        self._networks = [(each.network, each.port) for each in own if each.network is not None]
        self._hosts = {(each.host, each.port) for each in own if each.host is not None}
        self.mapped = settings.hosts

    def mapped_to(self, host: str, port: int) -> Place | None:
        return self.mapped.get(f"{host}:{port}") or self.mapped.get(host)

    def allows_host(self, host: str, port: int) -> bool:
        return (host, port) in self._hosts or (host, None) in self._hosts

    def check_host(self, host: str, port: int) -> None:
        """What can be said before a name is looked up. Raises CallFailed."""
        if self.allows_host(host, port):
            return
        address = read_address(host)
        if address is not None:
            self.check(host, port, address)
        elif _is_numeric(host):
            raise refused_host(host, "an address is written as four decimal numbers")
        elif host == "localhost" or host.endswith(".localhost"):
            # Asked for in so many words; some systems would look it up elsewhere.
            self.check(host, port, LOOPBACK)
        elif port < _FIRST_FREE_PORT and port not in _USUAL_PORTS:
            raise refused_host(host, f"port {port} is not for HTTP")

    def check(self, host: str, port: int, address: Address) -> None:
        """Raises CallFailed for an address that is not public and that nobody has allowed."""
        address = plain(address)
        kind = what_is_wrong(address)
        usual = port in _USUAL_PORTS or port >= _FIRST_FREE_PORT
        if kind is None and usual:
            return
        if self.allows_host(host, port):
            return
        if self._allows_address(address, port):
            inner = embedded(address)
            if inner is None or what_is_wrong(inner) is None or self._allows_address(inner, port):
                return
        if kind is None:
            raise refused_host(host, f"port {port} is not for HTTP")
        raise refused_address(host, port, kind)

    def _allows_address(self, address: Address, port: int) -> bool:
        return any(
            address.version == network.version and address in network and open_port in (None, port)
            for network, open_port in self._networks
        )


LOOPBACK = plain(ip_network("127.0.0.1/32").network_address)


def _is_numeric(host: str) -> bool:
    """Systems read 2130706433, 0x7f.1 and 127.1 as 127.0.0.1. What ends in a number is an address or nothing."""
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdigit() or re.fullmatch(r"0[xX][0-9a-fA-F]*", last) is not None


def parse_allow(text: str) -> tuple[Allowed, ...]:
    """`10.1.0.0/16, 127.0.0.1:8080, internal.example:8443, billing=10.2.0.7`. Raises SettingsInvalid."""
    return tuple(_allowed(entry) for entry in _entries(text))


def _allowed(entry: str) -> Allowed:
    namespace, found, rest = entry.rpartition("=")
    host, port = _split_port(rest, entry)
    wanted = namespace.strip() if found else None
    if "/" in host or read_address(host) is not None:
        try:
            return Allowed(wanted, _network(host), None, port)
        except ValueError as problem:
            raise SettingsInvalid(f"http_allow has {entry!r}: {problem}", expected=_EXPECTED) from None
    if not _NAME.fullmatch(host) or _is_numeric(host):
        raise SettingsInvalid(f"http_allow has {entry!r}, which is neither host nor network", expected=_EXPECTED)
    return Allowed(wanted, None, host.lower(), port)


_EXPECTED = "hosts, host:port, networks (10.1.0.0/16), each with or without `namespace=` before it"


def _network(text: str) -> Network:
    network = ip_network(text)
    mapped = read_address(str(network.network_address))
    if mapped is not None and mapped.version != network.version:
        raise ValueError("write the IPv4 form of it")
    return network


def _split_port(text: str, entry: str) -> tuple[str, int | None]:
    text = text.strip()
    host, _, port = text.rpartition(":")
    if text.startswith("["):
        inside, _, after = text[1:].partition("]")
        host, port = inside, after.removeprefix(":")
        if not port:
            return inside, None
    elif not host or ":" in host:
        return text, None  # no port, or a bare IPv6 address
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise SettingsInvalid(f"http_allow has {entry!r}: {port!r} is no port", expected=_EXPECTED)
    return host, int(port)


def parse_hosts(text: str) -> dict[str, Place]:
    """`api.example=http://127.0.0.1:8081, other.example:8443=https://10.0.0.7`. Raises SettingsInvalid."""
    return map_hosts(entry.partition("=")[::2] for entry in _entries(text))


def map_hosts(pairs: Iterable[tuple[str, str]]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for name, target in pairs:
        try:
            parts = urlsplit(target.strip())
            port = parts.port or {"http": 80, "https": 443}[parts.scheme]
            if not parts.hostname or parts.path not in ("", "/") or parts.query or parts.username:
                raise ValueError
        except (KeyError, ValueError):
            raise SettingsInvalid(
                f"http_hosts sends {name!r} to {target!r}", expected="name=http://host:port, …"
            ) from None
        found[name.strip().lower()] = Place(parts.scheme, parts.hostname, port)
    return found


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]
