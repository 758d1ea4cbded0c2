"""What a handler did, as the command that tells its run."""

from __future__ import annotations

from typing import Any

from perdure.engine.handlers import ActivationError, Result
from perdure.engine.outputs import purified
from perdure.errors import InvalidInput, PerdureError
from perdure.model.commands import Complete, Fail
from perdure.model.failures import Failure, failure_from
from perdure.model.values import check_name

_MESSAGE = 2_000
"""Characters of an exception's message that are kept."""


def completed(id: int, attempt: int, returned: Any) -> Complete | Fail:
    try:
        if type(returned) is Result:
            output, size = purified(returned.output)
            if returned.outcome is not None:
                check_name(returned.outcome, "/outcome")
            if returned.vars is not None:
                variables, more = purified(dict(returned.vars))
                return Complete(id, attempt, output, returned.outcome, variables, size + more)
            return Complete(id, attempt, output, returned.outcome, None, size)
        output, size = purified(returned)
    except InvalidInput as problem:
        message = (
            f"what the handler returned is {problem.message}" if problem.message.startswith("not") else problem.message
        )
        return Fail(
            id,
            attempt,
            Failure("OUTPUT_INVALID", message, details={"pointer": problem.pointer} if problem.pointer else None),
        )
    return Complete(id, attempt, output, None, None, size)


def failed(id: int, attempt: int, problem: BaseException) -> Fail:
    if isinstance(problem, ActivationError):
        return _as_it_says(id, attempt, problem)
    if isinstance(problem, PerdureError):
        return Fail(id, attempt, failure_from(problem))
    # What user code raises may pass with time, as far as we know; a retry policy decides whether it is tried again.
    message = _readable(problem)
    return Fail(
        id, attempt, Failure("NODE_FAILED", message, retryable=True, details={"exception": type(problem).__name__})
    )


def _as_it_says(id: int, attempt: int, error: ActivationError) -> Fail:
    wait = None if error.retry_after is None else max(0, int(error.retry_after * 1_000_000))
    message = _readable(error)
    try:
        output, _ = purified(error.output)
        details = purified(error.details)[0] if error.details is not None else None
    except InvalidInput:
        output, details = None, {"note": "its partial output was not JSON and is left out"}
    return Fail(id, attempt, Failure(str(error.code), message, error.retryable, None, wait, details), output)


def timed_out(id: int, attempt: int) -> Fail:
    return Fail(id, attempt, Failure("TIMEOUT", "the attempt took longer than it may", retryable=True))


def cancelled_itself(id: int, attempt: int) -> Fail:
    """It raised CancelledError although nobody had cancelled it."""
    return Fail(id, attempt, Failure("NODE_FAILED", "the handler cancelled itself", retryable=True))


def _readable(problem: BaseException) -> str:
    try:
        text = str(problem).encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    except Exception:
        text = ""
    name = type(problem).__name__
    if isinstance(problem, KeyError | SystemExit | StopIteration):
        return f"{name}: {text}"[:_MESSAGE]  # their text alone says nothing
    return text[:_MESSAGE] or name
