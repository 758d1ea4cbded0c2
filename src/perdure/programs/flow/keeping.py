"""Answers that are kept: a node with `cache` is not executed again while the answer to the same question is good.

The question is all that decides the answer: the node's type and its configuration as it is written, in any case; the
configuration as it is resolved, what its code reads, what its handler reads of the thread context and its input, or,
where the document gives a key, that key in their place. Nothing of it may be left out because it looks fixed: the
versions of a definition, its nodes and, if they are shared, all definitions keep their answers side by side.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.errors import InvalidInput
from perdure.expressions import Template, compile_template
from perdure.kernel.program import Kept, Work
from perdure.kernel.state import Activation, RunState
from perdure.model.documents import CacheDoc
from perdure.model.times import parse_duration
from perdure.model.values import Json, encode_sorted

if TYPE_CHECKING:
    from perdure.programs.flow.graph import Node


MARKS = ("perfFlag", "perf")
"""Of the thread context: what a performance test was told is nothing for others, whatever the key says."""


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


def kept(node: Node, state: RunState, activation: Activation, work: Work, env: dict[str, Any]) -> Kept:
    """`env`: the names that the key reads."""
    cache, thread = node.cache, state.thread or {}
    assert cache is not None
    place = [None if cache.shared else state.definition, work.type, node.config, [thread.get(mark) for mark in MARKS]]
    if cache.key is None:
        config = work.config
        if cache.aside and isinstance(config, dict):
            config = {name: value for name, value in config.items() if name not in cache.aside}
        looks_at = node.type.looks_at(node.prepared) if node.type.looks_at is not None else ()
        seen = thread if looks_at is None else {name: thread[name] for name in looks_at if name in thread}
        return Kept(_hash([*place, config, work.bindings, seen, activation.input]), cache.ttl)
    key: Json = cache.key.resolve(env)
    if key is None or key == "":
        raise InvalidInput("the key of the cache is empty", pointer="/cache/key", expected="text that tells apart")
    return Kept(_hash([*place, None if cache.shared else activation.node, key]), cache.ttl)


def _hash(question: Json) -> str:
    return f"answer:{blake2b(encode_sorted(question), digest_size=20).hexdigest()}"
