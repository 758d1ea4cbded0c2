"""The client against real servers: what it reaches, what it refuses, what it gives up on."""

import asyncio
import gzip
import shutil
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.client import HttpClient, Lookup
from perdure.nodes.outgoing.failures import CallFailed
from perdure.nodes.outgoing.policy import OutgoingSettings, map_hosts, parse_allow
from tests.fixtures.webserver import WebServer

Get = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer() as server:
        yield server


@pytest.fixture
async def client(server: WebServer) -> AsyncIterator[HttpClient]:
    client = HttpClient(OutgoingSettings(allow=parse_allow(f"127.0.0.1:{server.port}")))
    yield client
    await client.close()


async def failure(client: HttpClient, url: str, method: str = "GET", **more: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await client.call("default", Call(method, url, **more))
    return caught.value


async def test_a_call_and_its_answer(server: WebServer, client: HttpClient) -> None:
    server.answer("/x", {"a": 1}, status=201, headers={"X-Y": "z"})
    answer = await client.call("default", Call("POST", server.url + "/x?a=b%20c", (("X-A", "é"),), b"body"))
    assert (answer.status, answer.body, answer.header("x-y")) == (201, b'{"a": 1}', "z")
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/x?a=b%20c", b"body")
    assert asked.header("User-Agent") == "Perdure"
    assert asked.header("Accept-Encoding") == "gzip, deflate"


async def test_b03_a_hundred_calls_to_one_host_share_few_connections(server: WebServer) -> None:
    client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1"), connections_per_host=5))
    server.answer("/x", "ok")
    await asyncio.gather(*[client.call("default", Call("GET", server.url + "/x")) for _ in range(100)])
    assert len(server.asked) == 100
    assert len(server.connections) <= 5
    await client.call("default", Call("GET", server.url + "/x"))
    assert len(server.connections) <= 5
    await client.close()


# -- the guard ---------------------------------------------------------------------------------------


SPELLINGS = [
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "[fe80::1]",
    "[fd00::1]",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "localhost",
    "LOCALHOST",
    "a.localhost",
    "localhost.",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "10.0.0.1",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_inner_address_is_called(host: str, server: WebServer) -> None:
    client = HttpClient()
    failed = await failure(client, f"http://{host}:{server.port}/x")
    assert failed.code in ("EGRESS_REFUSED", "HTTP_URL_INVALID"), failed.message
    assert not failed.retryable
    assert not server.asked
    await client.close()


async def test_a_refusal_names_the_host_and_the_class_of_address() -> None:
    failed = await failure(HttpClient(), "http://169.254.169.254/latest/meta-data")
    assert (failed.code, failed.message) == (
        "EGRESS_REFUSED", "169.254.169.254 is not called: its address is link-local",
    )  # fmt: skip
    assert failed.details is not None
    assert failed.details["host"] == "169.254.169.254"


def found_at(*addresses: str) -> list[Any]:
    return [
        {
            "hostname": "x",
            "host": each,
            "port": 0,
            "family": socket.AF_INET6 if ":" in each else socket.AF_INET,
            "proto": 0,
            "flags": socket.AI_NUMERICHOST,
        }
        for each in addresses
    ]


def answering(*rounds: list[str]) -> tuple[Lookup, list[str]]:
    """A name server that answers differently each time."""
    asked: list[str] = []

    async def lookup(host: str, port: int, family: socket.AddressFamily) -> list[Any]:
        asked.append(host)
        found = found_at(*rounds[min(len(asked), len(rounds)) - 1])
        return [{**each, "port": port} for each in found]

    return lookup, asked


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["::1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"]]
)
async def test_a_name_with_any_inner_address_is_not_called(addresses: list[str], server: WebServer) -> None:
    lookup, asked = answering(addresses)
    client = HttpClient(lookup=lookup)
    assert (await failure(client, f"http://rebind.example:{server.port}/x")).code == "EGRESS_REFUSED"
    assert asked == ["rebind.example"]
    assert not server.asked
    await client.close()


async def test_a_name_that_changes_its_address_gains_nothing(server: WebServer) -> None:
    """127.0.0.2 plays the public address; after the first call the name leads to 127.0.0.1, where another server is."""
    async with WebServer("127.0.0.2") as public:
        public.answer("/x", "public", headers={"Connection": "close"})
        server.answer("/x", "inner")
        lookup, asked = answering(["127.0.0.2"], ["127.0.0.1"])
        client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.2/32")), lookup)
        answer = await client.call("default", Call("GET", f"http://rebind.example:{public.port}/x"))
        assert answer.body == b"public"
        assert (await failure(client, f"http://rebind.example:{server.port}/x")).code == "EGRESS_REFUSED"
        assert len(asked) == 2
        await client.close()
    assert not server.asked


async def test_an_address_that_gets_past_the_lookup_is_refused_by_the_socket(server: WebServer) -> None:
    """The last check is on what the socket is connected to, whoever has found it."""
    lookup, _ = answering(["93.184.216.34"])
    client = HttpClient(lookup=lookup)
    await failure(client, "http://10.0.0.1/")  # opens nothing
    lines = client._lines["default"]
    lines._guarded = lines._session(lines.policy)
    resolver: Any = lines._guarded.connector._resolver  # type: ignore[union-attr]

    async def unguarded(host: str, port: int = 0, family: Any = socket.AF_INET) -> list[Any]:
        return [{**each, "port": port} for each in found_at("127.0.0.1")]

    resolver.resolve = unguarded
    assert (await failure(client, f"http://rebind.example:{server.port}/x")).code == "EGRESS_REFUSED"
    assert not server.asked
    await client.close()


async def test_a_connection_of_one_namespace_is_not_lent_to_another(server: WebServer) -> None:
    server.answer("/x", "ok")
    client = HttpClient(OutgoingSettings(allow=parse_allow(f"mine=127.0.0.1:{server.port}")))
    assert (await client.call("mine", Call("GET", server.url + "/x"))).status == 200
    assert (await failure(client, server.url + "/x")).code == "EGRESS_REFUSED"
    await client.close()


async def test_a_host_may_be_played_by_another(server: WebServer) -> None:
    """The URL and the Host header stay what the document says; the mapping opens nothing else."""
    server.echo("/x")
    client = HttpClient(
        OutgoingSettings(hosts=map_hosts([("api.example", server.url), ("b.example:8443", server.url)]))
    )
    for url, host in [("https://api.example/x", "api.example"), ("http://API.example:81/x", "api.example:81"),
                      ("https://b.example:8443/x", "b.example:8443")]:  # fmt: skip
        answer = await client.call("default", Call("GET", url))
        assert answer.url == url
        assert server.asked[-1].header("Host") == host
    assert (await failure(client, server.url + "/x")).code == "EGRESS_REFUSED"
    await client.close()


async def test_what_the_environment_says_about_proxies_is_not_heard(
    server: WebServer, client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer("/x", "ok")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert (await client.call("default", Call("GET", server.url + "/x"))).status == 200


async def test_cookies_are_not_kept(server: WebServer, client: HttpClient) -> None:
    server.answer("/x", "ok", headers={"Set-Cookie": "session=1"})
    for _ in range(2):
        await client.call("default", Call("GET", server.url + "/x"))
    assert server.asked[-1].header("Cookie") is None


# -- redirects ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "status", "becomes", "keeps_body"),
    [
        ("POST", 301, "GET", False),
        ("POST", 302, "GET", False),
        ("POST", 303, "GET", False),
        ("PUT", 303, "GET", False),
        ("PUT", 301, "PUT", True),
        ("DELETE", 302, "DELETE", True),
        ("POST", 307, "POST", True),
        ("POST", 308, "POST", True),
        ("GET", 302, "GET", False),
        ("HEAD", 303, "HEAD", False),
    ],
)
async def test_redirects_keep_or_change_the_method(
    method: str, status: int, becomes: str, keeps_body: bool, server: WebServer, client: HttpClient
) -> None:
    server.answer("/a", status=status, headers={"Location": "b?x=1"})
    server.answer("/b", "there")
    body = None if method in ("GET", "HEAD") else b"data"
    answer = await client.call("default", Call(method, server.url + "/a", (("Content-Type", "text/x"),), body))
    assert (answer.status, answer.url, answer.redirects) == (200, server.url + "/b?x=1", 1)
    assert (server.asked[1].method, server.asked[1].body) == (becomes, b"data" if keeps_body else b"")


async def test_credentials_do_not_follow_to_another_origin(server: WebServer) -> None:
    async with WebServer() as other:
        client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
        server.answer("/same", status=302, headers={"Location": "/away"})
        server.answer("/away", status=307, headers={"Location": other.url + "/x"})
        other.answer("/x", "there")
        headers = (
            ("Authorization", "Bearer t"),
            ("X-Api-Key", "k"),
            ("X-Mine", "m"),
            ("X-Trace", "1"),
            ("Cookie", "c"),
        )
        call = Call("POST", server.url + "/same", headers, b"data", private=frozenset({"x-mine"}))
        await client.call("default", call)
        assert server.asked[1].header("Authorization") == "Bearer t"
        there = other.asked[0]
        assert [there.header(name) for name in ("Authorization", "X-Api-Key", "X-Mine", "Cookie", "X-Trace")] == [
            None,
            None,
            None,
            None,
            "1",
        ]
        call = Call("PUT", server.url + "/away", (), b"secret", has_private_body=True)
        with pytest.raises(CallFailed, match="secret"):
            await client.call("default", call)
        await client.close()


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://169.254.169.254/", "EGRESS_REFUSED"),
        ("http://localhost/", "EGRESS_REFUSED"),
        ("http://[::ffff:127.0.0.1]/", "EGRESS_REFUSED"),
        ("http://2130706433/", "EGRESS_REFUSED"),
        ("file:///etc/passwd", "HTTP_REDIRECT_REFUSED"),
        ("gopher://a/", "HTTP_REDIRECT_REFUSED"),
        ("http://u:p@a.example/", "HTTP_REDIRECT_REFUSED"),
        ("/loop", "HTTP_REDIRECT_REFUSED"),
    ],
)
async def test_redirects_lead_nowhere_else(location: str, code: str, server: WebServer, client: HttpClient) -> None:
    server.answer("/loop", status=302, headers={"Location": location})
    assert (await failure(client, server.url + "/loop")).code == code
    assert len(server.asked) == (11 if location == "/loop" else 1)


async def test_a_redirect_from_https_to_http_is_refused(server: WebServer) -> None:
    client = HttpClient(OutgoingSettings(hosts=map_hosts([("a.example", server.url)])))
    server.answer("/x", status=302, headers={"Location": "http://a.example/y"})
    failed = await failure(client, "https://a.example/x")
    assert (failed.code, "https to http" in failed.message) == ("HTTP_REDIRECT_REFUSED", True)
    await client.close()


async def test_redirects_may_be_left_alone(server: WebServer, client: HttpClient) -> None:
    server.answer("/x", status=302, headers={"Location": "/y"})
    assert (await client.call("default", Call("GET", server.url + "/x", redirects=0))).status == 302


# -- sizes -------------------------------------------------------------------------------------------


def bomb() -> bytes:
    """A megabyte that unfolds to a gigabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = packer.compress(bytes(1024 * 1024))
    return block + b"".join(packer.compress(bytes(1024 * 1024)) for _ in range(200)) + packer.flush()


async def test_a_bomb_is_stopped_at_the_limit(server: WebServer, client: HttpClient) -> None:
    server.answer("/x", bomb(), headers={"Content-Encoding": "gzip"})
    failed = await failure(client, server.url + "/x")
    assert (failed.code, failed.retryable) == ("HTTP_TOO_LARGE", False)


@pytest.mark.parametrize("size", [999, 1000, 1001])
@pytest.mark.parametrize("coding", ["", "identity", "gzip", "deflate", "raw", "two"])
async def test_the_limit_counts_what_is_decoded(coding: str, size: int, server: WebServer, client: HttpClient) -> None:
    plain = bytes(range(250)) * 4 + b"!"
    plain = plain[:size]
    raw = zlib.compressobj(wbits=-15)
    body = {
        "gzip": gzip.compress(plain), "deflate": zlib.compress(plain), "raw": raw.compress(plain) + raw.flush(),
        "two": gzip.compress(plain[:10]) + gzip.compress(plain[10:]),
    }.get(coding, plain)  # fmt: skip
    name = {"raw": "deflate", "two": "gzip"}.get(coding, coding)
    server.answer("/x", body, headers={"Content-Encoding": name} if name else None)
    call = Call("GET", server.url + "/x", max_bytes=1000)
    if size <= 1000:
        assert (await client.call("default", call)).body == plain
    else:
        with pytest.raises(CallFailed) as caught:
            await client.call("default", call)
        assert caught.value.code == "HTTP_TOO_LARGE"


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", b"x"),
        ("zstd", b"x"),
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(b"x" * 100, mtime=0)[:20]),
        ("gzip, gzip", b"x"),
    ],
)
async def test_encodings_that_cannot_be_read(coding: str, body: bytes, server: WebServer, client: HttpClient) -> None:
    server.answer("/x", body, headers={"Content-Encoding": coding})
    assert (await failure(client, server.url + "/x")).code == "HTTP_RESPONSE_INVALID"


async def test_no_call_may_ask_for_more_than_the_operator_allows(server: WebServer) -> None:
    client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1"), response_bytes=1000))
    server.answer("/x", b"x" * 1001)
    assert (await failure(client, server.url + "/x", max_bytes=10**9)).code == "HTTP_TOO_LARGE"
    await client.close()


# -- what breaks -------------------------------------------------------------------------------------


async def test_one_deadline_covers_everything(server: WebServer, client: HttpClient) -> None:
    """A server that drips gives a byte in time, again and again."""
    enough = asyncio.Event()

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"x")
        await enough.wait()
        return response

    server.handle("/x", drip)
    failed = await failure(client, server.url + "/x", timeout=0.2)
    assert (failed.code, failed.retryable) == ("TIMEOUT", True)
    enough.set()


async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
        failed = await failure(client, f"http://127.0.0.1:{free.getsockname()[1]}/secret?token=1")
        assert (failed.code, failed.retryable) == ("HTTP_UNREACHABLE", True)
        assert "token" not in failed.message
        await client.close()


async def test_a_name_that_nobody_knows() -> None:
    async def lookup(host: str, port: int, family: Any) -> list[Any]:
        raise OSError("Name or service not known")

    client = HttpClient(lookup=lookup)
    failed = await failure(client, "https://nowhere.example/")
    assert (failed.code, failed.retryable) == ("HTTP_UNREACHABLE", True)
    await client.close()


async def test_a_connection_that_breaks(server: WebServer, client: HttpClient) -> None:
    server.drop("/x")
    for method in ("GET", "POST"):
        failed = await failure(client, server.url + "/x", method)
        assert (failed.code, failed.retryable) == ("HTTP_DROPPED", True)
    assert len(server.asked) == 2  # each was sent once


@pytest.mark.parametrize("name", ["localhost", "other.example"])
async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(name: str, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", *files]
    made = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    assert await made.wait() == 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    async with WebServer(ssl=context) as server:
        client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
        failed = await failure(client, server.url + "/x")
        assert (failed.code, failed.retryable) == ("HTTP_TLS", False)
        assert "certificate" in failed.message
        assert not server.asked
        await client.close()


RAW = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "HTTP_DROPPED"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP_RESPONSE_INVALID"),
    (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", "HTTP_RESPONSE_INVALID"),
    (b"GARBAGE\r\n\r\n", "HTTP_RESPONSE_INVALID"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP_RESPONSE_INVALID"),
    (b"", "HTTP_DROPPED"),
]


@pytest.mark.parametrize(("raw", "code"), RAW, ids=range(len(RAW)))
async def test_responses_that_are_none(raw: bytes, code: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
    assert (await failure(client, f"http://127.0.0.1:{port}/")).code == code
    await client.close()
    listening.close()
    await listening.wait_closed()


async def test_a_body_longer_than_it_says_is_cut_there() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    client = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
    assert (await client.call("default", Call("GET", url))).body == b"ok"
    await client.close()
    listening.close()
    await listening.wait_closed()
