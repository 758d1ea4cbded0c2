"""The outside world's memory: a file to which every worker appends what it does, so that it survives all of them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Effect:
    key: str
    process: int
    at: float
    """Seconds on the machine's monotonic clock, which all processes share."""


class EffectsFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def write(self, key: str) -> None:
        os.write(self._file, f"{key} {os.getpid()} {time.monotonic()}\n".encode())

    def read(self) -> list[Effect]:
        lines = [line.split() for line in self._path.read_text().splitlines()]
        return [Effect(key, int(process), float(at)) for key, process, at in lines]
