"""The configuration of the `http` node."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, WithJsonSchema

from perdure.errors import PerdureError
from perdure.model.schemas import Schema
from perdure.model.times import parse_duration
from perdure.nodes.calling.auth import Auth
from perdure.nodes.calling.paging import Pagination
from perdure.nodes.config import NodeConfig, has_placeholder
from perdure.nodes.outgoing.calls import REDIRECTS, RESPONSE_BYTES
from perdure.nodes.outgoing.urls import MOST_HEADERS, read_url, what_is_wrong_with_header
from perdure.nodes.scripts import TEMPLATE_OR_SCRIPT, ScriptText, script_mark
from perdure.nodes.scripts.fields import is_script
from perdure.nodes.secret_values import is_secret
from perdure.programs.flow.fields import Kind

RESPONSE_NAMES = ("_response", "response")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
LONGEST_CALL = 600_000_000
"""Microseconds."""

_METHOD = re.compile(r"[A-Z][A-Z0-9_-]{0,31}")
_BEGINNING = re.compile(r"\s*(?:\$\{|\{\{|https?://)", re.IGNORECASE)


def _url(value: Any) -> Any:
    if is_secret(value) or is_script(value):
        return value
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a URL is text that begins with http:// or https://")
    if has_placeholder(value):
        if not _BEGINNING.match(value):
            raise ValueError("a URL begins with http:// or https://, or with a placeholder")
    else:
        read_url(value.strip())
    return value


def _method(value: Any) -> Any:
    if not isinstance(value, str) or not _METHOD.fullmatch(value.upper()):
        raise ValueError("a method is a word like GET")
    if value.upper() in ("CONNECT", "TRACE"):
        raise ValueError(f"{value} is not a method of calls to an API")
    return value.upper()


def _headers(value: Any) -> Any:
    if value is None or has_placeholder(value) or is_script(value):
        return value
    if not isinstance(value, dict):
        raise ValueError("headers are an object, by name")
    if len(value) > MOST_HEADERS:
        raise ValueError(f"there are more than {MOST_HEADERS} headers")
    for name, each in value.items():
        if not (each is None or isinstance(each, str | int | float) or is_secret(each)):
            raise ValueError(f"the value of the header {name} is text, a number or a secret")
        static = each if isinstance(each, str) and not has_placeholder(each) else None
        wrong = what_is_wrong_with_header(name, static)
        if wrong is not None:
            raise ValueError(wrong)
    return value


def _query(value: Any) -> Any:
    if value is not None and not isinstance(value, dict) and not has_placeholder(value):
        raise ValueError("the query is an object, by name")
    return value


def _timeout(value: Any) -> Any:
    """Yantra's numbers are milliseconds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a timeout is a text like '30s', or a number of milliseconds")
    micros = parse_duration(value) if isinstance(value, str) else int(value * 1000)
    if not 1000 <= micros <= LONGEST_CALL:
        raise ValueError("a call may take between a millisecond and ten minutes")
    return value


def _statuses(value: Any) -> Any:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and re.fullmatch(r"[1-5]xx", each):
            continue
        if isinstance(each, bool) or not isinstance(each, int) or not 100 <= each <= 599:
            raise ValueError("a status is a number from 100 to 599, or a class like '2xx'")
    return value


def _schema(value: Any) -> Any:
    if value is not None:
        try:
            Schema(value)
        except PerdureError as problem:
            raise ValueError(problem.message) from None
    return value


def _redirects(value: Any) -> Any:
    return value if not isinstance(value, bool) else REDIRECTS if value else 0


def _any(*types: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": each} for each in types], "x-perdure": Kind.TEMPLATE_OR_SCRIPT.value})


Url = Annotated[Any, AfterValidator(_url), TEMPLATE_OR_SCRIPT, _any("string", "object")]
Headers = Annotated[Any, AfterValidator(_headers), TEMPLATE_OR_SCRIPT, _any("object", "string", "null")]
Query = Annotated[Any, AfterValidator(_query), TEMPLATE_OR_SCRIPT, _any("object", "string", "null")]
Method = Annotated[
    str, BeforeValidator(_method), WithJsonSchema({"type": "string", "examples": list(METHODS), "maxLength": 32})
]
Timeout = Annotated[
    str | int | float,
    BeforeValidator(_timeout),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]}),
]
Redirects = Annotated[
    int,
    BeforeValidator(_redirects),
    Field(ge=0, le=REDIRECTS),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": REDIRECTS}, {"type": "boolean"}]}),
]
Transformer = Annotated[
    Annotated[str, Field(min_length=1, max_length=8192)] | ScriptText, script_mark(Kind.MIXED, RESPONSE_NAMES)
]


class HttpConfig(NodeConfig):
    url: Url = Field(
        title="URL",
        description="Where to. What a placeholder puts into it is percent-encoded, except at its very beginning and in "
        "`{{{ }}}`. Also `{secret: NAME}`.",
        examples=["https://api.example/orders/${data.id}"],
    )
    method: Method = Field("GET", title="Method", description="What is asked of the URL.", examples=["POST"])
    query: Query = Field(
        None,
        validation_alias=AliasChoices("query", "queryParams", "query_params"),
        title="Query",
        description="Added to the URL. A list is repeated, null is left out.",
        examples=[{"page": 2, "tag": ["a", "b"]}],
    )
    headers: Headers = Field(
        None,
        title="Headers",
        description="By name. null is left out; `{secret: NAME}` is filled in when the call is made.",
        examples=[{"X-Api-Key": {"secret": "API_KEY"}}],
    )
    body: Annotated[Any, TEMPLATE_OR_SCRIPT] = Field(
        None,
        title="Body",
        description="Without one, nothing is sent. For `multipart`, a file is `{filename, content_type, data}`, with "
        "`base64` or the `hash` of a blob in the place of `data`; for `binary`, `{base64}` or `{hash}`.",
        examples=[{"amount": "${data.total}", "currency": "EUR"}],
    )
    body_type: Literal["auto", "json", "form", "multipart", "text", "xml", "binary"] = Field(
        "auto",
        validation_alias=AliasChoices("bodyType", "body_type"),
        title="Body as",
        description="`auto`: text as it is, everything else as JSON, unless the content type says otherwise.",
        examples=["form"],
    )
    content_type: str | None = Field(
        None,
        validation_alias=AliasChoices("contentType", "content_type"),
        max_length=256,
        title="Content type",
        description="The header Content-Type. Without it, what the body is.",
        examples=["application/json"],
    )
    auth: Auth | None = Field(
        None,
        validation_alias=AliasChoices("auth", "targetClientId"),
        title="Who calls",
        description="A header, a name and password, a token, or a client that fetches one; or the name of a client "
        "that the operator has set up (`http_clients`).",
        examples=[{"type": "bearer", "token": {"secret": "API_TOKEN"}}],
    )
    timeout: Timeout = Field(
        "30s",
        title="Timeout",
        description="For the whole call with its redirects: `30s`, or a number of milliseconds.",
        examples=["30s", 30000],
    )
    max_retries: int | None = Field(
        None,
        validation_alias=AliasChoices("maxRetries", "max_retries"),
        ge=0,
        le=100,
        title="Retries",
        description="How often a call that may pass is tried again, where the node has no `retry`; 2 without it.",
        examples=[3],
    )
    redirects: Redirects = Field(
        REDIRECTS,
        validation_alias=AliasChoices("redirects", "followRedirects", "maxRedirects"),
        title="Redirects",
        description="How many are followed.",
        examples=[0],
    )
    ok: Annotated[Any, AfterValidator(_statuses)] = Field(
        "2xx",
        title="Expected",
        description="Statuses that are no failure: numbers, or classes like `2xx`.",
        examples=[[200, 404]],
    )
    response: Literal["auto", "json", "text", "binary"] = Field(
        "auto",
        validation_alias=AliasChoices("response", "responseType"),
        title="Response as",
        description="`auto`: as its content type says. `binary` is kept as a blob (`hash`, `size`, `content_type`).",
        examples=["json"],
    )
    max_bytes: int = Field(
        RESPONSE_BYTES,
        ge=1,
        le=1024**3,
        title="Largest response",
        description="In bytes, decoded. Never more than the operator allows (`http_response_bytes`).",
        examples=[4096],
    )
    empty_body: Any = Field(
        None,
        validation_alias=AliasChoices("emptyBody", "empty_body"),
        title="Empty body",
        description="What stands for the body of a response that has none.",
        examples=[{}],
    )
    response_schema: Annotated[Any, AfterValidator(_schema)] = Field(
        None,
        validation_alias=AliasChoices("responseSchema", "response_schema"),
        title="Schema of the response",
        description="JSON Schema. A body that does not fit fails with HTTP_RESPONSE_INVALID.",
        examples=[{"type": "object", "required": ["id"]}],
    )
    output: Literal["response", "body"] = Field(
        "response",
        title="Output",
        description="`response`: `status_code`, `url`, `method`, `headers`, `data`. `body`: the body alone; the rest "
        'can be read as `_global["<node>:httpResponse"]`.',
        examples=["body"],
    )
    transformer: Transformer | None = Field(
        None,
        title="Transformer",
        description="An expression or a script whose value is the output. `_response` is the body, `response` "
        "has `status_code`, `headers`, `body`, `url`, `method`.",
        examples=["_response.items[0].price * 1.19"],
    )
    pagination: Pagination | None = Field(
        None,
        title="Pages",
        description="Calls again until there is no further page, and puts the items of all together.",
        examples=[{"type": "link"}],
    )
    idempotency_key: bool | Annotated[str, Field(min_length=1, max_length=128)] = Field(
        True,
        validation_alias=AliasChoices("idempotencyKey", "idempotency_key"),
        title="Idempotency key",
        description="POST, PUT, PATCH and DELETE carry a key that is the same for every attempt, as `Idempotency-Key` "
        "or in a header of this name.",
        examples=["X-Request-Id"],
    )
    forward_thread: list[str] | dict[str, str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("forwardThread", "forward_thread"),
        title="Thread data as headers",
        description="Names of the run's thread data (`_thread`) that go out as headers; or header → name.",
        examples=[["tenant"], {"X-Tenant-Id": "tenant"}],
    )

    @property
    def seconds(self) -> float:
        given = self.timeout
        return parse_duration(given) / 1_000_000 if isinstance(given, str) else given / 1000
