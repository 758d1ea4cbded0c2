"""http: calls an API, and everything that belongs to that: who calls, how long, how often, what the answer means.

The plan resolves the templates; the resolved values are recorded. Secrets are read by the handler and recorded nowhere.
Everything about going out (which addresses, sizes, redirects) is in `perdure.nodes.outgoing`. What may pass is tried
again: connections that break, timeouts, 408, 425, 429 and 5xx; three attempts if nothing else is said.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec
from pydantic import BaseModel

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import HandlerSpec, Result
from perdure.expressions import Expression, Template, compile_template
from perdure.model.failures import Failure
from perdure.model.policies import Retry
from perdure.model.schemas import Schema
from perdure.model.values import Json, decode_json, encode_json
from perdure.nodes.calling import paging
from perdure.nodes.calling.auth import authorized
from perdure.nodes.calling.config import RESPONSE_NAMES, HttpConfig
from perdure.nodes.calling.requests import (
    UNSAFE,
    body_of,
    forwarded,
    has_header,
    header_list,
    thread_headers,
    with_query,
)
from perdure.nodes.calling.responses import is_expected, shown, status_failure, told, value_of
from perdure.nodes.config import expression, template
from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.failures import invalid_request, invalid_response
from perdure.nodes.outgoing.tokens import Grant
from perdure.nodes.script import seed_of
from perdure.nodes.scripts import Script, script_of
from perdure.nodes.secret_values import fill_secrets, secret_places
from perdure.nodes.toolbox import Toolbox
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse

DYNAMIC = ("url", "query", "headers", "body", "auth")
ATTEMPTS = 3


class Prepared(msgspec.Struct, frozen=True):
    config: HttpConfig
    written: dict[str, Any]
    """The dynamic fields as the document has them."""
    templates: dict[str, Template]
    scripts: dict[str, Script]
    """Those of them that a script computes."""
    transformer: Expression | Script | None
    schema: Schema | None
    secrets: list[list[str | int]]


def prepare(config: HttpConfig) -> Prepared:
    written = {name: getattr(config, name) for name in DYNAMIC if getattr(config, name) is not None}
    if isinstance(config.auth, BaseModel):
        written["auth"] = config.auth.model_dump(exclude_none=True)
    scripts = {name: script for name, value in written.items() if (script := script_of(value)) is not None}
    templates = {name: template(value) for name, value in written.items() if name != "url" and name not in scripts}
    if isinstance(config.url, str):
        templates["url"] = compile_template(config.url, mode="lenient", escape="url")
    return Prepared(
        config,
        written,
        {name: each for name, each in templates.items() if not each.is_static},
        scripts,
        _transformer(config),
        Schema(config.response_schema) if config.response_schema is not None else None,
        secret_places(written),
    )


def _transformer(config: HttpConfig) -> Expression | Script | None:
    if isinstance(config.transformer, str):
        return expression(config.transformer)
    return script_of(config.transformer)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if not prepared.templates:
        return Execute()
    resolved = {name: moment.resolve(each) for name, each in prepared.templates.items()}
    if not isinstance(resolved.get("url", ""), str):
        return Refuse(Failure("HTTP_URL_INVALID", "the URL cannot be called: it is no text"))
    return Execute(resolved)


def reads(prepared: Prepared) -> Collection[tuple[str | int, ...]]:
    own = prepared.transformer.reads if prepared.transformer is not None else ()
    found = [each for each in own if each[0] not in RESPONSE_NAMES]
    return [*found, *(each for script in prepared.scripts.values() for each in script.reads)]


def retry(config: HttpConfig) -> Retry:
    return Retry(ATTEMPTS if config.max_retries is None else config.max_retries + 1)


# -- calling ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _prepared(config: bytes) -> Prepared:
    return prepare(HttpConfig.model_validate(decode_json(config)))


class Caller:
    """The handler."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    async def __call__(self, ctx: ActivationContext) -> Result:
        is_resolved = ctx.written is not None
        prepared = _prepared(encode_json(ctx.written if is_resolved else ctx.config))
        config = prepared.config
        values = {**prepared.written, **ctx.config} if is_resolved else prepared.written
        values = dict(await fill_secrets(values, prepared.secrets, ctx.secret))
        for name, script in prepared.scripts.items():
            values[name] = await self._run(script, ctx, ctx.bindings)
        call, grant = await self._call(ctx, prepared, values)
        if config.pagination is not None:
            answer, data = await self._pages(ctx, prepared, call, grant, values)
        else:
            answer, _ = await self._send(ctx, prepared, call, grant, values)
            data = await value_of(answer, config.response, config.empty_body, ctx)
        # Before a transformer sees it: what that makes of a secret which was echoed would not be found any more.
        data = ctx.without_secrets(data)
        if prepared.schema is not None:
            misfit = prepared.schema.first_misfit(data)
            if misfit is not None:
                raise invalid_response(f"{misfit.path or '/'}: {misfit.message}"[:500], pointer=misfit.path)
        return await self._result(ctx, prepared, answer, data)

    async def _run(self, script: Script, ctx: ActivationContext, bindings: dict[str, Any]) -> Json:
        return await self._tools.scripts.run(script, bindings, now=ctx.scheduled_at, seed=seed_of(ctx.key))

    async def _result(self, ctx: ActivationContext, prepared: Prepared, answer: Answer, data: Json) -> Result:
        if prepared.transformer is None and prepared.config.output == "response":
            return Result({**told(answer), "data": data})
        seen = ctx.without_secrets(shown(answer, data, ctx))
        if prepared.transformer is not None:
            response = {**seen, "status": answer.status, "body": data, "data": data}
            names = {**ctx.bindings, "_response": data, "response": response}
            if isinstance(prepared.transformer, Expression):
                return Result(prepared.transformer.evaluate(names), beside={"httpResponse": seen})
            return Result(await self._run(prepared.transformer, ctx, names), beside={"httpResponse": seen})
        return Result(data, beside={"httpResponse": seen})

    async def _call(
        self, ctx: ActivationContext, prepared: Prepared, values: dict[str, Any], body: Any = None
    ) -> tuple[Call, Grant | None]:
        config = prepared.config
        headers = header_list(values.get("headers"))
        kind = next((value for name, value in headers if name.lower() == "content-type"), None)
        made = await body_of(
            values.get("body") if body is None else body, config.body_type, config.content_type or kind, ctx
        )
        if made.content_type is not None:
            headers = [each for each in headers if each[0].lower() != "content-type"]
            headers.append(("Content-Type", made.content_type))
        credentials, grant = await authorized(values.get("auth"), ctx, self._tools)
        headers = [each for each in headers if not has_header(credentials, each[0])] + credentials
        for name, value in thread_headers(ctx.thread, config.forward_thread):
            if not has_header(headers, name):
                headers.append((name, value))
        if config.idempotency_key and config.method in UNSAFE:
            name = config.idempotency_key if isinstance(config.idempotency_key, str) else "Idempotency-Key"
            if not has_header(headers, name):
                headers.append((name, ctx.key))
        private = {str(place[1]).lower() for place in prepared.secrets if place[0] == "headers" and len(place) > 1}
        query = values.get("query")
        if config.pagination is not None:
            query = {**paging.first_page(config.pagination), **(query if isinstance(query, dict) else {})} or None
        call = Call(
            config.method,
            with_query(values.get("url"), query),
            tuple(headers),
            made.data,
            timeout=config.seconds,
            max_bytes=config.max_bytes,
            redirects=config.redirects,
            private=frozenset(private | {name.lower() for name, _ in credentials}),
            has_private_body=any(place[0] == "body" for place in prepared.secrets),
            has_private_url=any(place[0] == "url" for place in prepared.secrets),
        )
        return call, grant

    async def _send(
        self, ctx: ActivationContext, prepared: Prepared, call: Call, grant: Grant | None, values: dict[str, Any]
    ) -> tuple[Answer, Call]:
        """The answer and the call to which it was one. A status that was not expected is a failure; a token that is
        refused is fetched again, once."""
        answer = await self._tools.http.call(ctx.namespace, call)
        if answer.status == 401 and grant is not None:
            used = next((value for name, value in call.headers if name == "Authorization"), "")
            self._tools.tokens.refused(ctx.namespace, grant, used)
            fresh, _ = await authorized(values["auth"], ctx, self._tools)
            kept = tuple(each for each in call.headers if not has_header(fresh, each[0]))
            call = msgspec.structs.replace(call, headers=(*kept, *fresh))
            answer = await self._tools.http.call(ctx.namespace, call)
        if not is_expected(answer.status, prepared.config.ok):
            raise status_failure(answer, ctx)
        return answer, call

    async def _pages(
        self, ctx: ActivationContext, prepared: Prepared, call: Call, grant: Grant | None, values: dict[str, Any]
    ) -> tuple[Answer, list[Any]]:
        config, pages = prepared.config, prepared.config.pagination
        assert pages is not None
        found, size = [], 0
        for number in range(1, pages.max_pages + 1):
            answer, call = await self._send(ctx, prepared, call, grant, values)
            body = await value_of(answer, config.response, config.empty_body, ctx)
            items = paging.items_of(pages, body)
            found += items
            size += len(answer.body)
            if len(found) > pages.max_items:
                raise paging.too_many(pages.max_items, "items")
            if size > self._tools.outgoing.response_bytes:
                raise paging.too_many(self._tools.outgoing.response_bytes, "bytes in all pages")
            url, sent, goes_on = paging.next_page(pages, answer, body, number, len(items))
            if not goes_on:
                return answer, found
            ctx.heartbeat({"page": number, "items": len(found)})
            if isinstance(pages, paging.CursorPages) and pages.place == "body":
                given = values.get("body")
                if not isinstance(given, dict | None):
                    raise invalid_request("a cursor goes into a body that is an object")
                call, grant = await self._call(ctx, prepared, values, {**(given or {}), **sent})
            else:
                call = _next(call, url, sent, values)
            call = _of_page(call, ctx.key, number + 1)
        raise paging.too_many(pages.max_pages, "pages")


def _of_page(call: Call, key: str, number: int) -> Call:
    """A server that remembers keys would answer every page with the first one."""
    own = (key, f"{key}/page/{number - 1}")
    headers = tuple((name, f"{key}/page/{number}" if value in own else value) for name, value in call.headers)
    return msgspec.structs.replace(call, headers=headers)


def _next(call: Call, url: str | None, sent: dict[str, Any], values: dict[str, Any]) -> Call:
    if url is not None:
        return msgspec.structs.replace(call, url=url)
    query = values.get("query")
    given = {**(query if isinstance(query, dict) else {}), **sent}
    return msgspec.structs.replace(call, url=with_query(values.get("url"), given))


def handler(tools: Toolbox) -> HandlerSpec:
    return HandlerSpec(Caller(tools), kind=NodeKind.EFFECT.value)


TYPE = NodeType(
    name="http",
    title="HTTP call",
    description="Calls a URL. Output: `status_code`, `url`, `method`, `headers`, `data`; or what a transformer gives.",
    config=HttpConfig,
    kind=NodeKind.EFFECT,
    prepare=prepare,
    plan=plan,
    reads=reads,
    looks_at=lambda prepared: forwarded(prepared.config.forward_thread).values(),
    retry=retry,
    group="Messages",
    icon="globe",
    examples=(
        {"url": "https://api.example/orders/{{data.id}}"},
        {"method": "POST", "url": "https://api.example/orders", "body": {"id": "${data.id}"}},
    ),
)
