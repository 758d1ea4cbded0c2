"""`perdure`: the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from perdure import __version__

app = App(
    name="perdure", version=__version__, help="Durable workflows: flows, code and lifecycles on one small kernel."
)

Database = Annotated[str | None, Parameter(name="--database", help="sqlite:///file.db, postgresql://… or memory://")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]

Answers = Annotated[
    str | None,
    Parameter(
        name="--answers",
        help="JSON object, @FILE or FILE: node → what is selected, signal → payload; or lists, used one by one.",
    ),
]


@app.command
def run(
    file: Annotated[Path | None, Parameter(help="The flow document.")] = None,
    *,
    input: Annotated[str | None, Parameter(help="The run's input as JSON, or @FILE.")] = None,
    database: Database = None,
    resume: Annotated[str | None, Parameter(help="Go on with this run instead of starting one.")] = None,
    answers: Answers = None,
    app: Annotated[str | None, Parameter(help="package.module:attribute with step functions.")] = None,
) -> None:
    """Run a flow document to its end and print its result as JSON.

    Exit status: 0 COMPLETED, 1 not completed, 2 wrong use, 3 it waits for an answer or one was refused (its
    id is printed), 130 interrupted.
    """
    from perdure.cli.running import run_file

    sys.exit(run_file(file, input, database, resume, answers, app))


@app.command
def retry(
    id: Annotated[str, Parameter(help="The failed run.")],
    *,
    database: Database = None,
    answers: Answers = None,
    app: Annotated[str | None, Parameter(help="package.module:attribute with step functions.")] = None,
) -> None:
    """Take a failed run up again where it failed, and go on as `perdure run --resume` does."""
    from perdure.cli.running import run_file

    sys.exit(run_file(None, None, database, id, answers, app, retry=True))


@app.command
def validate(*files: Annotated[Path, Parameter(help="Flow documents.")], json: Json = False) -> None:
    """Check flow documents and name every mistake at once. Executes nothing."""
    from perdure.cli.checking import validate_files

    sys.exit(validate_files(files, json))


@app.command
def dev(
    *,
    host: Annotated[str | None, Parameter(help="The loopback address to listen on.")] = None,
    port: Annotated[int | None, Parameter(help="The port to listen on; 0 is any free one.")] = None,
    database: Database = None,
    app: Annotated[str | None, Parameter(help="package.module:attribute with step functions.")] = None,
) -> None:
    """Engine and HTTP surface in one process, on SQLite at 127.0.0.1:8000 unless told otherwise."""
    from perdure.cli.serving import serve

    sys.exit(serve({"host": host, "port": port, "database_url": database}, app))


@app.command
def fsck(*, database: Database = None, json: Json = False) -> None:
    """Check the invariants of a database from its log up. Reads only. Exit status 1 if something is wrong."""
    from perdure.cli.checking import check_database

    sys.exit(check_database(database, json))


@app.command
def migrate(*, database: Database = None) -> None:
    """Bring the database's schema up to date."""
    from perdure.cli.checking import migrate_database

    sys.exit(migrate_database(database))


@app.command
def simulate(
    *,
    seed: Annotated[int | None, Parameter(help="Run this one seed and print its log.")] = None,
    seeds: Annotated[int, Parameter(help="How many seeds to run.")] = 100,
    start: Annotated[int, Parameter(help="The first of them.")] = 0,
    size: Annotated[Literal["small", "medium", "large"], Parameter(help="How many workers and runs.")] = "small",
) -> None:
    """Deterministic simulation of several workers with faults; any seed reproduces byte for byte."""
    from perdure.testing.simulate import main as simulation

    sys.exit(simulation(seed, seeds, start, size))


def main() -> None:
    app()


if __name__ == "__main__":
    main()
