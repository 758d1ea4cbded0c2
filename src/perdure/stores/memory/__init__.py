"""The store in memory: a real store without durability, for tests and simulation."""
