"""Which addresses are public, and what is said of the others."""

import pytest

from perdure.errors import SettingsInvalid
from perdure.nodes.outgoing.addresses import read_address, what_is_wrong
from perdure.nodes.outgoing.failures import CallFailed
from perdure.nodes.outgoing.policy import OutgoingSettings, Policy, parse_allow, parse_hosts

PUBLIC = [
    "8.8.8.8",
    "93.184.216.34",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "198.20.0.1",
    "192.0.1.1",
    "2001:200::1",
]

REFUSED = [
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("10.0.0.1", "private"),
    ("100.64.0.1", "CGNAT"),
    ("100.127.255.255", "CGNAT"),
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("169.254.169.254", "link-local"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.0.0.8", "reserved"),
    ("192.0.2.1", "documentation"),
    ("192.88.99.1", "6to4"),
    ("192.168.1.1", "private"),
    ("198.18.0.1", "benchmarks"),
    ("198.19.255.255", "benchmarks"),
    ("198.51.100.1", "documentation"),
    ("203.0.113.1", "documentation"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.250", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("::127.0.0.1", "IPv4-compatible"),
    ("::8.8.8.8", "IPv4-compatible"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::ffff:7f00:1", "loopback"),
    ("::ffff:a9fe:a9fe", "link-local"),
    ("64:ff9b::a9fe:a9fe", "NAT64"),
    ("64:ff9b::8.8.8.8", "NAT64"),
    ("64:ff9b:1::a9fe:a9fe", "local NAT64"),
    ("2001::1", "Teredo"),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
    ("2001:2::1", "reserved"),
    ("2001:db8::1", "documentation"),
    ("2002:7f00:1::", "6to4"),
    ("2002:808:808::", "6to4"),
    ("3fff::1", "documentation"),
    ("fc00::1", "private"),
    ("fd00:ec2::254", "private"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("fec0::1", "site-local"),
    ("ff02::1", "multicast"),
    ("2a00::200:5efe:7f00:1", "ISATAP"),
    ("2a00::5efe:10.0.0.1", "ISATAP"),
    ("100::1", "reserved"),
    ("4000::1", "reserved"),
    ("::2:0:0:1", "reserved"),
]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert what_is_wrong(address) is None


@pytest.mark.parametrize(("text", "kind"), REFUSED)
def test_addresses_that_are_not(text: str, kind: str) -> None:
    address = read_address(text)
    assert address is not None
    assert kind in (what_is_wrong(address) or "")


def code(policy: Policy, host: str, port: int, address: str) -> str | None:
    found = read_address(address)
    assert found is not None
    try:
        policy.check(host, port, found)
    except CallFailed as failed:
        return failed.code
    return None


def policy(allow: str, namespace: str = "default") -> Policy:
    return Policy(OutgoingSettings(allow=parse_allow(allow)), namespace)


def test_a_network_is_allowed_for_what_lies_in_it() -> None:
    inside = policy("10.1.0.0/16, 192.168.0.7:8080, [fd00::1]:443")
    assert code(inside, "a", 80, "10.1.2.3") is None
    assert code(inside, "a", 80, "::ffff:10.1.2.3") is None
    assert code(inside, "a", 80, "10.2.2.3") == "EGRESS_REFUSED"
    assert code(inside, "a", 8080, "192.168.0.7") is None
    assert code(inside, "a", 8081, "192.168.0.7") == "EGRESS_REFUSED"
    assert code(inside, "a", 443, "fd00::1") is None
    assert code(inside, "a", 80, "fd00::1") == "EGRESS_REFUSED"


def test_a_host_is_allowed_by_its_name_alone() -> None:
    named = policy("internal.example:8443, db.example")
    assert code(named, "internal.example", 8443, "10.0.0.1") is None
    assert code(named, "internal.example", 443, "10.0.0.1") == "EGRESS_REFUSED"
    assert code(named, "other.example", 8443, "10.0.0.1") == "EGRESS_REFUSED"
    assert code(named, "db.example", 5432, "10.0.0.1") is None


def test_what_one_namespace_may_another_may_not() -> None:
    text = "billing=10.2.0.7, 10.3.0.0/16"
    assert code(policy(text, "billing"), "a", 80, "10.2.0.7") is None
    assert code(policy(text, "other"), "a", 80, "10.2.0.7") == "EGRESS_REFUSED"
    assert code(policy(text, "other"), "a", 80, "10.3.0.7") is None


def test_a_network_of_nat64_opens_no_private_address_behind_it() -> None:
    """Networks with IPv6 alone reach the rest of the world through such a prefix."""
    nat64 = policy("64:ff9b::/96")
    assert code(nat64, "a", 443, "64:ff9b::8.8.8.8") is None
    assert code(nat64, "a", 443, "64:ff9b::a9fe:a9fe") == "EGRESS_REFUSED"


def test_ports_of_other_protocols_are_refused_unless_allowed() -> None:
    assert code(policy(""), "a", 25, "8.8.8.8") == "EGRESS_REFUSED"
    assert code(policy(""), "a", 8443, "8.8.8.8") is None
    assert code(policy("8.8.8.8:25"), "a", 25, "8.8.8.8") is None


@pytest.mark.parametrize(
    "text", ["10.0.0.1/8", "a b", "host:99999", "host:x", "::ffff:10.0.0.1/128", "127.1", "10.0.0.0/33"]
)
def test_entries_that_say_nothing_are_refused_at_start(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="http_allow"):
        parse_allow(text)


@pytest.mark.parametrize("text", ["a", "a=b", "a=ftp://b", "a=http://b/path", "a=http://u@b"])
def test_hosts_must_be_sent_to_an_origin(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="http_hosts"):
        parse_hosts(text)
