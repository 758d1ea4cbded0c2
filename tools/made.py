"""Pages of prose with parts that are made: what stands between `<!-- made: NAME -->` and `<!-- end -->`.

A page tool names its page and, for each part, a function that gives the lines:

    python tools/X_page.py            writes the parts
    python tools/X_page.py --check    fails if the page is out of date

A part without a place in its page, or a place without a part, is a mistake of whoever wrote the page.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
PLACE = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

Part = Callable[[], Iterable[str]]


def keep(page: Path, parts: Mapping[str, Part]) -> int:
    """The `main` of a page tool: exit status 1 if `--check` finds the page out of date."""
    old = page.read_text()
    new = filled(old, parts)
    if new == old:
        return 0
    if "--check" in sys.argv:
        sys.stderr.write(f"{page.name} is out of date: run python {Path(sys.argv[0]).name} in tools\n")
        return 1
    page.write_text(new)
    return 0


def filled(text: str, parts: Mapping[str, Part]) -> str:
    places = [match[2] for match in PLACE.finditer(text)]
    if sorted(places) != sorted(parts):
        sys.exit(f"the page has places for {sorted(places)}, the tool makes {sorted(parts)}")
    return PLACE.sub(lambda match: f"{match[1]}\n{chr(10).join(parts[match[2]]())}\n\n{match[3]}", text)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def in_words(known: Iterable[str], words: Mapping[str, Any], what: str) -> None:
    """Refuses to make a page that leaves something out, or tells of something that is gone."""
    names = set(known)
    if missing := sorted(names - set(words)):
        sys.exit(f"{what} without a word about them: {', '.join(missing)} (say it in tools/, or in the docstring)")
    if gone := sorted(set(words) - names):
        sys.exit(f"{what} that there are no more: {', '.join(gone)} (remove the words in tools/)")


def attribute_docs(owner: type) -> dict[str, str]:
    """The text under each attribute of a class, from its source."""
    module = inspect.getmodule(owner)
    assert module is not None
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ClassDef) and node.name == owner.__name__:
            return dict(_texts(node.body))
    raise LookupError(owner.__name__)


def _texts(body: list[ast.stmt]) -> Iterable[tuple[str, str]]:
    for line, below in pairwise(body):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value)
            yield line.target.id, " ".join(text.split())
