"""What people see in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.errors import PerdureError

DISK_FAILED = 74
"""Exit status, as sysexits.h has it for input and output errors."""


def print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def tell(error: PerdureError) -> None:
    """An error as sentences: what is wrong, where, what would be right, what to do."""
    lines = [f"{error.code}: {error.message}"]
    for label, text in (("at", error.pointer), ("expected", error.expected), ("remedy", error.remedy)):
        if text:
            lines.append(f"  {label}: {text}")
    problems = getattr(error, "problems", None)
    if problems:
        lines += [problem_line(problem) for problem in problems]
    sys.stderr.write("\n".join(lines) + "\n")


def problem_line(problem: dict[str, Any]) -> str:
    where = problem.get("pointer") or "/"
    place = f" (line {problem['line']}, column {problem['column']})" if problem.get("line") else ""
    expected = f"; expected {problem['expected']}" if problem.get("expected") else ""
    remedy = f"; {problem['remedy']}" if problem.get("remedy") else ""
    warning = "warning: " if problem.get("severity") == "warning" else ""
    return f"  {where}: {warning}{problem['code']}: {problem['message']}{place}{expected}{remedy}"


def table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(*header, box=None, pad_edge=False)
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)


def give_up(problem: BaseException) -> None:
    """The disk failed under the database: what is written cannot be known any more. Whoever starts us again recovers
    from what is really there; trying the same write again would only hide the loss."""
    sys.stderr.write(f"the database failed, giving up: {problem}\n")
    sys.stderr.flush()
    os._exit(DISK_FAILED)
