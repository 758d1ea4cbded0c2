"""Passwords, tokens and keys that nodes need. They are read when a node executes and are written nowhere."""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    async def get(self, namespace: str, name: str) -> str:
        """Raises NotFound."""
        ...
