"""Makes the tables of docs/reference/errors.md from the error tree and from every place that gives a code.

python tools/error_page.py            writes them
python tools/error_page.py --check    fails if the page is out of date
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import made
from error_words import ERRORS, FAILURES, PROBLEMS, READING, Words

from perdure.errors import PerdureError
from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.checks import shape

PAGE = made.REFERENCE / "errors.md"
SOURCES = made.ROOT / "src" / "perdure"

COMPUTED = {
    "Failure": {
        "engine/reports.py",  # the code of an ActivationError: the user's own
        "engine/writing.py",  # CANCELLED, where a run has no other failure
        "kernel/undone.py",  # CANCELLED, where a run has no other failure and something could not be undone
        "model/failures.py",  # the code of one of our errors
        "nodes/fail.py",  # the configured code
    },
    "ActivationError": set[str](),
    "CallFailed": set[str](),
    "Problem": {
        "model/reading.py",
        "programs/flow/checks/options.py",
        "programs/flow/checks/shape.py",
        "programs/flow/checks/writing.py",  # codes of expressions
        "dialects/yantra/drawing.py",  # codes of shapes
        "dialects/yantra/configs.py",  # codes of shapes
    },
    "_Refused": set[str](),
}
"""Where the code is no constant. A place that is not listed here has to be looked at by whoever adds it."""
MORE_FAILURES = {"CANCELLED": None, "FAILED": "nodes/fail.py"}
OF_SHAPES = [
    f"{prefix}_{kind}"
    for prefix in ("FIELD", "CONFIG")
    for kind in (shape.MISSING, shape.UNKNOWN, shape.TYPE, shape.RANGE, shape.VALUE)
]


class Place(NamedTuple):
    code: str
    file: str
    call: ast.Call

    def says(self, keyword: str, value: object) -> bool:
        return any(
            each.arg == keyword and isinstance(each.value, ast.Constant) and each.value.value == value
            for each in self.call.keywords
        )


@cache
def places(name: str) -> tuple[Place, ...]:
    """Every call of `name` with a constant code."""
    found, computed = [], set()
    for path in sorted(SOURCES.rglob("*.py")):
        file = path.relative_to(SOURCES).as_posix()
        if file.startswith("testing/"):
            continue
        module = ast.parse(path.read_text())
        named = constants(module)
        for node in ast.walk(module):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
                continue
            first = node.args[0] if node.args else None
            code = named.get(first.id) if isinstance(first, ast.Name) else getattr(first, "value", None)
            if isinstance(code, str):
                found.append(Place(code, file, node))
            else:
                computed.add(file)
    if computed != COMPUTED[name]:
        known = sorted(COMPUTED[name])
        sys.exit(f"{name} with a code that is computed: {sorted(computed)}, COMPUTED in {PAGE.name}'s tool has {known}")
    return tuple(found)


def constants(module: ast.Module) -> dict[str, str]:
    """The texts that a module has names for."""
    return {
        line.targets[0].id: line.value.value
        for line in module.body
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    }


def tree() -> Iterator[str]:
    classes = list(descendants(PerdureError, 0))
    made.in_words({each.code for each, _ in classes}, ERRORS, "errors")
    rows = [
        [
            "&nbsp;" * 3 * depth + f"`{each.__name__}`",
            each.code,
            str(each.status),
            each.fault,
            "yes" if each.retryable else "",
            *ERRORS[each.code],
        ]
        for each, depth in classes
    ]
    yield from made.table(["class", "code", "HTTP", "whose fault", "repeat?", "meaning", "what to do"], rows)


def descendants(kind: type[PerdureError], depth: int) -> Iterator[tuple[type[PerdureError], int]]:
    yield kind, depth
    for each in kind.__subclasses__():
        if each.__module__ == PerdureError.__module__:
            yield from descendants(each, depth + 1)


def failures() -> Iterator[str]:
    found = [*places("Failure"), *places("ActivationError"), *places("CallFailed")]
    codes = dict.fromkeys([*(place.code for place in found), *MORE_FAILURES])
    made.in_words(codes, FAILURES, "failures")
    rows = []
    for code, words in FAILURES.items():
        here = [place for place in found if place.code == code]
        files = {place.file for place in here} or {str(MORE_FAILURES[code])}
        again = any(may_pass(place) for place in here)
        rows.append([code, given_by(files), "yes" if again else "", *words])
    yield from made.table(["code", "given by", "tried again?", "meaning", "what to do"], rows)


def may_pass(place: Place) -> bool:
    """Whether such a failure is one that a retry policy tries again (on our own engine)."""
    return not place.file.startswith("temporal/") and any(each.arg == "retryable" for each in place.call.keywords)


def given_by(files: set[str]) -> str:
    """The node types, where only these can give the code."""
    modules = {f"perdure.{Path(file).with_suffix('').as_posix().replace('/', '.')}" for file in files}
    names = [name for name, kind in CATALOGUE.items() if kind.plan.__module__ in modules]
    if len(modules) == 1 and names:
        return ", ".join(f"[{name}](nodes/{name}.md)" for name in names)
    own = [file for file in files if file.startswith("nodes/")]
    return ", ".join(f"[{name}](nodes/{name}.md)" for name in names) if len(own) == len(files) else ""


def reading() -> Iterator[str]:
    found = [*places("Problem"), *places("_Refused")]
    codes = {place.code for place in found if place.file == "model/reading.py"}
    made.in_words(codes, READING, "problems of reading")
    yield from made.table(["code", "meaning", "what to do"], ([code, *words] for code, words in READING.items()))


def problems() -> Iterator[str]:
    found = [place for place in places("Problem") if place.file != "model/reading.py"]
    made.in_words([*(place.code for place in found), *OF_SHAPES, "LIMIT_NODES", "LIMIT_EDGES"], PROBLEMS, "problems")
    warnings = {place.code for place in found if place.says("severity", "warning")}
    yield from made.table(["code", "", "meaning", "what to do"], rows_of(PROBLEMS, warnings))


def rows_of(words: Mapping[str, Words], warnings: set[str]) -> Iterator[list[str]]:
    for code, (meaning, remedy) in words.items():
        yield [code, "warning" if code in warnings else "", meaning, remedy]


PARTS = {"tree": tree, "failures": failures, "reading": reading, "problems": problems}

if __name__ == "__main__":
    sys.exit(made.keep(PAGE, PARTS))
