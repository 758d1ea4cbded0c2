"""What the engine tells whoever listens: metrics, traces, logs. The default hears nothing and costs nothing."""

from __future__ import annotations


class Observer:
    """Override what you need. Called on the loop, so do little; raise nothing."""

    def turn_committed(self, run: str, events: int, commands: int) -> None: ...

    def run_closed(self, namespace: str, definition: str, status: str) -> None: ...

    def handler_started(self, namespace: str, type: str) -> None: ...

    def handler_ended(self, namespace: str, type: str, seconds: float, ending: str) -> None:
        """`ending` is completed, failed, timed out, cancelled or abandoned."""

    def claimed(self, runs: int, died: int) -> None: ...

    def fenced(self, run: str) -> None:
        """A turn was refused because somebody else owns the run now."""

    def lease_lost(self, worker: str, runs: int) -> None: ...

    def run_set_aside(self, run: str, problem: BaseException) -> None:
        """This worker cannot go on with the run: its log cannot be read, its definition is missing, or there is a
        bug."""

    def handed_back(self, run: str, lacking: str) -> None:
        """This worker does not have what the run needs next (the step 'charge'), and leaves it to others."""

    def trouble(self, where: str, problem: BaseException) -> None:
        """Something failed that will be tried again."""
