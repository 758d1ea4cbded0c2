"""From resolved values to what is sent."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from perdure.engine.context import ActivationContext
from perdure.errors import PerdureError
from perdure.model.values import Json, decode_json, encode_json
from perdure.nodes.outgoing.failures import invalid_request, invalid_url

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
LARGEST = 50 * 1024 * 1024
"""Bytes of a body."""

_KINDS = {JSON: "json", FORM: "form", "multipart/form-data": "multipart"}


class Body(NamedTuple):
    data: bytes | None
    content_type: str | None


def with_query(url: Any, query: Any) -> str:
    """Raises CallFailed."""
    if not isinstance(url, str):
        raise invalid_url("it is no text")
    text: str = url
    text = text.strip().partition("#")[0]
    if query is None:
        return text
    if not isinstance(query, dict):
        raise invalid_request("the query is no object")
    pairs = [(name, _written(each)) for name, value in query.items() for each in _several(value)]
    if not pairs:
        return text
    joint = "" if text.endswith(("?", "&")) else "&" if "?" in text else "?"
    return text + joint + urlencode(pairs, quote_via=quote, errors="replace")


def header_list(headers: Any) -> list[tuple[str, str]]:
    if headers is None:
        return []
    if not isinstance(headers, dict):
        raise invalid_request("the headers are no object")
    found = []
    for name, value in headers.items():
        if isinstance(value, dict | list):
            raise invalid_request(f"the value of the header {name} is neither text nor number")
        if value is not None:
            found.append((name, _written(value).strip(" \t")))
    return found


def forwarded(wanted: list[str] | dict[str, str]) -> dict[str, str]:
    """Header to name in the thread context."""
    return wanted if isinstance(wanted, dict) else {name: name for name in wanted}


def thread_headers(thread: Mapping[str, Any] | None, wanted: list[str] | dict[str, str]) -> Iterator[tuple[str, str]]:
    """What is asked for, and the marks of a performance test where the run is one."""
    if not thread:
        return
    for header, name in forwarded(wanted).items():
        value = thread.get(name)
        if value is not None and not isinstance(value, dict | list):
            yield header, _written(value)
    if any(thread.get(name) in (True, "true", "TRUE", "True") for name in ("perfFlag", "perf")):
        yield "X_PERF_TEST", "true"
        yield "X-PERF-TEST", "true"


def has_header(headers: list[tuple[str, str]], name: str) -> bool:
    return any(key.lower() == name.lower() for key, _ in headers)


def _several(value: Any) -> list[Any]:
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


def _written(value: Json) -> str:
    if isinstance(value, str):
        return value
    return encode_json(value).decode()


# -- bodies ----------------------------------------------------------------------------------------


async def body_of(value: Any, kind: str, content_type: str | None, ctx: ActivationContext) -> Body:
    """Raises CallFailed."""
    if value is None:
        return Body(None, None)
    if kind == "auto":
        media = (content_type or "").partition(";")[0].strip().lower()
        kind = "text" if isinstance(value, str) else _KINDS.get(media, "json")
    match kind:
        case "json":
            made = Body(encode_json(value), JSON)
        case "text":
            made = _text(value)
        case "xml":
            made = _text(value)._replace(content_type="application/xml; charset=utf-8")
        case "form":
            made = Body(_form(value).encode(), FORM)
        case "binary":
            data, told = await _content(value, ctx)
            made = Body(data, told or "application/octet-stream")
        case _:
            boundary = "perdure-" + hashlib.blake2b(ctx.key.encode(), digest_size=16).hexdigest()
            made = Body(await _multipart(value, boundary, ctx), f"multipart/form-data; boundary={boundary}")
            content_type = None
    if made.data is not None and len(made.data) > LARGEST:
        raise invalid_request(f"its body has more than {LARGEST} bytes")
    return made._replace(content_type=content_type or made.content_type)


def _text(value: Any) -> Body:
    text = _written(value)
    kind = JSON if not isinstance(value, str) or _is_json(text) else "text/plain; charset=utf-8"
    return Body(text.encode("utf-8", "replace"), kind)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        decode_json(text)
    except PerdureError:
        return False
    return True


def _form(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise invalid_request("a form is an object")
    return urlencode(
        [(name, _written(each)) for name, part in value.items() for each in _several(part)], errors="replace"
    )


async def _multipart(value: Any, boundary: str, ctx: ActivationContext) -> bytes:
    if not isinstance(value, dict):
        raise invalid_request("a multipart form is an object")
    parts = []
    for name, given in value.items():
        for each in _several(given):
            head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
            if isinstance(each, dict) and ({"data", "base64", "hash"} & each.keys()):
                data, told = await _content(each, ctx)
                head += f'; filename="{_quoted(str(each.get("filename") or name))}"'
                kind = each.get("content_type") or told or "application/octet-stream"
                if not isinstance(kind, str) or not kind.isprintable():
                    raise invalid_request(f"the content type of {name} is none")
                head += f"\r\nContent-Type: {kind}"
            else:
                data = _written(each).encode("utf-8", "replace")
            parts.append(f"--{boundary}\r\n{head}\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode()


def _quoted(text: str) -> str:
    """As browsers do: what could end the name or the line is percent-encoded."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A").replace("\0", "%00")


async def _content(value: Any, ctx: ActivationContext) -> tuple[bytes, str | None]:
    """Bytes: of a blob, in base64, or a text's own."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace"), None
    if isinstance(value, dict):
        kind = value.get("content_type")
        told = kind if isinstance(kind, str) and kind.isprintable() else None
        if isinstance(value.get("hash"), str):
            return await _blob(value["hash"], ctx), told
        if isinstance(value.get("base64"), str):
            try:
                return b64decode(value["base64"], validate=True), told
            except ValueError:
                raise invalid_request("what is called base64 is not") from None
        if "data" in value:
            return _written(value["data"]).encode("utf-8", "replace"), told
    raise invalid_request("bytes are a text, {base64} or the {hash} of a blob")


async def _blob(hash: str, ctx: ActivationContext) -> bytes:
    found = bytearray()
    async for part in ctx.blobs.open(hash):
        found += part
        if len(found) > LARGEST:
            raise invalid_request(f"its body has more than {LARGEST} bytes")
    return bytes(found)
