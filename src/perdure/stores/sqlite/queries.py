"""SQL lives in files. `queries("runs")["find"]` is the statement below the line `-- name: find` of `sql/runs.sql`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_HERE = files("perdure.stores.sqlite")
_MARK = "-- name: "


@cache
def script(name: str) -> str:
    return _HERE.joinpath("sql", f"{name}.sql").read_text("utf-8")


@cache
def queries(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in script(name).split(_MARK)[1:]:
        title, _, body = part.partition("\n")
        found[title.strip()] = body.strip().rstrip(";")
    return found


def migrations() -> list[tuple[int, str]]:
    """Number and text of every migration, in order."""
    folder = _HERE.joinpath("migrations")
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name.split("_")[0]), folder.joinpath(name).read_text("utf-8")) for name in scripts]
