"""What went wrong, in words of the error tree, and above all: whether the statement can have been committed."""

from __future__ import annotations

import asyncpg

from perdure.errors import InvalidInput, PerdureError, StoreError, StoreFull, StoreUnavailable

RETRYABLE = frozenset({"40001", "40P01"})
"""Serialization failure, deadlock: rolled back by the server, and the same statement may pass next time."""

_OF_ONE = frozenset({"55P03", "57014"})
"""Lock timeout, statement timeout: the fault of one row perhaps, so it is worth to try the others without it."""
_LOST = (None, "08003", "08006")
_NOT_NOW = ("08", "25", "40", "53", "55", "57", "58")


class AnswerLost(StoreUnavailable):
    """The statement was sent and no answer came: it may have been committed. Within this store only."""


def translate(problem: BaseException) -> PerdureError:
    """The error of a statement that the server has answered, or that could not be sent at all."""
    if isinstance(problem, PerdureError):
        return problem
    state = getattr(problem, "sqlstate", None)
    if not isinstance(problem, asyncpg.PostgresError) or state is None:
        return StoreUnavailable(f"PostgreSQL cannot be reached: {_words(problem)}", remedy="try again")
    if state == "53100":
        return StoreFull(f"PostgreSQL has no room left: {_words(problem)}", sqlstate=state)
    if state.startswith("22") or state == "54000":
        return InvalidInput(f"PostgreSQL refused a value: {_words(problem)}", sqlstate=state)
    if state.startswith(_NOT_NOW):
        return StoreUnavailable(f"PostgreSQL refused for now: {_words(problem)}", remedy="try again", sqlstate=state)
    return StoreError(f"PostgreSQL refused: {_words(problem)}", sqlstate=state)


def ends_connection(problem: asyncpg.PostgresError) -> bool:
    """Fatal errors and broken links: whatever was under way, how it ended is not known."""
    return getattr(problem, "severity_en", None) in ("FATAL", "PANIC") or problem.sqlstate in _LOST


def must_reconnect(problem: BaseException) -> bool:
    """The server became read-only: this connection leads to a standby now."""
    return getattr(problem, "sqlstate", None) == "25006"


def is_one_items_fault(problem: Exception) -> bool:
    """Whether a group that failed like this may succeed without one of its items."""
    if not isinstance(problem, StoreError):
        return True  # a value that cannot be encoded
    state = problem.details.get("sqlstate")
    return isinstance(state, str) and (state in _OF_ONE or not state.startswith(_NOT_NOW))


def _words(problem: BaseException) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
