"""Secrets in configurations: `{"secret": "NAME"}` in the place of a value.

Only what the author has written counts. Data that a template brings in may look the same and stays data: otherwise
whoever sends an order could send `{"secret": "PAYMENT_KEY"}` in it and have the key delivered. So the places are
noted from the document, before anything is resolved, and handed to the handler beside the resolved values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from perdure.model.values import Json
from perdure.nodes.config import NodeConfig, has_placeholder

Place = list[str | int]


class SecretName(NodeConfig):
    """A secret by its name. It is read when the node executes and is recorded nowhere."""

    secret: Annotated[
        str,
        Field(
            min_length=1,
            max_length=256,
            title="Secret",
            description="The name of the secret.",
            examples=["BILLING_KEY"],
        ),
    ]


def is_secret(value: Any) -> bool:
    """One whose name is computed is none: whoever brings the data could choose among all."""
    name = value.get("secret") if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(name, str) and bool(name) and not has_placeholder(name)


def secret_places(value: Json) -> list[Place]:
    """Where in a value, as the document has it, secrets stand."""
    if is_secret(value):
        return [[]]
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [[key, *rest] for key, part in inner for rest in secret_places(part)]


async def fill_secrets(value: Json, places: list[Place], get: Callable[[str], Awaitable[str]]) -> Json:
    """The value with the secrets in their places; the value given is left as it is. Raises NotFound."""
    for place in places:
        value = await _filled(value, place, get)
    return value


async def _filled(value: Json, place: Place, get: Callable[[str], Awaitable[str]]) -> Json:
    if not place:
        return await get(value["secret"]) if is_secret(value) else value
    key, *rest = place
    if isinstance(value, dict) and key in value:
        return {**value, key: await _filled(value[key], rest, get)}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return [*value[:key], await _filled(value[key], rest, get), *value[key + 1 :]]
    return value
