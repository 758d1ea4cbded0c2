"""Which URLs and headers are taken."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from perdure.nodes.outgoing.urls import Place, check_headers, read_url, sendable


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("http://a.example", Place("http", "a.example", 80)),
        ("https://A.Example:8443/x?y=1#z", Place("https", "a.example", 8443)),
        ("http://[::1]:81/", Place("http", "::1", 81)),
        ("http://[FE80::1]/", Place("http", "fe80::1", 80)),
        ("https://bücher.example/", Place("https", "xn--bcher-kva.example", 443)),
        ("http://①②⑦.⓪.⓪.①/", Place("http", "127.0.0.1", 80)),
        ("http://127。0。0。1/", Place("http", "127.0.0.1", 80)),
        ("http://a.example:/", Place("http", "a.example", 80)),
        ("https://a.example/%2Fx/a%20b", Place("https", "a.example", 443)),
        ("https://a.example/x?up=../..", Place("https", "a.example", 443)),
    ],
)
def test_urls_that_can_be_called(text: str, place: Place) -> None:
    assert read_url(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.example",
        "//evil",
        "/path",
        "file:///etc/passwd",
        "gopher://a",
        "ftp://a",
        "data:text/plain,x",
        "javascript:1",
        "http://",
        "http:///x",
        "http://user:pw@h/",
        "http://user@h",
        "http://h\\@evil",
        "http://h\\evil",
        "http://a b/",
        "http://a\t/",
        "http://a\r\nHost: b/",
        "http://a/\n",
        "http://a:99999/",
        "http://a:x/",
        "http://a:0/",
        "http://a/../b",
        "http://a/x/%2e%2e/y",
        "http://a/.%2E/y",
        "http://a/./y",
        "http://[::1",
        "http://::1/",
        "http://[::1%25eth0]/",
        "http://a%2eb/",
        "http://a^b/",
        "http://a/" + "x" * 9000,
        "http://½.example%00/",
        "http://a⁄b.example/",
    ],
)
def test_urls_that_cannot(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_url(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X", "a\r\nY: b"),
        ("X", "a\nb"),
        ("X", "a\0"),
        ("X", "snow ☃"),
        ("X\r\nY", "a"),
        ("X Y", "a"),
        ("", "a"),
        ("X:", "a"),
        ("Host", "a"),
        ("host", "a"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "close"),
        ("Upgrade", "h2c"),
        ("Proxy-Authorization", "x"),
        ("Ünicode", "x"),
    ],
)
def test_headers_that_are_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="header"):
        check_headers([(name, value)])


def test_headers_have_limits() -> None:
    check_headers([("X", "é\tb")] * 100)
    with pytest.raises(ValueError, match="100 headers"):
        check_headers([("X", "a")] * 101)
    with pytest.raises(ValueError, match="bytes"):
        check_headers([("X", "a" * 40_000)])


SIGNS = [*"/\\@:?#[]%.;&=", "//", "..", "%2f", "%40", "http://", "①", "。", "\u2044", "\uff0f", "\u200b", "ü"]
HOSTS = ["a.example", "127.0.0.1", "evil", "localhost", "xn--", "8080", "0x7f", "::1"]
PIECES = st.sampled_from([*SIGNS, *HOSTS])
TAILS = st.lists(PIECES | st.text(max_size=3), max_size=8).map("".join)


@given(st.sampled_from(["http://", "https://", "HTTP://", ""]), TAILS)
@example("http://", "a.example\uff0f@evil/")
@example("http://", "a.example#@evil/")
@example("http://", "a.example?@evil/")
@example("http://", "[::1]a.example/")
def test_what_is_checked_is_what_is_called(scheme: str, tail: str) -> None:
    """Whatever is taken, the client's own reader finds the same host, port and scheme in what is sent."""
    text = scheme + tail
    try:
        place = read_url(text)
    except ValueError:
        return
    sent = URL(sendable(text, place.origin), encoded=True)
    assert (sent.scheme, sent.raw_host, sent.port) == (place.scheme, place.host, place.port)
    assert sent.user is None
    assert sendable(text, place.origin).isascii()
