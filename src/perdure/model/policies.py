"""Policies that a definition states and the kernel obeys: retries, limits, joins, loops, parent and child.

All durations are whole microseconds; `perdure.model.times` reads what people write ("30s", "PT5M", 90).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

SECOND = 1_000_000
MINUTE = 60 * SECOND
MIB = 1024 * 1024


class Retry(msgspec.Struct, frozen=True, omit_defaults=True):
    """`attempts` counts the first one too. The pause before attempt n is initial * multiplier**(n-2), at most
    `maximum`."""

    attempts: int = 1
    initial: int = SECOND
    multiplier: float = 2.0
    maximum: int = 5 * MINUTE
    jitter: float = 0.0
    """Each pause is shortened by a random part of up to this share (0 = none, 1 = anything down to zero)."""


NO_RETRY = Retry()


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one run may use. Per namespace, recorded when the run starts; each has an error code of its own."""

    active_time: int = 30 * MINUTE
    """How long steps may be executing in all. Time that is slept or waited does not count."""
    activations: int = 10_000
    """Executions of nodes in all, iterations of loops included."""
    depth: int = 5
    """Loops and groups inside one another."""
    iterations: int = 10_000
    """Items of one loop."""
    data: int = 10 * MIB
    """Bytes of JSON that the nodes have given in all; outputs of up to 64 bytes are not counted. Signals that nobody
    has consumed may hold as much again."""
    accumulator: int = 10 * MIB
    """Bytes of JSON that the iterations of one loop have given."""
    pending_signals: int = 10_000
    """Signals that have come and that nobody has consumed."""
    child_depth: int = 16
    """Runs started by runs, inside one another."""
    max_errors: int = 10
    """Failures in a row that an edge or the failure node took care of."""
    deliveries: int = 3
    """How many workers may die on one activation before it is set aside."""
    generation_events: int = 20_000
    """Events after which the log of a long run rolls over to a new generation."""


DEFAULT_LIMITS = Limits()


class JoinRule(StrEnum):
    ALL = "all"
    ANY = "any"
    FIRST = "first"
    N_OF_M = "n_of_m"


class Join(msgspec.Struct, frozen=True, omit_defaults=True):
    rule: JoinRule = JoinRule.ALL
    n: int = 1
    cancel_rest: bool = False
    """When the join is satisfied, withdraw what could only still arrive here."""
    blocking: bool = False
    """The next generation waits until every edge of this one has arrived."""
    threads: int = 1
    """`any` only: collect this many arrivals into one activation (thread merge)."""


class ItemFailure(StrEnum):
    """What a loop does when one item fails."""

    FAIL = "fail"
    SKIP = "skip"
    NULL = "null"


class ParentClose(StrEnum):
    """What happens to an open child when its parent ends."""

    CANCEL = "cancel"
    ABANDON = "abandon"


class Compensation(StrEnum):
    STRICT = "strict"
    BEST_EFFORT = "best_effort"
    SKIP = "skip"
