"""What all stores do alike with cells."""

from __future__ import annotations

import secrets

from perdure.errors import InvalidInput, TooMuch
from perdure.ports.cells import LARGEST, LONGEST_KEY

EVERY, AT_ONCE = 64, 256
"""After so many puts so many expired cells are swept: more than can have been added."""


def new_version() -> str:
    return secrets.token_hex(12)


def checked(key: str, value: bytes) -> None:
    if not 0 < len(key) <= LONGEST_KEY or "\0" in key:
        raise InvalidInput(f"{key[:64]!r} cannot be the key of a cell", expected=f"1 to {LONGEST_KEY} characters")
    if len(value) > LARGEST:
        raise TooMuch(f"a value of {len(value)} bytes; a cell holds {LARGEST}", limit=LARGEST)
