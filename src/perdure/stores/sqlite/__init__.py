"""Everything in one SQLite file, for one process: one writer thread, group commit, full durability."""

from perdure.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
