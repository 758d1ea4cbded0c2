"""What a handler did, as the command that tells its run."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.engine.concealing import Concealed
from perdure.engine.handlers import ActivationError, Result
from perdure.engine.outputs import purified, purified_object
from perdure.errors import InvalidInput, PerdureError
from perdure.model.commands import Complete, Fail
from perdure.model.failures import Failure, failure_from
from perdure.model.policies import SECOND
from perdure.model.values import check_name
from perdure.model.waits import AnyWait, Wait

_LONGEST_PAUSE = 366 * 24 * 3600 * SECOND
_MESSAGE = 2_000
"""Characters of an exception's message that are kept."""


def completed(id: int, attempt: int, returned: Any) -> Complete | Fail:
    try:
        if isinstance(returned, Wait):
            return _waiting(id, attempt, returned)
        if type(returned) is not Result:
            output, size = purified(returned)
            return Complete(id, attempt, output, None, None, size)
        output, size = purified(returned.output)
        if returned.outcome is not None:
            check_name(returned.outcome, "/outcome")
        variables = beside = None
        if returned.vars is not None:
            variables, more = purified_object(returned.vars, "/vars")
            size += more
        if returned.beside is not None:
            beside, more = purified_object(returned.beside, "/beside")
            size += more
        return Complete(id, attempt, output, returned.outcome, variables, size, beside)
    except InvalidInput as problem:
        place = f" at {problem.pointer}" if problem.pointer else ""
        message = f"what the handler returned cannot be kept: {problem.message}{place}"
        details = {"pointer": problem.pointer} if problem.pointer else None
        return Fail(id, attempt, Failure("OUTPUT_INVALID", message, details=details))


def _waiting(id: int, attempt: int, wait: Wait) -> Complete:
    """Through JSON, as on a runtime that carries it: so nothing in it can be changed any more, and it is well made."""
    pure, size = purified(msgspec.to_builtins(wait))
    try:
        return Complete(id, attempt, size=size, then=msgspec.convert(pure, AnyWait))
    except msgspec.ValidationError as problem:
        raise InvalidInput(f"a wait that is not well made: {problem}") from problem


def failed(id: int, attempt: int, problem: BaseException, concealed: Concealed | None = None) -> Fail:
    """Never raises, whatever it is that the handler has raised. Long messages are cut, and secrets before that."""
    if isinstance(problem, ActivationError):
        return _as_it_says(id, attempt, problem, concealed)
    if isinstance(problem, PerdureError):
        failure = failure_from(problem)
        kept = _kept(failure.details)
        return Fail(id, attempt, msgspec.structs.replace(failure, message=_readable(problem, concealed), details=kept))
    # What user code raises may pass with time, as far as we know; a retry policy decides whether it is tried again.
    message = _readable(problem, concealed)
    return Fail(
        id, attempt, Failure("NODE_FAILED", message, retryable=True, details={"exception": type(problem).__name__})
    )


def _as_it_says(id: int, attempt: int, error: ActivationError, concealed: Concealed | None) -> Fail:
    output, details = None, _kept(error.details)
    try:
        output, _ = purified(error.output)
    except InvalidInput:
        details = {**(details or {}), "note": "its partial output was not JSON and is left out"}
    code, message = _plain(error.code) or "NODE_FAILED", _readable(error, concealed)
    return Fail(id, attempt, Failure(code, message, bool(error.retryable), None, _pause(error), details), output)


def _kept(details: Any) -> dict[str, Any] | None:
    """As much of an error's details as is JSON: they are there to help, so one that is odd does not cost the others."""
    if not isinstance(details, dict):
        return None
    kept: dict[str, Any] = {}
    for name, value in details.items():
        try:
            kept |= purified_object({name: value}, "")[0]
        except InvalidInput:
            kept["note"] = "what was not JSON is left out"
    return kept or None


def _pause(error: ActivationError) -> int | None:
    """What is no duration asks for nothing."""
    try:
        return None if error.retry_after is None else min(max(0, int(error.retry_after * SECOND)), _LONGEST_PAUSE)
    except (TypeError, ValueError, OverflowError):
        return None


def timed_out(id: int, attempt: int) -> Fail:
    return Fail(id, attempt, Failure("TIMEOUT", "the attempt took longer than it may", retryable=True))


def cancelled_itself(id: int, attempt: int) -> Fail:
    """It raised CancelledError although nobody had cancelled it."""
    return Fail(id, attempt, Failure("NODE_FAILED", "the handler cancelled itself", retryable=True))


def _readable(problem: BaseException, concealed: Concealed | None) -> str:
    text = _plain(problem)
    if concealed is not None:
        text = concealed.text(text)
    name = type(problem).__name__
    if isinstance(problem, KeyError | SystemExit | StopIteration):
        return f"{name}: {text}"[:_MESSAGE]  # their text alone says nothing
    return text[:_MESSAGE] or name


def _plain(said: object) -> str:
    """As a text that every store can keep."""
    try:
        return str(said).encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    except Exception:
        return ""
