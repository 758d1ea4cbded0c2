"""An expression: compiled once per source, evaluated as often as you like."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple, Protocol, cast

from perdure.errors import ExpressionError, ExpressionLimit
from perdure.expressions.emit import Emitter, MissingPolicy, emit_function
from perdure.expressions.limits import DEFAULT_LIMITS, Limits, Meter
from perdure.expressions.parser import parse
from perdure.expressions.places import line_and_column, offset_of, placed
from perdure.expressions.sources import legible, readable
from perdure.expressions.values import Env, Json

CACHE_SIZE: Final = 4_096
MISSING_POLICIES: Final[tuple[MissingPolicy, ...]] = ("error", "null", "gval")


class Evaluate(Protocol):
    """What `Expression.evaluate` is. A caller who evaluates several expressions may give them one meter."""

    def __call__(self, env: Env, /, *, meter: Meter | None = None) -> Json: ...


class Expression:
    """A compiled expression. Made by `compile_expression`; immutable and safe to share between threads.

    `evaluate(env)` gives its value in an environment: a mapping from names to JSON values, which are never changed. The
    result may share parts with the environment. It raises `ValueMissing`, `ExpressionFailed` or `ExpressionLimit`, each
    with line, column and snippet.
    """

    __slots__ = ("evaluate", "metered", "names", "reads", "source")

    source: str
    #: The root names that it reads.
    names: frozenset[str]
    #: The same with the constant keys that follow: {("order", "total"), ("limit",)}.
    reads: frozenset[tuple[str | int, ...]]
    #: The compiled function itself, so that calling it costs one call.
    evaluate: Evaluate
    #: Whether it does anything that is paid for.
    metered: bool

    def __init__(
        self, source: str, evaluate: Evaluate, reads: frozenset[tuple[str | int, ...]], *, metered: bool
    ) -> None:
        self.source = source
        self.evaluate = evaluate
        self.metered = metered
        self.reads = reads
        self.names = frozenset(str(each[0]) for each in reads)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


class CacheInfo(NamedTuple):
    """How often a compiled form was found, and how often it had to be made."""

    hits: int
    misses: int
    maxsize: int | None
    currsize: int


class Problem(NamedTuple):
    """What is wrong with a text, for whoever shows it: an editor, a validator."""

    code: str
    line: int
    column: int
    message: str
    remedy: str | None = None

    @classmethod
    def of(cls, fault: ExpressionError) -> Problem:
        return cls(fault.code, fault.line or 1, fault.column or 1, fault.message, fault.remedy)

    def moved(self, text: str, source: str, start: int) -> Problem:
        """The same problem of `text`, which stands at `start` in `source`."""
        line, column = line_and_column(source, start + offset_of(text, self.line, self.column))
        return self._replace(line=line, column=column)


def compile_expression(source: str, *, limits: Limits = DEFAULT_LIMITS, missing: MissingPolicy = "error") -> Expression:
    """The expression that `source` spells; the last 4,096 are kept.

    With `missing="null"` a path that leads nowhere is null everywhere. With `missing="gval"` it is, too, and operators
    do what they do in that library of Go (`gval`).
    """
    return _compiled(source, limits, missing)


def charged(evaluate: Evaluate, env: Env, meter: Meter, limits: Limits = DEFAULT_LIMITS) -> Json:
    """Evaluates within its own limits, and what that has cost is taken from a meter of several."""
    own = limits.meter()
    try:
        return evaluate(env, meter=own)
    finally:
        meter[0] -= limits.steps - max(own[0], 0)
        meter[1] -= limits.work - max(own[1], 0)
        if meter[0] < 0 or meter[1] < 0:
            raise ExpressionLimit("its expressions are too much work for one template or node, taken together")


def check_expression(
    source: str, *, limits: Limits = DEFAULT_LIMITS, missing: MissingPolicy = "error"
) -> list[Problem]:
    """Everything that is wrong with `source`. Empty when it compiles. Never raises."""
    try:
        readable(source, "expression", limits)
        legible(source)
        to = Emitter(source, limits, missing)
        to.emit(parse(source, limits))
        found = to.problems
        if not found:
            _compiled(source, limits, missing)
    except ExpressionError as fault:
        return [Problem.of(fault)]
    except RecursionError:
        return [Problem.of(_too_deep(source))]
    return [Problem.of(each) for each in found]


def cache_info() -> CacheInfo:
    """The counters of the cache of `compile_expression`: ten thousand evaluations are one miss."""
    return CacheInfo(*_compiled.cache_info())


def _too_deep(source: str) -> ExpressionLimit:
    """The parser's own limit comes first, unless the caller has used up most of the stack."""
    return placed(ExpressionLimit("the expression is nested too deeply"), source, 0, 1)


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(source: str, limits: Limits, missing: MissingPolicy) -> Expression:
    readable(source, "expression", limits)
    legible(source)
    try:
        made, to = emit_function(parse(source, limits), source, limits, missing)
    except (RecursionError, MemoryError):
        raise _too_deep(source) from None
    return Expression(source, cast(Evaluate, made), frozenset(to.reads), metered=to.needs_meter)
