"""Pages: a list that comes in several responses is put together."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urljoin

from msgspec.structs import replace
from pydantic import AliasChoices, Field

from perdure.expressions import MISSING, Path
from perdure.model.values import Json
from perdure.nodes.calling.requests import with_query
from perdure.nodes.config import NodeConfig, PathText
from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.failures import CallFailed, invalid_response
from perdure.nodes.outgoing.urls import read_url

_LINK = re.compile(r"<([^<>]*)>((?:\s*;\s*[^,;=\s]+(?:\s*=\s*(?:\"[^\"]*\"|[^\s,;\"]*))?)*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s,;\"]+))", re.IGNORECASE)


class _Pages(NodeConfig):
    items: PathText | None = Field(
        None,
        title="Items",
        description="Where in the body the list is; without it, the body is one.",
        examples=["data"],
    )
    max_pages: int = Field(
        100,
        validation_alias=AliasChoices("maxPages", "max_pages"),
        ge=1,
        le=1000,
        title="Most pages",
        description="No more are fetched.",
    )
    max_items: int = Field(
        10_000,
        validation_alias=AliasChoices("maxItems", "max_items"),
        ge=1,
        le=1_000_000,
        title="Most items",
        description="No more are kept.",
    )


class LinkPages(_Pages):
    """The header `Link` with rel="next" leads on."""

    type: Literal["link"]


class UrlPages(_Pages):
    """The body holds the URL of the next page."""

    type: Literal["next_url"]
    path: PathText = Field(title="Next URL", description="Where in the body it is.", examples=["links.next"])


class CursorPages(_Pages):
    """The body holds a mark that the next call sends."""

    type: Literal["cursor"]
    path: PathText = Field(title="Cursor", description="Where in the body it is.", examples=["meta.next"])
    param: str = Field(
        "cursor", min_length=1, max_length=256, title="Sent as", description="The name of the parameter."
    )
    place: Literal["query", "body"] = Field(
        "query",
        validation_alias=AliasChoices("in", "place"),
        title="Sent in",
        description="Where the parameter stands.",
        examples=["body"],
    )


class NumberedPages(_Pages):
    """Pages have numbers; the first one without items is the last."""

    type: Literal["page"]
    param: str = Field("page", min_length=1, max_length=256, title="Sent as", description="The name of the parameter.")
    start: int = Field(1, ge=0, le=1_000_000, title="First page", description="Its number.")


Pagination = Annotated[LinkPages | UrlPages | CursorPages | NumberedPages, Field(discriminator="type")]


def first_page(pages: Any) -> dict[str, Any]:
    """What the first call sends."""
    return {pages.param: pages.start} if isinstance(pages, NumberedPages) else {}


def items_of(pages: Any, body: Json) -> list[Any]:
    """Raises CallFailed."""
    found = body if pages.items is None else Path.parse(pages.items).find(body)
    if found is None or found is MISSING:
        return []
    if not isinstance(found, list):
        where = f"`{pages.items}`" if pages.items else "the body"
        raise invalid_response(f"{where} is no list of items")
    return found


def next_page(
    pages: Any, answer: Answer, body: Json, number: int, count: int
) -> tuple[str | None, dict[str, Any], bool]:
    """The URL of the next page if it has one of its own; what the next call sends; whether there is a next call."""
    match pages:
        case LinkPages():
            target: Any = next_link(answer.header("link"))
        case UrlPages():
            target = Path.parse(pages.path).find(body)
        case CursorPages():
            mark = Path.parse(pages.path).find(body)
            is_over = mark is MISSING or mark is None or mark in ("", False)
            return None, {} if is_over else {pages.param: mark}, not is_over
        case _:
            return None, {pages.param: pages.start + number}, count > 0
    if target is MISSING or not target:
        return None, {}, False
    if not isinstance(target, str):
        raise invalid_response("the URL of the next page is no text")
    return _same_origin(answer.url, target), {}, True


def _same_origin(url: str, target: str) -> str:
    """The next page comes from where this one came from: it gets the same headers, and they may say who we are."""
    there = urljoin(url, target.strip())
    try:
        is_same = read_url(there) == read_url(url)
    except ValueError as problem:
        raise invalid_response(f"the URL of the next page: {problem}") from None
    if not is_same:
        raise invalid_response("the next page is on another server")
    return there


def next_link(header: str | None) -> str | None:
    """RFC 8288."""
    for target, parameters in _LINK.findall(header or ""):
        rel = _REL.search(parameters)
        if rel is not None and "next" in (rel[1] or rel[2] or "").lower().split():
            return str(target)
    return None


def with_page(call: Call, url: str | None, sent: dict[str, Any]) -> Call:
    """The same call for another page; what goes into the body is the caller's business."""
    return replace(call, url=with_query(url or call.url, sent or None))


def too_many(limit: int, what: str) -> CallFailed:
    return CallFailed("HTTP_TOO_LARGE", f"there are more than {limit} {what}", details={"limit": limit})
