"""rate-limit: lets no more through than so many per period, over all runs and workers of the namespace.

Runs with the same key share a limit. After a quiet time up to `burst` pass at once; in any stretch of time no more pass
than `burst` plus what the rate allows in it. Who comes too early waits its turn (a durable sleep that holds nothing),
takes the outcome `limited`, or fails with RATE_LIMITED, as does whoever would have to wait longer than `max_wait`.
A node that is executed again after a crash may use up two places; it never makes one.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal
from weakref import WeakValueDictionary

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, HandlerSpec, Result
from perdure.errors import StoreUnavailable
from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.times import Duration, parse_duration
from perdure.model.values import digest, text_of
from perdure.nodes.config import DynamicDuration, NodeConfig, TemplateText, has_placeholder, micros_of, template
from perdure.ports.cells import ABSENT
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse, Sleep

PASSED, LIMITED = "passed", "limited"
MOST = 1_000_000
TRIES = 1000
"""How often somebody else may be faster with the same key before we say that something is wrong."""


def _whole(value: Any) -> Any:
    if not has_placeholder(value) and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST):
        raise ValueError(f"a whole number from 1 to {MOST:,} is expected, or a placeholder that gives one")
    return value


Count = Annotated[int | str, BeforeValidator(_whole), TEMPLATE]


def _some_time(value: str | float) -> str | float:
    if parse_duration(value) <= 0:
        raise ValueError("no time at all; a period above zero is expected")
    return value


Period = Annotated[Duration, AfterValidator(_some_time)]


class RateLimitConfig(NodeConfig):
    key: TemplateText = Field(
        max_length=1024,
        title="Key",
        description="Runs with the same key share the limit, whatever flow they belong to.",
        examples=["crm-api", "customer-{{data.customer}}"],
    )
    rate: Count = Field(title="Rate", description="How many may pass in a period.", examples=[10, "${vars.rate}"])
    period: Period = Field("1s", title="Period", description="The time for the rate.", examples=["1m", "1h"])
    burst: Count | None = Field(
        None,
        title="At once",
        description="How many may pass at once after a quiet time. Without it, as many as the rate.",
        examples=[1],
    )
    exceeded: Literal["wait", "limited", "fail"] = Field(
        "wait",
        title="If it is exceeded",
        description="Wait for one's turn, go on by the outcome `limited`, or fail with RATE_LIMITED.",
        examples=["limited"],
    )
    max_wait: DynamicDuration | None = Field(
        None,
        title="Wait at most",
        description="Who would have to wait longer fails with RATE_LIMITED at once.",
        examples=["5m"],
    )


class Prepared(msgspec.Struct, frozen=True):
    key: Template
    rate: Template
    period: int
    burst: Template | None
    exceeded: str
    max_wait: Template | None


def prepare(config: RateLimitConfig) -> Prepared:
    burst, max_wait = (template(each) if each is not None else None for each in (config.burst, config.max_wait))
    period = parse_duration(config.period)
    return Prepared(template(config.key), template(config.rate), period, burst, config.exceeded, max_wait)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    try:
        rate = _count(moment.resolve(prepared.rate))
        burst = _count(moment.resolve(prepared.burst)) if prepared.burst is not None else rate
        key = text_of(moment.resolve(prepared.key))
        if key is None or isinstance(key, dict | list) or key == "":
            raise ValueError("the key is text, and not empty")
        max_wait = micros_of(moment.resolve(prepared.max_wait)) if prepared.max_wait is not None else None
    except ValueError as problem:
        return Refuse(Failure("RATE_INVALID", str(problem)))
    return Execute(
        {
            "key": str(key),
            "rate": rate,
            "period": prepared.period,
            "burst": burst,
            "exceeded": prepared.exceeded,
            "max_wait": max_wait,
        }
    )


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise ValueError(f"{value!r} is no whole number from 1 to {MOST:,}")
    return value


# -- the bucket --------------------------------------------------------------------------------------------------------


FINE = MOST
"""Parts of a microsecond in which the bucket is measured: at the highest rate a place is one of them."""


class Limit(msgspec.Struct, frozen=True):
    """The generic cell rate algorithm. The bucket is full until a moment, and a place moves that moment by its share of
    the period. It is a time whatever the rate, so that limits of several rates can share it: each of them holds for
    those who come under it, and they wait for what the others have taken."""

    rate: int
    period: int
    burst: int

    @property
    def share(self) -> int:
        """What one place takes. Rounded up: rather a trillionth of a second too late than one too many."""
        return -(-self.period * FINE // self.rate)

    def place(self, full: int | None, now: int, patience: int | None) -> tuple[int, int | None]:
        """Whoever comes `now`: from when on it may pass (now or later), and until when the bucket is full then; None
        where that is later than `patience` allows. `full`: until when it was before, in fine parts."""
        level = max(full if full is not None else 0, now * FINE)
        ahead = (self.burst - 1) * self.share
        at = max(now, -(-(level - ahead) // FINE))
        level = max(level, at * FINE + ahead) if at > now else level  # a turn begins at a whole microsecond
        if patience is not None and at - now > patience:
            return at, None
        return at, level + self.share


def lasts(full: int, now: int) -> int:
    """Microseconds after which the bucket is empty, and need not be known."""
    return max(1, -(-full // FINE) - now)


_gates: WeakValueDictionary[tuple[int, str, str], asyncio.Lock] = WeakValueDictionary()
"""One at a time per key in this process: fewer lose against one another at the store."""


async def pass_through(ctx: ActivationContext) -> Any:
    config: Any = ctx.config
    limit = Limit(config["rate"], config["period"], config["burst"])
    patience = config["max_wait"] if config["exceeded"] == "wait" else 0
    # Not `rate:`, where earlier releases keep times multiplied by a rate that nobody knows: that would be centuries.
    cell_key = f"pace:{digest(config['key'].encode())}"
    place = (id(asyncio.get_running_loop()), ctx.namespace, cell_key)
    gate = _gates.get(place)
    if gate is None:
        gate = _gates[place] = asyncio.Lock()
    async with gate:
        now, at, is_in = await _take(ctx, cell_key, limit, patience)
    if is_in and at <= now:
        return Result(ctx.input, PASSED if config["exceeded"] == LIMITED else None)
    if is_in:
        return Sleep(at, ctx.input)
    retry_after = max(0, at - now)
    if config["exceeded"] == LIMITED:
        return Result(ctx.input, LIMITED, beside={"rate": {"retry_after_ms": -(-retry_after // 1000)}})
    raise ActivationError(
        "RATE_LIMITED",
        f"more than {limit.rate} in {limit.period / 1_000_000:g} s for the key {config['key'][:64]!r}",
        retryable=True,
        retry_after=retry_after / 1_000_000,
        details={"key": config["key"], "retry_after_ms": -(-retry_after // 1000)},
    )


async def _take(ctx: ActivationContext, key: str, limit: Limit, patience: int | None) -> tuple[int, int, bool]:
    """Now, the moment from which it may pass, and whether its place is taken."""
    for _ in range(TRIES):
        cell = await ctx.cells.get(key)
        now = ctx.now()
        full = int(cell.value) if cell is not None else None
        at, after = limit.place(full, now, patience)
        if after is None:
            return now, at, False
        version = cell.version if cell is not None else ABSENT
        if await ctx.cells.put(key, b"%d" % after, ttl=lasts(after, now), if_version=version) is not None:
            return now, at, True
    raise StoreUnavailable("others were faster each time", key=key)


HANDLER = HandlerSpec(pass_through, kind=NodeKind.ISOLATED.value)

TYPE = NodeType(
    name="rate-limit",
    title="Rate limit",
    description="Lets no more through than so many per period, over all runs. Hands on its input as it is. With "
    "`exceeded: limited` it has the outcomes `passed` and `limited`; an edge without an outcome is taken after both; "
    '`_global["<node>:rate"].retry_after_ms` says when to come again.',
    config=RateLimitConfig,
    kind=NodeKind.ISOLATED,
    prepare=prepare,
    plan=plan,
    outcomes=lambda config: (PASSED, LIMITED) if config.exceeded == LIMITED else (),
    group="Time",
    icon="gauge",
    examples=(
        {"key": "crm-api", "rate": 10, "period": "1s"},
        {"key": "customer-{{data.customer}}", "rate": 100, "period": "1h", "exceeded": "limited"},
    ),
)
