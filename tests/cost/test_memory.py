"""Memory does not grow with what passes through: idle engines, long loops, large payloads."""

from __future__ import annotations

import pytest

from tests.cost.measuring import measure, sized

pytestmark = [pytest.mark.serial, pytest.mark.slow, pytest.mark.timeout(1200)]


def test_an_idle_engine_takes_less_than_80_mb(url: str) -> None:
    found = measure("idle", url, 1)
    assert found["pss_mb"] < 80
    assert found["percent_of_a_core"] < 3


def test_a_loop_of_many_items_lives_neither_in_memory_nor_in_one_event(sqlite_url: str) -> None:
    """Neither a turn, nor the state, nor the process is larger at 20,000 items (or a million) than at 2,000, beyond
    what is bounded: the results that have not been spilled, and the caches of the database."""
    small, large = measure("loop", sqlite_url, 2_000), measure("loop", sqlite_url, sized(20_000, 1_000_000))
    assert large["largest_row"] < 1.5 * small["largest_row"]
    assert large["snapshot"] < 2 * 256 * 1024
    assert large["growth_mb"] < small["growth_mb"] + sized(20, 70)


def test_a_large_payload_goes_through_five_nodes_as_a_stream(url: str) -> None:
    """X25."""
    size = sized(100 if url.startswith("sqlite") else 30, 1024) * 1024 * 1024
    found = measure("payload", url, size)
    assert found["rss_mb"] < 200
    assert found["largest_row"] < 4096
