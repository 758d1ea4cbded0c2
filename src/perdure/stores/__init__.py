"""Implementations of the storage ports. They persist, claim and lease; they decide nothing."""
