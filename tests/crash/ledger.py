"""The outside world's memory: what it saw happen and what it was promised. A file, so that it survives the kill."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path


class Ledger:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def write(self, kind: str, text: str) -> None:
        os.write(self._file, f"{kind} {text}\n".encode())

    def effect(self, key: str) -> None:
        self.write("effect", key)

    def ack(self, what: str, id: str) -> None:
        self.write("ack", f"{what} {id}")

    def lines(self, kind: str) -> list[str]:
        return [line[len(kind) + 1 :] for line in self.path.read_text().splitlines() if line.startswith(kind + " ")]

    def acked(self, what: str) -> list[str]:
        return [line.split()[1] for line in self.lines("ack") if line.split()[0] == what]

    def effects(self) -> Counter[str]:
        return Counter(self.lines("effect"))
