"""What the figures mean: their names, their units, and what the bare database would need for the same commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

Results: TypeAlias = dict[str, dict[str, float]]
"""Cell -> figure -> value; the cell `floor` is the database without Perdure."""


class Figure(NamedTuple):
    cell: str
    name: str
    text: str
    unit: str
    floor: Callable[[Results], float] | None = None
    """What the database alone would show."""


def _commits(count: int) -> Callable[[Results], float]:
    return lambda found: count * found["floor"]["commit_ms"]


def _grouped(found: Results) -> float:
    return found["floor"]["grouped_rows_per_s"]


FIGURES = (
    Figure("floor", "commit_ms", "one commit of one row", "ms"),
    Figure("floor", "grouped_rows_per_s", "rows, 100 in a commit", "/s"),
    Figure("W1", "runs_per_s", "runs of five steps, 256 at a time", "/s"),
    Figure("W1", "turns_per_s", "turns made durable", "/s", _grouped),
    Figure("W1", "cpu_ms_per_run", "CPU of this process per run", "ms"),
    Figure("W2", "p50_ms", "start to result, one step: median", "ms", _commits(2)),
    Figure("W2", "p99_ms", "… 99 of 100 within", "ms", _commits(2)),
    Figure("W3", "ms_per_step_100", "a step in a run of 100", "ms", _commits(1)),
    Figure("W3", "ms_per_step_500", "… of 500", "ms", _commits(1)),
    Figure("W3", "ms_per_step_2000", "… of 2,000", "ms", _commits(1)),
    Figure("W4", "total_s_200", "200 steps side by side", "s"),
    Figure("W4", "total_s_1000", "1,000 steps side by side", "s"),
    Figure("W5", "late_p50_ms", "durable sleeps, late by: median", "ms", _commits(2)),
    Figure("W5", "late_p99_ms", "… 99 of 100 within", "ms", _commits(2)),
    Figure("W6", "p50_ms", "signal to result: median", "ms", _commits(2)),
    Figure("W6", "p99_ms", "… 99 of 100 within", "ms", _commits(2)),
    Figure("W7", "first_result_s", "a new process: first result after", "s"),
    Figure("W7", "idle_pss_mb", "… its memory (PSS)", "MB"),
    Figure("W7", "idle_cpu_percent", "… its CPU when idle", "%"),
)

NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def table(about: dict[str, Any], results: dict[str, Results]) -> str:
    return "\n".join([*_lines(about, results), ""])


def _lines(about: dict[str, Any], results: dict[str, Results]) -> Iterator[str]:
    yield f"{about['cores']} cores, {about['system']}, Python {about['python']}; load before: {about['load_before']}"
    yield ""
    yield f"{'':42}" + "".join(f"{NAMES[database]:>14}{'× floor':>10}" for database in results)
    before = None
    for figure in FIGURES:
        if any(figure.name in found.get(figure.cell, {}) for found in results.values()):
            if before not in (None, figure.cell):
                yield ""
            before = figure.cell
            cells = "".join(f"{_value(figure, found):>14}{_ratio(figure, found):>10}" for found in results.values())
            yield f"{figure.cell:7}{figure.text:35}{cells}"


def _value(figure: Figure, found: Results) -> str:
    value = found.get(figure.cell, {}).get(figure.name)
    return "–" if value is None else f"{_short(value)} {figure.unit}"


def _ratio(figure: Figure, found: Results) -> str:
    value = found.get(figure.cell, {}).get(figure.name)
    return "" if value is None or figure.floor is None else _short(value / figure.floor(found))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
