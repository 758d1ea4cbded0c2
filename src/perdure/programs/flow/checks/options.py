"""The document as a whole: its size, its schedule and time zone, its limits, the schema of its input."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from perdure.errors import PerdureError
from perdure.expressions.places import nearest
from perdure.model.policies import Limits
from perdure.model.problems import Problem, pointed
from perdure.model.schema_cost import why_costly
from perdure.model.schemas import Schema
from perdure.model.times import parse_duration
from perdure.model.zones import zone
from perdure.programs.flow.checks.shape import shown
from perdure.programs.flow.checks.sketch import Sketch, mapping, sequence

MAX_NODES = 10_000
MAX_EDGES = 20_000
MAX_LABEL = 1_000
MAX_PROSE = 20_000

NEVER = "it never fires: there is no such date"
_SOME_DAY = datetime(2026, 1, 1)  # noqa: DTZ001 — whether a cron line ever fires does not depend on the zone


def sizes(document: dict[str, Any]) -> Iterator[Problem]:
    for name, most, code in (("nodes", MAX_NODES, "LIMIT_NODES"), ("edges", MAX_EDGES, "LIMIT_EDGES")):
        count = len(sequence(document.get(name)))
        if count > most:
            yield Problem(code, f"/{name}", f"{count} {name}", expected=f"at most {most}")


def prose(sketch: Sketch) -> Iterator[Problem]:
    """Labels and comments of a length that people can read."""
    yield from _too_long(sketch.document, "")
    for node in sketch.nodes:
        yield from _too_long(node.raw, node.pointer)
    for edge in sketch.edges:
        yield from _too_long(edge.raw, edge.pointer)


def _too_long(raw: dict[str, Any], pointer: str) -> Iterator[Problem]:
    for name, most in (("label", MAX_LABEL), ("comment", MAX_PROSE), ("description", MAX_PROSE)):
        value = raw.get(name)
        if isinstance(value, str) and len(value) > most:
            told = f"{len(value)} characters"
            yield Problem("LIMIT_TEXT", pointed(pointer, name), told, expected=f"at most {most} characters")


def schedule(document: dict[str, Any]) -> Iterator[Problem]:
    line, place = document.get("schedule"), document.get("timezone")
    if isinstance(line, str):
        wrong = why_not_cron(line)
        if wrong is not None:
            told = "five fields: minute, hour, day of month, month, day of week"
            yield Problem("BAD_CRON", "/schedule", f"{shown(line)}: {wrong}", expected=told)
    if isinstance(place, str):
        try:
            zone(place)
        except ValueError as problem:
            yield Problem("BAD_TIMEZONE", "/timezone", str(problem), expected="an IANA name such as Europe/Berlin")


def why_not_cron(line: str) -> str | None:
    """What is wrong with a cron line; None if it will fire some day."""
    from cronsim import CronSim, CronSimError  # most flows have no schedule

    fields = line.split()
    if len(line) > 256 or not line.isascii():
        return "not a cron line"
    if len(fields) != 5:
        return f"{len(fields)} fields; seconds, years and names such as @daily are not supported"
    minute, hour, day, month, weekday = fields
    wrong = (CronSimError, ValueError, OverflowError, IndexError)
    try:
        next(CronSim(" ".join(fields), _SOME_DAY))
    except StopIteration:
        return NEVER
    except wrong as problem:
        try:  # 30 February: another month would have such a day, and another day is in that month
            CronSim(f"{minute} {hour} {day} * {weekday}", _SOME_DAY)
            CronSim(f"{minute} {hour} 1 {month} {weekday}", _SOME_DAY)
        except wrong:
            return str(problem)
        return NEVER
    return None


def limits(sketch: Sketch) -> Iterator[Problem]:
    for name, value in mapping(sketch.settings.get("limits")).items():
        place = pointed("/settings/limits", name)
        if name not in Limits.__struct_fields__:
            meant = nearest(name, Limits.__struct_fields__)
            hint = f"; did you mean {meant!r}?" if meant else ""
            known = f"one of {', '.join(Limits.__struct_fields__)}"
            yield Problem("LIMIT_UNKNOWN", place, f"there is no limit {shown(name)}{hint}", expected=known)
        elif name == "active_time":
            try:
                parse_duration(value)
            except (ValueError, TypeError, AttributeError) as problem:
                yield Problem("FIELD_RANGE", place, str(problem), expected="a duration such as '10m'")
        elif not isinstance(value, int):
            yield Problem("FIELD_TYPE", place, f"{shown(value)} is no limit", expected="a whole number")
        elif not isinstance(value, bool) and value < 1:
            yield Problem("FIELD_RANGE", place, f"a limit of {value}", expected="at least 1")


def retries(sketch: Sketch) -> Iterator[Problem]:
    for node in sketch.nodes:
        retry = node.raw.get("retry")
        if not isinstance(retry, dict):
            continue
        try:
            first, most = parse_duration(retry.get("initial", "1s")), parse_duration(retry.get("maximum", "5m"))
        except (ValueError, TypeError, AttributeError):
            continue  # told with the shape
        if most < first:
            told = f"the longest pause ({shown(retry.get('maximum', '5m'))}) is shorter than the first"
            yield Problem("FIELD_RANGE", pointed(node.pointer, "retry", "maximum"), told)


def input_schema(document: dict[str, Any]) -> Iterator[Problem]:
    schema = document.get("input_schema")
    if isinstance(schema, dict):
        try:
            costly = why_costly(schema)
            if costly is not None:
                place = f"/input_schema{costly.pointer}"
                yield Problem("SCHEMA_TOO_COSTLY", place, costly.message, remedy=costly.remedy)
                return
            Schema(schema)
        except PerdureError as problem:
            yield Problem("BAD_SCHEMA", "/input_schema", problem.message)
