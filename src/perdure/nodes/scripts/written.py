"""A script as a program of the sandbox: what the compilers of all languages give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Written(NamedTuple):
    program: str
    call: str
    """The expression that gives its value; if it is empty, a function is called that all Python scripts define."""
    parameters: tuple[str, ...]
    """Names that the function takes as parameters because the script also sets them."""
    names: Mapping[str, tuple[int, int]]
    reads: frozenset[tuple[str | int, ...]]
    lines: list[int]
