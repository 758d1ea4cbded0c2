"""The table of docs/explanation/test-the-tests.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.planted.bugs import BUGS, Bug, Watcher
from tests.planted.oracles import Sighting

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "test-the-tests.md"
BEGIN, END = "<!-- planted bugs: begin -->", "<!-- planted bugs: end -->"
HEADER = "| planted bug | noticed by | after | first sign |\n|---|---|---|---|"
LONGEST_SIGN = 110


def row(bug: Bug, watcher: Watcher, sighting: Sighting | None) -> str:
    if sighting is None:
        return f"| {bug.says} | {watcher.name} | never | |"
    unit = watcher.unit if sighting.after != 1 else watcher.unit.removesuffix("s")
    sign = sighting.sign.replace("|", "/").replace("<", "‹").replace(">", "›").splitlines()[0]
    shown = sign if len(sign) <= LONGEST_SIGN else sign[: LONGEST_SIGN - 1] + "…"
    return f"| {bug.says} | {watcher.name} | {sighting.after} {unit} | `{shown.replace('`', '´')}` |"


def table(found: Mapping[tuple[str, str], Sighting | None]) -> str:
    rows = [row(bug, watcher, found[bug.name, watcher.name]) for bug in BUGS.values() for watcher in bug.watchers]
    return "\n".join([HEADER, *rows])


def shown() -> list[tuple[str, str]]:
    """Which bug, and who notices it: as the page has it."""
    text = PAGE.read_text()
    lines = text[text.index(BEGIN) : text.index(END)].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [(cell[0], cell[1]) for cell in cells[1:]]


def write(content: str) -> None:
    text = PAGE.read_text()
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}{BEGIN}\n{content}\n{after}")
