"""Long work on documents in a thread: nothing else moves in a process while its event loop is busy.

A small document is done with at once, where it stands; that is quicker, and whoever reads a trace sees it in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

LARGE = 16 * 1024
"""Characters of a document from which on it is not looked at on the loop; scripts make some milliseconds of each
hundred."""
_ITEM = 8
"""What a value counts whatever it is."""

T = TypeVar("T")
P = ParamSpec("P")


def is_large(document: Any) -> bool:
    """Counts no further than it must, so that it ends for a document that holds itself too."""
    count, todo = 0, [document]
    while todo and count <= LARGE:
        value = todo.pop()
        count += _ITEM
        if isinstance(value, str):
            count += len(value)
        elif isinstance(value, dict):
            todo.extend(value.keys())
            todo.extend(value.values())
        elif isinstance(value, list | tuple):
            todo.extend(value)
    return count > LARGE


async def off_loop(document: Any, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` gives, done in a thread if the document that it is about is large."""
    if is_large(document):
        return await asyncio.to_thread(work, *args, **kwargs)
    return work(*args, **kwargs)
