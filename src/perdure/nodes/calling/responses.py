"""From what came back to a value, or to a failure with the status in it."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from perdure.engine.context import ActivationContext
from perdure.errors import PerdureError
from perdure.model.values import Json, decode_json, encode_json
from perdure.nodes.outgoing.calls import Answer
from perdure.nodes.outgoing.failures import CallFailed, invalid_response

LONGEST_PAUSE = 3600.0
"""Seconds. A server that asks for more gets another try after an hour all the same."""
SHOWN = 16 * 1024
"""Bytes of a response that are kept beside the output, or in a failure."""


async def value_of(answer: Answer, wanted: str, empty: Json, ctx: ActivationContext) -> Json:
    """Raises CallFailed."""
    if not answer.body:
        return empty
    kind, charset = content_type(answer)
    if wanted == "auto":
        wanted = _kind(kind, answer.body)
    if wanted == "binary":
        info = await ctx.blobs.write(_once(answer.body))
        return {"hash": info.hash, "size": info.size, "content_type": kind or "application/octet-stream"}
    text = decoded(answer.body, charset)
    if wanted == "text":
        return text
    try:
        return decode_json(text)
    except PerdureError as problem:
        if wanted == "json":
            raise invalid_response(f"it is {problem.message}"[:500], status=answer.status) from None
        return text


def _kind(kind: str, body: bytes) -> str:
    """json, text, binary; or `either`, where it is to be tried."""
    main, _, sub = kind.partition("/")
    if sub == "json" or sub.endswith("+json"):
        return "either"
    if kind in ("", "text/plain"):
        if body.lstrip()[:1] in (b"{", b"["):
            return "either"
        return "text" if kind or _is_text(body) else "binary"
    if main == "text" or sub in ("xml", "javascript", "x-www-form-urlencoded", "yaml") or sub.endswith("+xml"):
        return "text"
    return "binary"


def _is_text(body: bytes) -> bool:
    try:
        return "\0" not in body.decode()
    except UnicodeDecodeError:
        return False


def content_type(answer: Answer) -> tuple[str, str]:
    """The media type in small letters, and the charset."""
    kind, *parameters = (answer.header("content-type") or "").split(";")
    charset = "utf-8"
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'")
    return kind.strip().lower(), charset


def decoded(body: bytes, charset: str) -> str:
    """What is not in the charset that it claims is shown as such; a charset that nobody knows is UTF-8."""
    try:
        name = codecs.lookup(charset).name
        if name not in _CHARSETS and not name.startswith(
            ("iso8859", "cp", "koi8", "mac", "euc", "shift", "gb", "big5")
        ):
            name = "utf-8"
    except (LookupError, ValueError):
        name = "utf-8"
    if name == "utf-8":
        name = "utf-8-sig"
    text = body.decode(name, "replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


_CHARSETS = frozenset({"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "latin-1"})


def headers_of(answer: Answer) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in answer.headers:
        clean = value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        found[name] = f"{found[name]}, {clean}" if name in found else clean
    return found


def told(answer: Answer) -> dict[str, Any]:
    """All but the body."""
    return {
        "status_code": answer.status,
        "url": answer.told_url,
        "method": answer.method,
        "headers": headers_of(answer),
    }


def shown(answer: Answer, data: Json, ctx: ActivationContext) -> dict[str, Any]:
    """The response as it is kept beside the output: whole if it is small."""
    found = told(answer)
    if len(encode_json(data)) <= SHOWN:
        return {**found, "data": data}
    return {**found, "data": _beginning(answer, ctx), "truncated": True}


def _beginning(answer: Answer, ctx: ActivationContext) -> str:
    """Secrets are cut out before the rest is cut off, as of one that is cut in two the first half would be kept."""
    if len(answer.body) <= SHOWN:
        return decoded(answer.body, content_type(answer)[1])
    text = str(ctx.without_secrets(decoded(answer.body[: 2 * SHOWN], content_type(answer)[1])))
    return text.encode("utf-8", "replace")[:SHOWN].decode("utf-8", "ignore")


# -- statuses --------------------------------------------------------------------------------------


def is_expected(status: int, ok: Any) -> bool:
    return any(
        each == status or (isinstance(each, str) and each[0] == str(status)[0])
        for each in (ok if isinstance(ok, list) else [ok])
    )


def status_failure(answer: Answer, ctx: ActivationContext) -> CallFailed:
    status = answer.status
    may_pass = status in (408, 425, 429) or status >= 500
    body: Json = _beginning(answer, ctx) if answer.body else None
    if isinstance(body, str) and len(answer.body) <= SHOWN and content_type(answer)[0].endswith("json"):
        with suppress(PerdureError):
            body = decode_json(body)
    details = {"status": status, "url": answer.told_url, "method": answer.method, "body": body}
    pause = retry_after(answer.header("retry-after"), ctx.now()) if may_pass else None
    return CallFailed(
        "HTTP_STATUS",
        f"{answer.method} {answer.told_url.partition('?')[0]} answered {status}",
        retryable=may_pass,
        retry_after=pause,
        details=details,
    )


def retry_after(text: str | None, now: int) -> float | None:
    """Seconds: the header says how many, or a date. What is neither asks for nothing."""
    if text is None:
        return None
    text = text.strip()
    try:
        if text.lstrip("-").isdigit():
            seconds = float(text)
        else:
            date = parsedate_to_datetime(text)
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now / 1_000_000
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, seconds), LONGEST_PAUSE)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
