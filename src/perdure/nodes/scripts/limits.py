"""What a script may cost."""

from __future__ import annotations

from typing import Final

import msgspec

SOURCE_CHARACTERS: Final = 65_536
FUNCTION_DEPTH: Final = 8
"""Functions inside one another. The sandbox takes twice as long for each further level."""
NESTING: Final = 200
"""Levels of expressions and blocks inside one another."""

MEBIBYTE: Final = 1024 * 1024


class ScriptLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Of one execution."""

    seconds: float = 1.0
    memory: int = 64 * MEBIBYTE
    """Bytes that the values of the script may take."""
    output: int = 4 * MEBIBYTE
    """Characters of the result, as JSON."""

    def within(self, most: ScriptLimits) -> ScriptLimits:
        """No more of anything than `most` has."""
        return ScriptLimits(
            seconds=min(self.seconds, most.seconds),
            memory=min(self.memory, most.memory),
            output=min(self.output, most.output),
        )
