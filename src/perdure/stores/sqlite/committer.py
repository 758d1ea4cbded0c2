"""Carries out a group of operations in one transaction. Synchronous: the thread or the loop around it is `writer.py`.

The common group, turns without extras, is one statement that is its own transaction. Others get an explicit one.
If an operation raises, the group is rolled back and carried out again one by one behind savepoints, so that the culprit
fails alone. A full disk fails the whole group and nothing else. Any other error of the database is fatal (`Broken`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import msgspec

from perdure.ports.clock import Clock
from perdure.ports.inbox import Sent
from perdure.ports.journal import COMMITTED, Outcome, TurnWrite, Verdict
from perdure.stores.sqlite.connection import is_fatal, is_full, transaction, translated
from perdure.stores.sqlite.extras import has_extras, owners_of, send_rows, write_extras
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.turns import MOST, Turns

_Q = queries("turns")


class Letter(msgspec.Struct, frozen=True):
    """A command for a run's inbox."""

    namespace: str
    run: str
    request_id: str
    command: bytes


Call = Callable[[apsw.Connection], Any]
Operation = TurnWrite | Letter | Call


class Failed(msgspec.Struct, frozen=True):
    """Stands in the place of a result."""

    problem: Exception


class Broken(Exception):
    """The database cannot be trusted any more by this process."""


class Done(msgspec.Struct):
    results: list[Any]
    """In the order of the operations; `Failed` for those that raised."""
    addressees: Sequence[str] = ()
    """Owners of runs that were sent commands; '' where nobody owns the run."""


class Committer:
    def __init__(self, connection: apsw.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._turns = Turns(connection, clock)

    def commit(self, operations: Sequence[Operation]) -> Done:
        try:
            return self._together(operations)
        except Exception as problem:
            self._turns.forget()
            if is_fatal(problem):
                raise Broken(str(problem)) from problem
            if not is_full(problem):
                return self._one_by_one(operations)
            full = translated(problem)
            return Done([Failed(full)] * len(operations))

    def _together(self, operations: Sequence[Operation]) -> Done:
        turns = [operation for operation in operations if isinstance(operation, TurnWrite)]
        if len(turns) == len(operations) <= MOST and not any(map(has_extras, turns)):
            if self._turns.insert(turns):
                return Done([COMMITTED] * len(turns))
            with transaction(self._connection):
                return Done(list(self._turns.settle(turns)))
        letters = [operation for operation in operations if isinstance(operation, Letter)]
        with transaction(self._connection):
            addressed: list[str] = []
            outcomes = iter(self._decide(turns, addressed))
            answers = iter(self._deliver(letters, addressed))
            results: list[Any] = []
            for operation in operations:
                if isinstance(operation, TurnWrite):
                    results.append(next(outcomes))
                elif isinstance(operation, Letter):
                    results.append(next(answers))
                else:
                    results.append(operation(self._connection))
            addressees = owners_of(self._connection, addressed) if addressed else ()
        return Done(results, addressees)

    def _decide(self, turns: Sequence[TurnWrite], addressed: list[str]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for start in range(0, len(turns), MOST):
            part = turns[start : start + MOST]
            outcomes += [COMMITTED] * len(part) if self._turns.insert(part) else self._turns.settle(part)
        rich = [
            turn
            for turn, outcome in zip(turns, outcomes, strict=True)
            if has_extras(turn) and outcome.verdict is Verdict.COMMITTED
        ]
        if rich:
            addressed += write_extras(self._connection, rich, self._clock.now())
        return outcomes

    def _deliver(self, letters: Sequence[Letter], addressed: list[str]) -> list[Sent]:
        if not letters:
            return []
        addressed += [letter.run for letter in letters]
        now = self._clock.now()
        rows = [(letter.namespace, letter.run, letter.request_id, letter.command, now) for letter in letters]
        self._connection.execute("SAVEPOINT letters")
        if not send_rows(self._connection, rows):
            self._connection.execute("ROLLBACK TO letters")
            return [self._answer(row) for row in rows]
        self._connection.execute("RELEASE letters")
        return [Sent.ACCEPTED] * len(rows)

    def _answer(self, row: tuple[Any, ...]) -> Sent:
        if send_rows(self._connection, [row]):
            return Sent.ACCEPTED
        state = self._connection.execute(_Q["state"], (row[1],)).fetchone()
        if state is None or state[0] != row[0]:
            return Sent.UNKNOWN
        return Sent.CLOSED if state[1] else Sent.DUPLICATE

    def _one_by_one(self, operations: Sequence[Operation]) -> Done:
        results: list[Any] = []
        addressed: list[str] = []
        try:
            with transaction(self._connection):
                results += [self._alone(operation, addressed) for operation in operations]
                addressees = owners_of(self._connection, addressed) if addressed else ()
        except Exception as problem:
            self._turns.forget()
            if is_fatal(problem):
                raise Broken(str(problem)) from problem
            return Done([Failed(translated(problem))] * len(operations))
        return Done(results, addressees)

    def _alone(self, operation: Operation, addressed: list[str]) -> Any:
        try:
            with self._savepoint():
                if isinstance(operation, TurnWrite):
                    return self._decide([operation], addressed)[0]
                if isinstance(operation, Letter):
                    return self._deliver([operation], addressed)[0]
                return operation(self._connection)
        except Exception as problem:
            self._turns.forget()
            if is_fatal(problem) or is_full(problem):
                raise
            return Failed(translated(problem))

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT alone")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO alone")
                self._connection.execute("RELEASE alone")
            raise
        self._connection.execute("RELEASE alone")
