"""The contract of every port, on every store (the fixture `subject` stands in conftest.py)."""

from __future__ import annotations

from perdure.testing import contracts


class TestBlobs(contracts.BlobsContract):
    pass


class TestCells(contracts.CellsContract):
    pass


class TestClaims(contracts.ClaimsContract):
    pass


class TestDeclining(contracts.DecliningContract):
    pass


class TestDefinitions(contracts.DefinitionsContract):
    pass


class TestFencing(contracts.FencingContract):
    pass


class TestHints(contracts.HintsContract):
    pass


class TestInbox(contracts.InboxContract):
    pass


class TestJournal(contracts.JournalContract):
    pass


class TestLeases(contracts.LeasesContract):
    pass


class TestOutbox(contracts.OutboxContract):
    pass


class TestRuns(contracts.RunsContract):
    pass


class TestStarts(contracts.StartsContract):
    pass


class TestStore(contracts.StoreContract):
    pass
