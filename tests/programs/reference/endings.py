"""How a run, a loop or an iteration comes to its end before its time: failing, withdrawing, draining, undoing.

Law: DESIGN §4, rules 2 (`cancel_rest`), 7 and 8.
"""

from __future__ import annotations

from typing import Any

from tests.programs.reference.records import Act, Entry, Scope, Undo
from tests.programs.reference.tokens import TokenGame

Json = Any
Failure = dict[str, Any]
MAX_ERRORS = 10
UNKNOWN = ("OUTCOME_UNKNOWN", "TIMEOUT", "WORKER_DIED")


class Endings(TokenGame):
    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.root = Scope()
        self.now = self.turn = self.errors = 0
        self.vars: dict[str, Json] = {}
        self.suspended = False
        self.closing: str | None = None
        self.final: str | None = None
        self.output: Json = None
        self.failure: Failure | None = None
        self.undoable: list[Undo] = []
        self.undoing: list[Undo] | None = None
        """What is being undone, last first; None while nothing is."""
        self.undoing_for: Any = None
        self.drained_loops: list[Act] = []
        self.drained_scopes: list[Scope] = []
        self.undone: list[str] = []
        self.not_undone: list[str] = []
        self.after_begun = 0

    def remember_undo(self, act: Act) -> None:
        raise NotImplementedError

    def skip(self, entry: Entry, reason: str) -> None:
        raise NotImplementedError

    def end_scope(self, scope: Scope, failure: Failure | None) -> None:
        raise NotImplementedError

    def finish_loop(self, act: Act) -> None:
        raise NotImplementedError

    # -- failing ----------------------------------------------------------------------------------

    def care_of(self, act: Act, failure: Failure) -> str | None:
        outcomes = {edge.get("outcome") for edge in self.graph.outs(act.node)}
        if failure["code"] in ("TIMEOUT", "SIGNAL_TIMEOUT") and "timeout" in outcomes:
            return "timeout"
        if "error" in outcomes:
            return "error"
        takes_care = self.graph.settings.get("on_failure") and act.node not in self.graph.behind_failure
        return "on_failure" if takes_care and act.scope is self.root else None

    def fail_for_good(self, act: Act, failure: Failure) -> None:
        failure = {**failure, "node": failure.get("node") or act.node}
        care = self.care_of(act, failure)
        if failure["code"] in UNKNOWN:
            self.remember_undo(act)
        if care is not None and self.errors >= MAX_ERRORS:
            self.live.remove(act)
            self.close("FAILED", failure={"code": "TOO_MANY_ERRORS"})
        elif care is not None:
            self.errors += 1
            told = {"error": failure, "node": act.node, "input": act.input, "output": None}
            act.scope.outputs[act.node] = told
            for edge in self.graph.outs(act.node):
                self.send(act.scope, edge, edge.get("outcome") == care, told)
            if care == "on_failure":
                self.ready.append(Entry(self.graph.settings["on_failure"], act.scope, True, told))
            self.live.remove(act)
            self.settle(act.scope)
        else:
            self.bubble(act, failure)

    def bubble(self, act: Act, failure: Failure) -> None:
        """Scope by scope: a loop's item policy, then its error edge; at the root the run fails."""
        self.live.remove(act)
        for scope in act.scope.chain():
            if scope.loop is None:
                self.close("FAILED", failure=failure)
                return
            assert scope.loop.loop is not None
            if scope.loop.loop.on != "fail":
                scope.failure = failure
                self.given_up.append(scope)
                self.withdraw_inside(scope)
                self.look_for_drained()
                return
            if self.care_of(scope.loop, failure) is not None:
                self.give_up_loop(scope.loop, "failure", failure)
                return

    # -- withdrawing ------------------------------------------------------------------------------

    def withdraw_rest(self, join: Act) -> None:
        rest, scope = self.graph.rest(join.node), join.scope
        in_order = [id for id in self.graph.nodes if id in rest]
        for act in [act for act in self.live if act.scope is scope and act.node in rest and not act.is_beside]:
            if act in self.live:
                self.withdraw(act)
        while True:
            entry = next((e for e in self.ready if e.live and e.scope is scope and e.node in rest), None)
            if entry is not None:
                self.ready.remove(entry)
            else:
                entry = next((e for e in map(self.broken_off(scope), in_order) if e is not None), None)
            if entry is None:
                return
            scope.visits[entry.node] += 1
            self.skip(entry, "withdrawn")

    def broken_off(self, scope: Scope) -> Any:
        """Takes back the first half-arrived round of a join, if there is one."""

        def take_back(node: str) -> Entry | None:
            if self.graph.join(node)[0] == "any":
                return None
            for number in range(self.rounds(scope, node)):
                is_live = any(live for _, live, _ in self.round(scope, node, number))
                if is_live and number not in scope.fired.setdefault(node, set()):
                    scope.fired[node].add(number)
                    return Entry(node, scope, False)
            return None

        return take_back

    def withdraw(self, act: Act) -> None:
        """Taken back while the rest of its scope goes on: its tokens die at once."""
        if act.withdrawn:
            return
        act.withdrawn = True
        if act.phase == "looping":
            self.give_up_loop(act, "taken back")
        elif act.phase == "executing" and act.turn != self.turn:
            act.phase = "cancelling"
        else:
            self.live.remove(act)
        for edge in self.graph.outs(act.node):
            self.send(act.scope, edge, False)
        self.settle(act.scope)

    def withdraw_inside(self, scope: Scope) -> None:
        """The scope is given up with everything in it."""
        self.ready = [entry for entry in self.ready if scope not in entry.scope.chain()]
        for act in self.inside(scope):
            self.let_go(act)

    def let_go(self, act: Act) -> None:
        if act.phase == "executing" and act.turn != self.turn:
            act.phase, act.withdrawn = "cancelling", True
        elif act.phase != "cancelling":
            self.live.remove(act)

    def give_up_loop(self, act: Act, ending: str, failure: Failure | None = None) -> None:
        assert act.loop is not None
        if act.loop.ending is None or ending == "taken back":
            act.loop.ending, act.loop.failure = ending, failure
            self.leaving += [act] if act not in self.leaving else []
            for scope in act.loop.running:
                self.withdraw_inside(scope)
            self.look_for_drained()

    def stopped(self, act: Act, unknown: bool) -> None:
        self.live.remove(act)
        if unknown:
            self.remember_undo(act)
        self.look_for_drained()

    # -- draining and undoing ---------------------------------------------------------------------

    def finish_given_up(self) -> bool:
        """One step of ending what was given up and in which nothing lives any more. False if there is none."""
        if self.undoing is not None:
            subject = self.undoing_for
            if not self.go_on_undoing():
                return False
            if self.undoing is None and (subject in self.drained_scopes or subject in self.drained_loops):
                self.end_given_up(subject)
            return True
        self.look_for_drained()
        for subject in [*self.drained_scopes, *self.drained_loops]:
            is_scope = isinstance(subject, Scope)
            entries = [each for each in self.undoable if subject in each.scope.chain()]
            if self.undo(entries if is_scope else self.undoable_of(subject)):
                self.undoing_for = subject
            else:
                self.end_given_up(subject)
            return True
        return False

    def look_for_drained(self) -> None:
        """In the order in which they came to rest."""
        loops = [act for act in self.live if act.loop is not None and act.loop.ending]
        resting = [act for act in loops if act.loop and not any(self.inside(scope) for scope in act.loop.running)]
        self.drained_loops = first_come(self.drained_loops, resting)
        scopes = [scope for scope in self.given_up if not self.inside(scope) and not self.is_part_of_more(scope)]
        self.drained_scopes = first_come(self.drained_scopes, scopes)

    def is_part_of_more(self, scope: Scope) -> bool:
        """Its loop is given up too, or something around it."""
        assert scope.loop is not None
        assert scope.loop.loop is not None
        return bool(scope.loop.loop.ending) or self.is_given_up(scope.loop.scope)

    def end_given_up(self, subject: Any) -> None:
        if isinstance(subject, Scope):
            self.given_up.remove(subject)
            self.end_scope(subject, subject.failure)
        elif subject.loop.ending == "taken back":
            self.live.remove(subject)
        elif subject.loop.ending == "failure":
            self.fail_for_good(subject, subject.loop.failure)
        else:
            self.finish_loop(subject)
        self.look_for_drained()

    def undoable_of(self, act: Act) -> list[Undo]:
        assert act.loop is not None
        entries = [entry for entry in self.undoable if any(scope.loop is act for scope in entry.scope.chain())]
        if act.loop.ending == "failure":
            return entries
        if act.loop.ending == "enough":
            entries = [each for each in entries if any(scope in act.loop.running for scope in each.scope.chain())]
        return [each for each in entries if each.on_cancel or set(each.scope.chain()) & set(self.given_up)]

    def undo(self, entries: list[Undo]) -> bool:
        """Begins to undo these. False if there is nothing to do."""
        policy = self.graph.settings.get("compensation", "strict")
        if not entries or policy == "skip":
            return False
        self.undoable = [entry for entry in self.undoable if entry not in entries]
        self.undoing = entries
        self.failed_before = len(self.not_undone)
        self.go_on_undoing()
        return True

    def go_on_undoing(self) -> bool:
        """True if something has changed."""
        if any(act.undoes is not None for act in self.live):
            return False
        strict = self.graph.settings.get("compensation", "strict") == "strict"
        assert self.undoing is not None
        if not self.undoing or (strict and len(self.not_undone) > self.failed_before):
            self.undoing = None
            return True
        entry = self.undoing.pop()
        self.live.append(Act(entry.handler, self.root, 0, None, self.turn, undoes=entry, is_beside=True))
        return True

    # -- the end of the run -----------------------------------------------------------------------

    def close(self, status: str, output: Json = None, failure: Failure | None = None) -> None:
        if self.closing is None:
            self.closing, self.output, self.failure, self.suspended = status, output, failure, False
            for act in list(self.live):
                if not act.is_beside:
                    self.let_go(act)

    def wind_up(self) -> None:
        if any(not act.is_beside for act in self.live):
            return
        while self.undoing is not None:
            if not self.go_on_undoing():
                return
        if self.closing != "COMPLETED":
            entries = [entry for entry in self.undoable if entry.on_cancel or self.closing != "CANCELLED"]
            self.undoable = []
            if self.undo(entries):
                self.wind_up()
                return
        if not self.live:
            after = self.graph.settings.get("after", [])
            if self.after_begun == len(after):
                self.final = self.closing
                if self.closing == "CANCELLED" and self.not_undone:
                    self.failure = {"code": "CANCELLED"}
            else:
                node = after[self.after_begun]
                self.after_begun += 1
                self.root.visits[node] += 1
                self.live.append(Act(node, self.root, self.root.visits[node], None, self.turn, is_beside=True))


def first_come(before: list[Any], now: list[Any]) -> list[Any]:
    """Those who have been in the line keep their places."""
    return [each for each in before if each in now] + [each for each in now if each not in before]
