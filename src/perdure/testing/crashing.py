"""Killing an engine inside a test's own process."""

from __future__ import annotations

from perdure.engine import Engine


def crash(engine: Engine) -> None:
    """As if its process had died: nothing of it runs on, nothing is handed over."""
    runtime = engine._runtime
    assert runtime is not None
    engine._runtime = None
    if engine._deafen is not None:
        engine._deafen()
    for owned in list(runtime.roster.owned.values()):
        owned.dropped = True
        owned.answers = []
        for execution in owned.running.values():
            execution.silent = True
    runtime.claimer.close()
    runtime.post.close()
    runtime.alarms.close()
    runtime.results.close(ConnectionResetError("the process died"))
    for task in [*runtime._tasks, *(one.task for one in runtime.runner._live if one.task is not None)]:
        task.cancel()
    if runtime.lease._watch is not None:
        runtime.lease._watch.cancel()
