"""What can be tuned about the engine. All times are seconds."""

from __future__ import annotations

import os

import msgspec

MIB = 1024 * 1024


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    lease: float = 30.0
    """A worker that has not renewed for so long is taken for dead. It renews at a third and gives up at two thirds."""
    poll: float = 1.0
    """Bounds the delay when a hint is lost; jittered."""
    sweep: float = 5.0
    """How often runs are checked for having used up their active time."""

    park_after: float = 1.0
    """A run that waits for nothing earlier than this is let go (its state stays in a cache)."""
    parked_runs: int = 20_000
    parked_bytes: int = 64 * MIB
    """How much of parked runs is kept in memory, by count and by a rough estimate of size."""

    max_runs: int = 10_000
    """Runs held at once. Starts from outside beyond it are refused with Busy; claims and children wait."""
    mailbox: int = 1_000
    """Commands from outside that may wait for one run."""
    turn_commands: int = 256
    """Commands handled in one turn."""
    claim_batch: int = 500
    loads: int = 32
    """Runs loaded from the store at the same time."""

    decline: float = 60.0
    """How long runs of a version are left to others after one of them needed what is not here."""
    declines: int = 1_000
    """Versions that may be left to others at once."""

    trial: float = 2.0
    """How long a step that gets its last chance is watched before the next one gets its."""
    slots: int = 1_000
    """Handlers executing at once on the loop."""
    threads: int = msgspec.field(default_factory=lambda: min(32, 4 + (os.cpu_count() or 1)))
    """Blocking handlers executing at once."""
    stop_grace: float = 5.0
    """How long a handler that was told to stop may take before its outcome counts as unknown."""
    heartbeat_every: float = 1.0
    """Heartbeats of one handler are recorded no more often than this."""

    stall: float = 0.0
    """A step that keeps the event loop to itself for longer is named in the log, once. 0: nobody looks."""

    grace: float = 1.0
    """How long handlers may go on when the engine closes."""
    farewell: float = 5.0
    """How long closing waits for commits under way and for the store to take the runs back."""

    snapshot_events: int = 20
    retry_first: float = 0.02
    retry_most: float = 1.0
    """Pauses between attempts to reach the store."""
