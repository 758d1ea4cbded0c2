"""A reference interpreter of flows, written from DESIGN §4 alone: slow, naive, and small enough to be read in one go.

It is told what happens (a handler answers, a timer is due, a signal comes) and says what is alive afterwards, by
idempotency key; in the end what ran how often, what was skipped, the outputs, the shared data, the result.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.programs.reference.endings import Endings, first_come
from tests.programs.reference.records import Act, Entry, Loop, Scope, Undo

Json = Any
Failure = dict[str, Any]
SECOND = 1_000_000


class Reference(Endings):
    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.ran: Counter[tuple[str, ...]] = Counter()
        self.skipped: Counter[tuple[str, ...]] = Counter()
        self.signals: list[tuple[str, Json]] = []
        self.armed = 0
        self.hungry: list[Act] = []
        self.quiet: list[Scope] = []

    # -- what happens -----------------------------------------------------------------------------

    def tell(self, what: str, *details: Any, now: int) -> None:
        """One turn."""
        self.now = now
        self.turn += 1
        getattr(self, f"on_{what}")(*details)
        self.advance()
        if self.closing is not None and self.final is None:
            self.wind_up()

    def act(self, key: str) -> Act:
        return next(act for act in self.live if act.key() == key)

    def on_start(self, input: Json) -> None:
        self.open(self.root, None, input)

    def on_complete(self, key: str, output: Json, outcome: str | None, variables: dict[str, Json]) -> None:
        act = self.act(key)
        if act.phase == "cancelling":
            self.stopped(act, unknown=True)
        else:
            self.complete(act, output, outcome, variables)

    def on_fail(self, key: str, failure: Failure) -> None:
        act = self.act(key)
        if act.phase == "cancelling":
            self.stopped(act, unknown=True)
        else:
            self.fail(act, failure)

    def on_stop(self, key: str, unknown: bool) -> None:
        self.stopped(self.act(key), unknown)

    def on_signal(self, name: str, payload: Json) -> None:
        self.signals.append((name, payload))
        self.deliver()

    def on_child(self, key: str, status: str, output: Json, failure: Failure) -> None:
        act = self.act(key)
        if status == "COMPLETED":
            self.complete(act, output, None, {})
        else:
            self.fail(act, failure)

    def on_timers(self) -> None:
        while not self.suspended and self.final is None:
            due = [act for act in self.live if act.due is not None and act.due <= self.now]
            if not due:
                return
            act = min(due, key=lambda act: (act.due, act.armed))
            act.due = None
            if act.phase == "retrying":
                act.phase, act.turn = "executing", self.turn
                self.launch(act)
            elif act.phase == "sleeping":
                self.complete(act, act.output, None, {})
            else:
                message = f"the signal {act.signal!r} did not come in time"
                self.fail_for_good(act, {"code": "SIGNAL_TIMEOUT", "message": message})

    def on_cancel(self) -> None:
        self.close("CANCELLED")

    def on_suspend(self) -> None:
        self.suspended = True

    def on_resume(self) -> None:
        self.suspended = False
        self.deliver()
        self.on_timers()

    # -- going on ---------------------------------------------------------------------------------

    def advance(self) -> None:
        limit = self.graph.settings.get("max_parallel") or 10**9
        while self.closing is None and not self.suspended:
            executing = sum(act.phase in ("executing", "cancelling") for act in self.live)
            self.line_up()
            if self.ready and (executing < limit or not self.ready[0].live):
                self.take_up(self.ready.pop(0))
            elif self.hungry:
                self.feed(self.hungry[0])
            elif self.quiet:
                self.end_scope(self.quiet[0], None)
            elif not self.finish_given_up():
                return

    def line_up(self) -> None:
        self.hungry = first_come(self.hungry, [act for act in self.live if self.is_hungry(act)])
        self.quiet = first_come(self.quiet, [scope for scope in self.open_scopes() if self.is_quiet(scope)])

    def settle(self, scope: Scope) -> None:
        super().settle(scope)
        self.line_up()

    def open_scopes(self) -> list[Scope]:
        loops = [act.loop for act in self.live if act.loop is not None]
        scopes = [scope for loop in loops for scope in loop.running]
        return [scope for scope in [*scopes, self.root] if not self.is_given_up(scope)]

    def end_scope(self, scope: Scope, failure: Failure | None) -> None:
        if scope is self.root:
            self.close("COMPLETED", output=scope.result)
            return
        assert scope.loop is not None
        loop = scope.loop.loop
        assert loop is not None
        loop.running.remove(scope)
        if failure is None:
            loop.count += 1
            loop.results[scope.index] = (True, scope.result)
        else:
            loop.failed += 1
            loop.results[scope.index] = (loop.on == "null", None)

    def take_up(self, entry: Entry) -> None:
        node, scope = self.graph.nodes[entry.node], entry.scope
        scope.visits[entry.node] += 1
        condition = node.get("condition")
        if not entry.live:
            self.skip(entry, "dead")
        elif condition is not None and not holds(condition, entry.value):
            self.skipped[*scope.path, entry.node, "condition"] += 1
            scope.outputs[entry.node] = None
            for edge in self.graph.outs(entry.node):
                self.send(scope, edge, edge.get("outcome") is None)
            self.settle(scope)
        else:
            self.begin(entry)

    def skip(self, entry: Entry, reason: str) -> None:
        self.skipped[*entry.scope.path, entry.node, reason] += 1
        for edge in self.graph.outs(entry.node):
            self.send(entry.scope, edge, False)
        self.settle(entry.scope)

    def begin(self, entry: Entry) -> None:
        scope, node = entry.scope, entry.node
        self.ran[*scope.path, node] += 1
        act = Act(node, scope, scope.visits[node], entry.value, self.turn)
        self.live.append(act)
        if self.graph.join(node)[2]:
            self.withdraw_rest(act)
        self.launch(act)

    def launch(self, act: Act) -> None:
        node = self.graph.nodes[act.node]
        config = node.get("config", {})
        match node["type"]:
            case "start" | "pass" | "end":
                self.complete(act, act.input, None, {})
            case "json":
                self.complete(act, config["data"], None, {})
            case "set":
                self.complete(act, act.input, None, config)
            case "choose":
                self.complete(act, act.input, config["outcome"], {})
            case "refuse":
                self.fail(act, {"code": "REFUSED", "message": "it will not"})
            case "sleep":
                act.phase, act.output = "sleeping", {"slept": config["us"]}
                self.arm(act, self.now + config["us"])
            case "signal":
                act.phase, act.signal = "signal", config["name"]
                self.armed += 1
                act.armed = self.armed
                if "us" in config:
                    act.due = self.now + config["us"]
                self.deliver()
            case "call":
                act.phase = "child"
            case "loop":
                act.phase = "looping"
                items = list(range(config["count"]))
                act.loop = Loop(items, config.get("concurrency", 1), config.get("on", "fail"), config.get("need"))

    def arm(self, act: Act, due: int) -> None:
        self.armed += 1
        act.armed, act.due = self.armed, due

    def deliver(self) -> None:
        """Those who wait longest get the signals that came first."""
        while not self.suspended and self.closing is None:
            waiting = sorted((act for act in self.live if act.phase == "signal"), key=lambda act: act.armed)
            pairs = ((act, signal) for act in waiting for signal in self.signals if signal[0] == act.signal)
            found = next(pairs, None)
            if found is None:
                return
            act, signal = found
            self.signals.remove(signal)
            self.complete(act, signal[1], "signal", {})

    # -- loops ------------------------------------------------------------------------------------

    def is_hungry(self, act: Act) -> bool:
        loop = act.loop
        if loop is None or loop.ending or self.is_given_up(act.scope):
            return False
        has_next = loop.begun < len(loop.items)
        has_enough = loop.need is not None and loop.count >= loop.need
        return has_enough or (has_next and len(loop.running) < loop.concurrency) or not (has_next or loop.running)

    def feed(self, act: Act) -> None:
        loop = act.loop
        assert loop is not None
        if not loop.running and loop.begun == len(loop.items):
            self.finish_loop(act)
        elif loop.need is not None and loop.count >= loop.need:
            if loop.running:
                self.give_up_loop(act, "enough")
            else:
                self.finish_loop(act)
        else:
            index = loop.begun
            loop.begun += 1
            step = f"{act.node}.{index}" if act.visit == 1 else f"{act.node}.{index}@{act.visit}"
            scope = Scope((*act.scope.path, step), act.scope, act, index)
            loop.running.append(scope)
            self.open(scope, act.node, {"index": index, "item": loop.items[index]})

    def finish_loop(self, act: Act) -> None:
        loop = act.loop
        assert loop is not None
        results = [value for _, (counts, value) in sorted(loop.results.items()) if counts]
        output = {"count": loop.count, "results": results}
        self.complete(act, output | {"failed": loop.failed} if loop.failed else output, None, {})

    # -- results ----------------------------------------------------------------------------------

    def complete(self, act: Act, output: Json, outcome: str | None, variables: dict[str, Json]) -> None:
        self.errors = 0
        if act.is_beside:
            self.live.remove(act)
            if act.undoes is not None:
                self.undone.append(act.undoes.key)
            return
        scope, outs = act.scope, self.graph.outs(act.node)
        self.vars |= variables
        scope.outputs[act.node] = output
        is_end = self.graph.nodes[act.node]["type"] == "end"
        if is_end or not (outs or scope.has_end):
            scope.result, scope.has_end = output, is_end
        self.remember_undo(act)
        for edge in outs:
            is_candidate = edge.get("outcome") in (None, outcome)
            self.send(scope, edge, is_candidate and holds(edge.get("when"), output), output)
        self.live.remove(act)
        self.settle(scope)

    def remember_undo(self, act: Act) -> None:
        node = self.graph.nodes[act.node]
        if node.get("compensate"):
            on_cancel = node.get("compensate_on_cancel", False)
            self.undoable.append(Undo(act.key(), node["compensate"], act.scope, on_cancel))

    def fail(self, act: Act, failure: Failure) -> None:
        retry = self.graph.nodes[act.node].get("retry") or {"attempts": 1}
        failure = {**failure, "node": failure.get("node") or act.node}
        if failure.get("retryable") and act.attempt < retry["attempts"] and (self.closing is None or act.is_beside):
            pause = min(retry.get("initial", 1) * 2 ** (act.attempt - 1), 300)
            act.attempt += 1
            act.generation += act.phase == "child"
            act.phase = "retrying"
            self.arm(act, self.now + pause * SECOND)
        elif act.is_beside:
            self.live.remove(act)
            if act.undoes is not None:
                self.not_undone.append(act.undoes.key)
        else:
            self.fail_for_good(act, failure)


def holds(condition: str | None, data: Json) -> bool:
    """Conditions of random flows have one form: `data == 3`."""
    return condition is None or data == int(condition.removeprefix("data == "))
