"""How long to pause before the next attempt. Pure: the jitter comes from the run's seed, so a replay pauses just as
long."""

from __future__ import annotations

import hashlib

from perdure.model.policies import Retry


def fraction(seed: int, *parts: int) -> float:
    """A number in [0, 1) that looks random and is always the same for the same arguments."""
    text = ":".join(str(part) for part in (seed, *parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") / (1 << 56)


def pause_before(policy: Retry, attempt: int, seed: int, activation: int) -> int:
    """Microseconds before attempt number `attempt` (2, 3 …)."""
    exponent = min(attempt - 2, 64)
    pause = min(policy.initial * policy.multiplier**exponent, float(policy.maximum))
    if policy.jitter:
        pause *= 1 - policy.jitter * fraction(seed, activation, attempt)
    return int(pause)
