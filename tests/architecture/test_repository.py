"""Rules about files that no other tool keeps."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

LONGEST_FILE = 400
# Files that may be longer, with the reason why they are better in one piece.
LONG_FILES: dict[str, str] = {}

BUCKETS = {"common", "helper", "helpers", "misc", "util", "utils"}

# Spelled so that this file keeps its own rules.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:root|home|work)(?=/)")
REGISTRY_HOST = re.compile(rb"(?:pypi|pythonhosted|registry\.npmjs)\.org")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = listed.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def lines_with(pattern: re.Pattern[bytes], files: list[Path]) -> list[str]:
    return [
        f"{relative(path)}:{number}"
        for path in files
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_source_file_is_longer_than_the_limit() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES}
    too_long = {name: length for name, length in lengths.items() if length > LONGEST_FILE}
    assert too_long.keys() == LONG_FILES.keys(), too_long


def test_no_module_is_a_bucket() -> None:
    assert [relative(path) for path in SOURCES if BUCKETS & {path.stem, path.parent.name}] == []


def test_every_directory_of_modules_is_a_package() -> None:
    directories = {path.parent for path in SOURCES} - {ROOT / "src"}
    assert [relative(directory) for directory in sorted(directories) if not (directory / "__init__.py").exists()] == []


def test_every_package_says_what_it_is_for() -> None:
    packages = [path for path in SOURCES if path.name == "__init__.py"]
    assert [relative(path) for path in packages if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_tracked_file_names_a_path_of_somebodys_machine() -> None:
    assert lines_with(MACHINE_PATH, tracked_files()) == []


def test_no_tracked_file_names_a_package_registry() -> None:
    """Where packages come from is the business of whoever installs them."""
    assert lines_with(REGISTRY_HOST, tracked_files()) == []


def test_tests_never_sleep() -> None:
    """Sleeping for zero seconds gives way to other tasks and is allowed; time itself belongs to a virtual clock."""
    assert [f"{relative(path)}:{line}" for path in TESTS for line in sleeps(path.read_text())] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time\ntime.sleep(1)", [2]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(0.01)", [3]),
        ("import asyncio as a\nasync def f():\n    await a.sleep(delay=pause)", [3]),
        ("from time import sleep as nap\nnap(pause)", [2]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(0)", []),
        ("clock.sleep(60)\nstep.sleep()", []),
    ],
)
def test_a_sleep_is_found_under_any_name(source: str, found: list[int]) -> None:
    assert list(sleeps(source)) == found


def sleeps(source: str) -> Iterator[int]:
    """The lines that call a sleep of `time`, `asyncio` or `anyio` with anything but a literal zero."""
    tree = ast.parse(source)
    clocks = {"time", "asyncio", "anyio"}
    modules: set[str] = set()
    functions: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name in clocks}
        elif isinstance(node, ast.ImportFrom) and node.module in clocks:
            functions |= {alias.asname or alias.name for alias in node.names if alias.name == "sleep"}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sleep")) if name in modules:
                pass
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                pass
            case _:
                continue
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not (arguments and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0):
            yield node.lineno
