"""Who calls: the headers by which the other side knows us."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Any, Literal
from urllib.parse import quote_plus

from pydantic import AfterValidator, AliasChoices, Field, TypeAdapter, ValidationError, WithJsonSchema

from perdure.engine.context import ActivationContext
from perdure.nodes.config import NodeConfig, has_placeholder
from perdure.nodes.outgoing.failures import CallFailed, invalid_request
from perdure.nodes.outgoing.policy import AuthClient
from perdure.nodes.outgoing.tokens import Grant
from perdure.nodes.outgoing.urls import read_url, what_is_wrong_with_header
from perdure.nodes.secret_values import is_secret
from perdure.nodes.toolbox import Toolbox
from perdure.programs.flow.fields import TEMPLATE


def _confidential(value: Any) -> Any:
    if not isinstance(value, str) and not is_secret(value):
        raise ValueError('a secret is written {"secret": "NAME"}')
    return value


def _token_url(value: str) -> str:
    if not has_placeholder(value):
        read_url(value)
    return value


def _header_name(value: str) -> str:
    wrong = what_is_wrong_with_header(value)
    if wrong is not None:
        raise ValueError(wrong)
    return value


Confidential = Annotated[
    Any,
    AfterValidator(_confidential),
    TEMPLATE,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "properties": {"secret": {"type": "string"}}, "required": ["secret"]},
                {"type": "string"},
            ],
            "x-perdure": "template",
        }
    ),
]
Plain = Annotated[str, TEMPLATE, Field(max_length=1024)]


class HeaderAuth(NodeConfig):
    type: Literal["header"]
    name: Annotated[str, AfterValidator(_header_name)] = Field(
        title="Header", description="The name of the header.", examples=["X-Api-Key"]
    )
    value: Confidential = Field(title="Value", description="What it holds.", examples=[{"secret": "API_KEY"}])


class BasicAuth(NodeConfig):
    type: Literal["basic"]
    username: Plain = Field(title="Name", description="Who calls.", examples=["perdure"])
    password: Confidential = Field(
        title="Password", description="Sent with the name.", examples=[{"secret": "API_PASSWORD"}]
    )


class BearerAuth(NodeConfig):
    type: Literal["bearer"]
    token: Confidential = Field(
        title="Token", description="Sent as `Authorization: Bearer`.", examples=[{"secret": "API_TOKEN"}]
    )


class OAuth2Auth(NodeConfig):
    """Client credentials. The token is kept until shortly before it ends, and fetched anew once after a 401."""

    type: Literal["oauth2"]
    token_url: Annotated[str, AfterValidator(_token_url), TEMPLATE] = Field(
        validation_alias=AliasChoices("tokenUrl", "token_url"),
        title="Token URL",
        description="Where tokens are fetched.",
        examples=["https://id.example/token"],
    )
    client_id: Plain = Field(
        validation_alias=AliasChoices("clientId", "client_id"),
        title="Client",
        description="The id of the client.",
        examples=["perdure"],
    )
    client_secret: Confidential = Field(
        validation_alias=AliasChoices("clientSecret", "client_secret"),
        title="Secret",
        description="The secret of the client.",
        examples=[{"secret": "CLIENT"}],
    )
    scope: Plain | None = Field(
        None, title="Scope", description="What the token is to allow.", examples=["orders.read"]
    )
    audience: Plain | None = Field(
        None, title="Audience", description="For whom the token is.", examples=["https://api.example"]
    )


class ClientAuth(NodeConfig):
    type: Literal["client"]
    name: str = Field(min_length=1, max_length=256, title="Client", description="One of `http_clients`.")


ClientName = Annotated[str, Field(min_length=1, max_length=256)]
Kinds = Annotated[HeaderAuth | BasicAuth | BearerAuth | OAuth2Auth | ClientAuth, Field(discriminator="type")]
Auth = ClientName | Kinds

_READER: TypeAdapter[Auth] = TypeAdapter(Auth)


async def authorized(auth: Any, ctx: ActivationContext, tools: Toolbox) -> tuple[list[tuple[str, str]], Grant | None]:
    """Headers for the call, and how to get another token if this one is refused. Secrets are filled in already."""
    if auth is None:
        return [], None
    try:
        read = _READER.validate_python(auth)
    except ValidationError:
        raise invalid_request("what its placeholders have made of `auth` says not who calls") from None
    match read:
        case HeaderAuth(name=name, value=value):
            return [(name, _text(value))], None
        case BasicAuth(username=username, password=password):
            if ":" in username:
                raise invalid_request("a user name has no colon in it")
            pair = b64encode(f"{username}:{_text(password)}".encode()).decode()
            return [("Authorization", f"Basic {pair}")], None
        case BearerAuth(token=token):
            return [("Authorization", f"Bearer {_text(token)}")], None
        case OAuth2Auth() as given:
            grant = Grant(given.token_url, given.client_id, given.scope, given.audience)

            async def secret() -> str:
                return _text(given.client_secret)

            return await _with_token(grant, secret, ctx, tools)
        case str() as name:
            return await _named(name, ctx, tools)
        case ClientAuth(name=name):
            return await _named(name, ctx, tools)


async def _named(name: str, ctx: ActivationContext, tools: Toolbox) -> tuple[list[tuple[str, str]], Grant | None]:
    client: AuthClient | None = tools.outgoing.clients.get(name)
    if client is None:
        raise CallFailed("HTTP_AUTH_FAILED", f"there is no client {name!r}", details={"setting": "http_clients"})
    grant = Grant(client.token_url, client.client_id, client.scope, client.audience)
    return await _with_token(grant, lambda: ctx.secret(client.secret), ctx, tools)


async def _with_token(
    grant: Grant, secret: Any, ctx: ActivationContext, tools: Toolbox
) -> tuple[list[tuple[str, str]], Grant | None]:
    async def known() -> str:
        found = str(await secret())
        ctx.conceal(quote_plus(found))  # so it is sent, in base64
        return found

    token = await tools.tokens.get(ctx.namespace, grant, known)
    ctx.conceal(token)
    return [("Authorization", f"Bearer {token}")], grant


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise invalid_request("what says who calls is not text")
    return value
