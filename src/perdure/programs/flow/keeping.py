"""Answers that are kept: a node with `cache` is not executed again while the answer to the same question is good.

The question is the node's type, its resolved configuration, what its code reads and its input; or, where the document
gives a key, that key and the node. Answers are kept per definition, unless they are shared.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import Any

import msgspec

from perdure.errors import InvalidInput
from perdure.expressions import Template, compile_template
from perdure.kernel.program import Kept, Work
from perdure.kernel.state import Activation, RunState
from perdure.model.documents import CacheDoc
from perdure.model.times import parse_duration
from perdure.model.values import Json, encode_sorted


class Cache(msgspec.Struct, frozen=True):
    ttl: int
    key: Template | None
    shared: bool
    aside: frozenset[str] = frozenset()
    """Fields of the resolved configuration that are no part of the question."""

    @property
    def reads(self) -> Collection[tuple[str | int, ...]]:
        return self.key.reads if self.key is not None else ()


def cache_of(doc: CacheDoc | None, aside: frozenset[str]) -> Cache | None:
    if doc is None:
        return None
    key = compile_template(doc.key) if doc.key is not None else None
    return Cache(parse_duration(doc.ttl), key, doc.shared, aside)


def kept(cache: Cache, state: RunState, activation: Activation, work: Work, env: dict[str, Any]) -> Kept:
    """`env`: the names that the key reads."""
    place = None if cache.shared else state.definition
    if cache.key is None:
        config = work.config
        if cache.aside and isinstance(config, dict):
            config = {name: value for name, value in config.items() if name not in cache.aside}
        return Kept(_hash([place, work.type, config, work.bindings, activation.input]), cache.ttl)
    key: Json = cache.key.resolve(env)
    if key is None or key == "":
        raise InvalidInput("the key of the cache is empty", pointer="/cache/key", expected="text that tells apart")
    return Kept(_hash([place, work.type, None if cache.shared else activation.node, key]), cache.ttl)


def _hash(question: Json) -> str:
    return f"answer:{blake2b(encode_sorted(question), digest_size=20).hexdigest()}"
