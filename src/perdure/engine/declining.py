"""Runs that this worker cannot execute are left to others.

What a worker lacks (a step, a node type) it finds out when it comes to it. It fails nothing then, because another one
may have it: what runs already is let end, and the run is handed back, unowned and due at once. Nothing of that counts
as a death, as an attempt or as a delivery. And the worker claims no run of that version for a while, so that two
workers that both lack something do not pass a run to and fro. What it can decide without executing anything (a signal,
a timer, a cancellation) it decides, at the latest when that while is over: a run of which nobody has the step can be
cancelled.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from perdure.engine.handlers import Lack
from perdure.errors import NotInstalled
from perdure.model.commands import Cancel, Command, RetryRun, Suspend
from perdure.ports.ownership import VersionKey

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_DECIDED_HERE = (Cancel, Suspend, RetryRun)
"""Commands that need nobody who could execute the run: they hold it or end it. (And to take a closed run up again, its
inbox is of no use.)"""


class Declined:
    """Versions of which this worker claims nothing for the time being."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._until: OrderedDict[VersionKey, float] = OrderedDict()
        """In the order in which they end, because all last equally long."""

    def add(self, version: VersionKey, lack: Lack) -> None:
        runtime = self._runtime
        if version in self:
            return
        settings = runtime.settings
        self._until.pop(version, None)
        self._until[version] = runtime.loop.time() + settings.decline
        if len(self._until) > settings.declines:
            # More than a claim can name. Those that are forgotten will come again, so at least not faster than this.
            self._until.popitem(last=False)
            runtime.claimer.pause(settings.decline / max(1, settings.declines))
        namespace, definition, number = version
        runtime.trouble(f"runs of {definition!r} version {number} in {namespace!r} are left to others", problem(lack))

    def __contains__(self, version: VersionKey) -> bool:
        return bool(self._until) and self._until.get(version, 0.0) > self._runtime.loop.time()

    def versions(self) -> list[VersionKey]:
        if self._until:
            now = self._runtime.loop.time()
            while self._until and next(iter(self._until.values())) <= now:
                self._until.popitem(last=False)
        return list(self._until)

    def is_for_others(self, version: VersionKey, command: Command) -> bool:
        """Whether the command is to wait in the run's inbox for somebody who can go on with the run."""
        return version in self and not isinstance(command, _DECIDED_HERE)

    def forget(self) -> None:
        """Perhaps nothing is lacking any more."""
        if self._until:
            self._until.clear()
            self._runtime.claimer.nudge()


def leave_to_others(owned: OwnedRun, lack: Lack) -> None:
    """Nothing more begins here but what the same turn asks for (else two workers that each lack the other's part would
    pass the run to and fro, and neither begin). What executes may end."""
    owned.lack = lack
    owned.runtime.declined.add((owned.namespace, owned.state.definition, owned.state.version), lack)
    if not owned.busy:
        owned.go_on()


def problem(lack: Lack) -> NotInstalled:
    return NotInstalled(f"this worker does not have {lack}", kind=lack.kind, name=lack.name)


def lack_in(missing: NotInstalled) -> Lack:
    return Lack(missing.kind, missing.name)
