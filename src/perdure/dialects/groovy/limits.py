"""How much Groovy one script may be. What is larger is refused when it is saved, not met while it runs.

The sandbox reads the Python that is made. It takes about two hundred levels of nesting, and the time that it needs for
functions inside functions doubles with each level; these limits keep every translation well away from both.
"""

from __future__ import annotations

from typing import Final

SOURCE_CHARACTERS: Final = 64 * 1024

EXPRESSION_DEPTH: Final = 48
"""Levels of one expression: brackets, calls in a chain, operators whose operands have operators."""

NESTING: Final = 64
"""Of everything while it is read: the parser calls itself, and Python's stack is finite."""

BLOCK_DEPTH: Final = 10
"""if, for, while, try and switch inside one another."""

FUNCTION_DEPTH: Final = 5
"""Closures inside closures."""

CHAIN_LENGTH: Final = 100
"""Operands of `+`, `&&` or `||` in a row, arguments of a call, arms of an if, cases of a switch."""

INTERPOLATION_DEPTH: Final = 4
"""Strings inside ${…} inside strings."""

NUMBER_CHARACTERS: Final = 100
EXPONENT: Final = 308

PROBLEMS: Final = 100
"""Nobody reads more of them."""
