"""The store on PostgreSQL, shared by a fleet of workers."""

from perdure.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
