"""What the reference pages say besides tables and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import errors
from perdure.assembly import open_store, sqlite_path
from perdure.errors import PerdureError

SETTINGS = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "settings.md").read_text()
URLS = dict(re.findall(r"^\| `((?:sqlite|postgresql|memory)://[^`]*)` \| (.*) \|$", SETTINGS, re.MULTILINE))
STORES = {"sqlite": "SqliteStore", "postgresql": "PostgresStore", "memory": "MemoryStore"}


@pytest.mark.parametrize("url", URLS)
def test_a_database_url_opens_the_store_that_the_page_says(url: str) -> None:
    scheme = url.partition(":")[0]
    assert type(open_store(url)).__name__ == STORES[scheme]


def test_sqlite_urls_name_the_file_that_the_page_says() -> None:
    found = {sqlite_path(url): told for url, told in URLS.items() if url.startswith("sqlite")}
    assert "current directory" in found["perdure.db"]
    assert "absolute" in found["/var/lib/perdure.db"]
    assert len(URLS) == 4


def descendants(kind: type[PerdureError]) -> Iterator[type[PerdureError]]:
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
            yield from descendants(each)


def test_the_tree_that_is_drawn_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+) +([A-Z_]{4,})? *(\d{3})?", errors.__doc__ or "")
    assert {name for name, _, _ in drawn} == {kind.__name__ for kind in descendants(PerdureError)}
    for name, code, status in drawn:
        kind = getattr(errors, name)
        assert code in ("", kind.code), name
        assert status in ("", str(kind.status)), name
