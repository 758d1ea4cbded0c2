"""Search attributes as rows of an index: equal values have equal text."""

from __future__ import annotations

from typing import Any

import msgspec

_encode = msgspec.json.Encoder(order="sorted").encode


def attribute_text(value: Any) -> str:
    return _encode(value).decode()


def index_rows(namespace: str, run: str, attributes: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(namespace, name, attribute_text(value), run) for name, value in attributes.items()]
