"""Every error that Perdure raises, in one tree.

    PerdureError
    ├── CallerError                 the caller can mend it (4xx)
    │   ├── InvalidInput            INVALID_INPUT        400   a value that no request may hold (NaN, NUL, too deep …)
    │   ├── DocumentInvalid         DOCUMENT_INVALID     422   a definition with problems, all of them listed
    │   ├── NotJson                 NOT_JSON             415   a request whose body is not called JSON
    │   ├── Forbidden               FORBIDDEN            403
    │   ├── TokenInvalid            TOKEN_INVALID        403   a token for a task that is not ours, or was changed
    │   ├── TokenExpired            TOKEN_EXPIRED        410   a token for a task whose time is over
    │   ├── NotFound                NOT_FOUND            404
    │   ├── NotInstalled            NOT_INSTALLED        404   a step or node type that this process does not have
    │   ├── Conflict                CONFLICT             409   the request contradicts what is already so
    │   │   ├── IllegalCommand      ILLEGAL_COMMAND      409   the run's status does not allow the command
    │   │   ├── KeyReused           KEY_REUSED           409   same idempotency key or signal id, other content
    │   │   ├── TaskClosed          TASK_CLOSED          409   a task for a person that is closed already
    │   │   └── DraftChanged        DRAFT_CHANGED        409   somebody else saved the draft in between
    │   ├── TooMuch                 TOO_MUCH             413   a published size limit is exceeded
    │   ├── TooSlow                 TOO_SLOW             408   a request that did not come to its end in time
    │   └── Busy                    BUSY                 429   back-pressure; the same call may be repeated later
    ├── ExpressionError             the author of an expression can mend it (422)
    │   ├── ExpressionSyntax        EXPRESSION_SYNTAX    found when the text is compiled
    │   ├── ExpressionFailed        EXPRESSION_FAILED    division by zero, wrong types, no such key …
    │   ├── ValueMissing            VALUE_MISSING        strict mode: a path leads nowhere
    │   ├── ExpressionLimit         EXPRESSION_LIMIT     would cost more steps or bytes than allowed
    │   └── ReferenceCycle          REFERENCE_CYCLE      a → b → a
    ├── RunEnded                    RUN_ENDED            409   asked for the result of a run that did not complete
    ├── StoreError                  the database's fault
    │   ├── StoreUnavailable        STORE_UNAVAILABLE    503   cannot be reached, or a call took too long; retry
    │   ├── CommitUnknown           COMMIT_UNKNOWN       503   the answer to a commit was lost: re-read before deciding
    │   ├── StoreFull               STORE_FULL           507
    │   ├── StoreLocked             STORE_LOCKED         409   another server owns this SQLite file
    │   ├── SchemaMismatch          SCHEMA_MISMATCH      500   the database is newer or older than this program
    │   └── HistoryUnreadable       HISTORY_UNREADABLE   500   an event that this program cannot decode
    ├── SettingsInvalid             SETTINGS_INVALID     500   named at start, before anything runs
    └── InvariantBroken             INVARIANT_BROKEN     500   a bug in Perdure; please report it

Each class says whose `fault` it is, whether repeating the same call can help (`retryable`), which HTTP `status` an API
gives, and has a stable `code`. Messages are one sentence that says what is wrong; `expected` and `remedy` say what
would be right. Failures *inside* a run are data, not exceptions: see `perdure.model.failures`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

Fault = Literal["caller", "author", "run", "store", "operator", "perdure"]

_TOLD = 5
"""How many mistakes of a document its error names."""


class PerdureError(Exception):
    """The root. Never raised itself."""

    code: ClassVar[str] = "INTERNAL"
    fault: ClassVar[Fault] = "perdure"
    retryable: ClassVar[bool] = False
    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        pointer: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer
        self.expected = expected
        self.remedy = remedy
        self.details = details

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON, the same in the REST API, in `--json` output and in logs."""
        found = {
            "code": self.code,
            "message": self.message,
            "pointer": self.pointer,
            "expected": self.expected,
            "remedy": self.remedy,
            **self.details,
        }
        return {name: value for name, value in found.items() if value is not None}


class CallerError(PerdureError):
    code, fault, status = "CALLER", "caller", 400


class InvalidInput(CallerError):
    code, status = "INVALID_INPUT", 400


class DocumentInvalid(CallerError):
    """A definition that cannot be saved. `problems` lists every mistake, each with code and JSON pointer."""

    code, status = "DOCUMENT_INVALID", 422

    def __init__(self, message: str, problems: list[dict[str, Any]], **rest: Any) -> None:
        super().__init__(message, problems=problems, **rest)
        self.problems = problems

    def __str__(self) -> str:
        """A traceback shows nothing else of it, so it names the first mistakes. `message` stays one sentence, since
        those who show it have the whole list beside it."""
        errors = [each for each in self.problems if each.get("severity") != "warning"] or self.problems
        told = [f"{each.get('pointer') or '/'}: {each.get('message')} [{each.get('code')}]" for each in errors]
        rest = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
        return "\n  ".join([f"{self.message}:" if told else self.message, *told[:_TOLD], *rest])


class NotJson(CallerError):
    code, status = "NOT_JSON", 415


class Forbidden(CallerError):
    code, status = "FORBIDDEN", 403


class TokenInvalid(CallerError):
    code, status = "TOKEN_INVALID", 403


class TokenExpired(CallerError):
    code, status = "TOKEN_EXPIRED", 410


class NotFound(CallerError):
    code, status = "NOT_FOUND", 404


class NotInstalled(CallerError):
    """Something that other processes may have: `kind` is step, node type and the like."""

    code, status = "NOT_INSTALLED", 404

    def __init__(self, message: str, *, kind: str, name: str, **rest: Any) -> None:
        super().__init__(message, kind=kind, name=name, **rest)
        self.kind = kind
        self.name = name


class Conflict(CallerError):
    code, status = "CONFLICT", 409


class IllegalCommand(Conflict):
    code = "ILLEGAL_COMMAND"


class KeyReused(Conflict):
    code = "KEY_REUSED"


class TaskClosed(Conflict):
    code = "TASK_CLOSED"


class DraftChanged(Conflict):
    code = "DRAFT_CHANGED"


class TooMuch(CallerError):
    code, status = "TOO_MUCH", 413


class TooSlow(CallerError):
    code, status, retryable = "TOO_SLOW", 408, True


class Busy(CallerError):
    code, status, retryable = "BUSY", 429, True


class ExpressionError(PerdureError):
    """An expression or template that cannot be compiled or evaluated; knows where in its source."""

    code, fault, status = "EXPRESSION", "author", 422

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
        **rest: Any,
    ) -> None:
        super().__init__(message, source=source, line=line, column=column, **rest)
        self.source = source
        self.line = line
        self.column = column


class ExpressionSyntax(ExpressionError):
    code = "EXPRESSION_SYNTAX"


class ExpressionFailed(ExpressionError):
    code = "EXPRESSION_FAILED"


class ValueMissing(ExpressionError):
    code = "VALUE_MISSING"


class ExpressionLimit(ExpressionError):
    code = "EXPRESSION_LIMIT"


class ReferenceCycle(ExpressionError):
    code = "REFERENCE_CYCLE"


class RunEnded(PerdureError):
    """The run whose result was asked for ended without one. `status_name` is FAILED, CANCELLED or TIMED_OUT."""

    code, fault, status = "RUN_ENDED", "run", 409

    def __init__(self, message: str, *, run: str, status_name: str, failure: dict[str, Any] | None) -> None:
        super().__init__(message, run=run, run_status=status_name, failure=failure)
        self.run = run
        self.status_name = status_name
        self.failure = failure


class StoreError(PerdureError):
    code, fault, status = "STORE", "store", 503


class StoreUnavailable(StoreError):
    code, retryable = "STORE_UNAVAILABLE", True


class CommitUnknown(StoreError):
    code, retryable = "COMMIT_UNKNOWN", True


class StoreFull(StoreError):
    code, status, retryable = "STORE_FULL", 507, True


class StoreLocked(StoreError):
    code, status = "STORE_LOCKED", 409


class SchemaMismatch(StoreError):
    code, status = "SCHEMA_MISMATCH", 500


class HistoryUnreadable(StoreError):
    code, status = "HISTORY_UNREADABLE", 500


class SettingsInvalid(PerdureError):
    code, fault = "SETTINGS_INVALID", "operator"


class InvariantBroken(PerdureError):
    code = "INVARIANT_BROKEN"
