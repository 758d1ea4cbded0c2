"""`perdure validate`, `perdure fsck`, `perdure migrate`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perdure.cli.screen import print_json, problem_line, tell
from perdure.dialects.drift.dialect import definition_problems
from perdure.dialects.drift.node_definitions import looks_like_one
from perdure.dialects.known import dialect_of
from perdure.errors import NotFound, PerdureError
from perdure.model.reading import read_document
from perdure.nodes.catalogue import builtin_types
from perdure.programs.flow.nodetypes import Catalogue
from perdure.service.checking import problems_alone
from perdure.settings import Settings, load_settings


def validate_files(files: Sequence[Path], as_json: bool) -> int:
    if not files:
        sys.stderr.write("name at least one file to validate\n")
        return 2
    types = known_types()
    report: list[dict[str, Any]] = [{"file": str(file), "problems": problems_of(file, types)} for file in files]
    wrong = [entry for entry in report if any(problem["severity"] == "error" for problem in entry["problems"])]
    if as_json:
        print_json(report)
    else:
        for entry in report:
            verdict = "wrong" if entry in wrong else "valid"
            sys.stdout.write("\n".join([f"{entry['file']}: {verdict}", *map(problem_line, entry["problems"])]) + "\n")
    return 1 if wrong else 0


def problems_of(file: Path, types: Catalogue) -> list[dict[str, Any]]:
    try:
        data = file.read_bytes()
    except OSError as problem:
        return [
            {"code": "FILE_UNREADABLE", "pointer": "", "message": problem.strerror or "unreadable", "severity": "error"}
        ]
    document, problems = read_document(data)
    if not problems and looks_like_one(document):
        problems = definition_problems(document, types)
    elif not problems:
        problems = problems_alone(dialect_of(document), document, types)
    return [problem.as_dict() for problem in problems]


def known_types() -> Catalogue:
    """Those that come with Perdure, and those of the plug-ins that are installed."""
    from perdure.assembly import installed_plugins

    plugins = installed_plugins(load_settings({}))
    return {**builtin_types(), **{each.type.name: each.type for each in plugins}}


def check_database(url: str | None, as_json: bool) -> int:
    try:
        settings = load_settings({"database_url": url})
        refuse_missing_file(settings.database_url)
        return asyncio.run(_check_database(settings, as_json))
    except PerdureError as error:
        tell(error)
        return 2


def refuse_missing_file(url: str) -> None:
    """A check must not make the database that it was asked to check."""
    from perdure.assembly import sqlite_path

    if url.startswith("sqlite:") and not Path(sqlite_path(url)).exists():
        raise NotFound(f"there is no file {sqlite_path(url)}", remedy="name it with --database")


async def _check_database(settings: Settings, as_json: bool) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from perdure.assembly import Perdure
    from perdure.service.fsck import fsck

    app = Perdure.open(settings=settings)
    async with app.at_rest():
        with Progress(console=Console(stderr=True), disable=as_json or not sys.stderr.isatty()) as progress:
            task = progress.add_task("checking runs", total=None)
            report = await fsck(app.store, app.library, progress=lambda count: progress.update(task, completed=count))
    if as_json:
        print_json(report)
    else:
        for finding in report.findings:
            sys.stdout.write(f"invariant {finding.invariant}: {finding.run or 'database'}: {finding.text}\n")
        verdict = "sound" if report.is_clean else f"{len(report.findings)} findings"
        runs = "1 run" if report.runs == 1 else f"{report.runs} runs"
        sys.stdout.write(f"{runs}, {report.events} events: {verdict}\n")
    return 0 if report.is_clean else 1


def migrate_database(url: str | None) -> int:
    from perdure.assembly import Perdure

    async def migrate() -> None:
        async with Perdure.open(settings=load_settings({"database_url": url})).at_rest():
            pass

    try:
        asyncio.run(migrate())
    except PerdureError as error:
        tell(error)
        return 2
    sys.stdout.write("the schema is up to date\n")
    return 0
