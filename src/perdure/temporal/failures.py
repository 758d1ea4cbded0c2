"""Failures as Temporal carries them, and back. The structured part travels in the details of an ApplicationError."""

from __future__ import annotations

import msgspec
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    FailureError,
    TimeoutError,  # noqa: A004 — Temporal's name for it
    TimeoutType,
)

from perdure.model.commands import CancelDone, ChildEnded, Fail
from perdure.model.failures import Failure
from perdure.model.values import Json


class Told(msgspec.Struct, frozen=True):
    """The details of our errors."""

    status: str
    failure: Failure
    output: Json = None
    """What the handler had produced before it failed."""


def as_error(status: str, failure: Failure, output: Json = None) -> ApplicationError:
    return ApplicationError(failure.message, Told(status, failure, output), type=failure.code, non_retryable=True)


def told_by(error: BaseException | None) -> Told | None:
    if not isinstance(error, ApplicationError) or not error.details:
        return None
    try:
        return msgspec.convert(error.details[0], Told)
    except msgspec.ValidationError:
        return None  # somebody else's


def is_out_of_time(error: ActivityError) -> bool:
    """It had what was left of the run's active time."""
    cause = error.cause
    return isinstance(cause, TimeoutError) and cause.type == TimeoutType.SCHEDULE_TO_CLOSE


def of_activity(error: ActivityError, id: int, attempt: int, at_most_once: bool) -> Fail | CancelDone:
    cause = error.cause
    if isinstance(cause, CancelledError):
        return CancelDone(id, unknown=True)
    told = told_by(cause)
    if told is not None:
        return Fail(id, attempt, told.failure, told.output)
    # Nothing was heard of the handler: its worker died, or it took longer than the whole run may.
    if at_most_once:
        unknown = "nothing was heard of it; whether it took effect is not known, and it must not be repeated"
        return Fail(id, attempt, Failure("OUTCOME_UNKNOWN", unknown))
    return Fail(id, attempt, Failure("WORKER_DIED", f"nothing was heard of it: {_text(cause)}", retryable=True))


def of_child(error: ActivityError | ChildWorkflowError, id: int, run: str) -> ChildEnded:
    cause = error.cause
    if isinstance(cause, CancelledError):
        return ChildEnded(id, run, "CANCELLED")
    told = told_by(cause)
    if told is not None:
        return ChildEnded(id, run, told.status, failure=told.failure)
    status = "TIMED_OUT" if isinstance(cause, TimeoutError) else "FAILED"
    return ChildEnded(id, run, status, failure=Failure("CHILD_FAILED", _text(cause)))


def too_deep(id: int, run: str, limit: int) -> ChildEnded:
    return ChildEnded(id, run, "FAILED", failure=Failure("LIMIT_CHILD_DEPTH", f"nested deeper than {limit}"))


def _text(cause: BaseException | None) -> str:
    return cause.message if isinstance(cause, FailureError) else str(cause)
