"""A group that the server refuses is tried again without the culprit, so that one poisonous item fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from perdure.errors import CommitUnknown, StoreUnavailable
from perdure.stores.postgres.failures import AnswerLost, is_one_items_fault
from perdure.stores.postgres.links import Pool
from perdure.stores.postgres.queries import load_queries

T = TypeVar("T")
R = TypeVar("R")
Write: TypeAlias = Callable[[Sequence[T], float], Awaitable[Sequence[R | BaseException]]]
"""Items, and the time by which to answer."""

LOCK_TIMEOUT = "55P03"
_HELD = load_queries("journal")["held"]


async def around_held(
    pool: Pool, write: Write[T, R], items: Sequence[T], ends: float, run: Callable[[T], str]
) -> Sequence[R | BaseException]:
    """What `write` answers. If somebody else holds a head for too long, the other items do not wait for it again."""
    try:
        return await write(items, ends)
    except StoreUnavailable as problem:
        if problem.details.get("sqlstate") != LOCK_TIMEOUT or len(items) == 1:
            raise
        held = {row["id"] for row in await pool.fetch_by(ends, _HELD, [run(item) for item in items])}
        free = [item for item in items if run(item) not in held]
        if not free or not held:
            raise
        results = iter(await write(free, ends))
        return [problem if run(item) in held else next(results) for item in items]


async def isolating(write: Write[T, R], items: Sequence[T], ends: float) -> Sequence[R | BaseException]:
    """What `write` answers, or an error for each item; on an error that may be one item's fault, both halves are tried
    as long as there is time."""

    async def attempt(part: Sequence[T]) -> Sequence[R | BaseException]:
        try:
            return await write(part, ends)
        except AnswerLost as problem:
            unknown = f"whether it is committed is not known: {problem.message}"
            return [CommitUnknown(unknown, remedy="read again before deciding") for _ in part]
        except Exception as problem:
            if len(part) == 1 or not is_one_items_fault(problem):
                return [problem] * len(part)
        if asyncio.get_running_loop().time() > ends:
            return [StoreUnavailable("the group could not be written in time", remedy="try again") for _ in part]
        half = len(part) // 2
        return [*await attempt(part[:half]), *await attempt(part[half:])]

    return await attempt(items)
