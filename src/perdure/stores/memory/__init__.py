"""Everything in memory: for tests, simulation and trying things out."""

from perdure.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
