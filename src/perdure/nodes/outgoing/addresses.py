"""Which addresses belong to the public internet.

A list of our own: Python's `is_global` has changed between versions, and calls NAT64 forms of private addresses global.
Whatever is not known to be public is refused. Sources: the IANA registries of special-purpose addresses.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_V4 = [
    (IPv4Network(network), words)
    for network, words in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a provider (CGNAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
]

_V6 = [
    (IPv6Network(network), words)
    for network, words in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "6to4"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
]

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_ISATAP = (0x00005EFE, 0x02005EFE)


def plain(address: Address) -> Address:
    """`::ffff:1.2.3.4` is 1.2.3.4: the system connects to the same machine."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address to which an IPv6 address leads in the end, where it is one of the kinds that hold another."""
    if not isinstance(address, IPv6Address):
        return None
    if any(address in network for network in _NAT64) or _is_isatap(address) or int(address) >> 32 == 0:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.sixtofour


@lru_cache(maxsize=4096)
def what_is_wrong(address: Address) -> str | None:
    """The class of an address that is not public; None if it is."""
    if isinstance(address, IPv4Address):
        return next((words for network, words in _V4 if address in network), None)
    for network, words in _V6:
        if address in network:
            return words
    if _is_isatap(address):
        return "ISATAP"
    return None if address in _GLOBAL_UNICAST else "reserved"


def read_address(text: str) -> Address | None:
    """An address as it stands in a URL or a socket's name, without brackets; a zone (`%eth0`) is part of it."""
    try:
        return plain(ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def _is_isatap(address: IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFFFFFFFF in _ISATAP
