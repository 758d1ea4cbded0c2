"""Reading the tables of a reference page, so that its examples can be run."""

import re
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def rows(page: str, *header: str) -> list[list[str]]:
    """The rows of all tables whose first columns have these names."""
    found: list[list[str]] = []
    inside = False
    for line in page.splitlines():
        cells = [cell.strip(" ").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if tuple(cells[: len(header)]) == header:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(line) <= set("|-"):
            found.append(cells)
    return found


def code(cell: str) -> str:
    """What stands between the backquotes of a cell."""
    assert cell.startswith("`"), cell
    assert cell.endswith("`"), cell
    return cell[1:-1]
