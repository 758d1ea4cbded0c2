"""The page of the patterns is what its tool makes of the documents."""

from __future__ import annotations

from tests.patterns.harness import patterns
from tools import pattern_page


def test_the_page_is_up_to_date() -> None:
    assert pattern_page.PAGE.read_text() == pattern_page.render(), "run python tools/pattern_page.py"


def test_the_page_has_all_43() -> None:
    page = pattern_page.PAGE.read_text()
    for pattern in patterns():
        assert f"## WCP-{pattern.number} {pattern.name}\n" in page
    assert page.count("```mermaid") == 43


def test_every_node_and_edge_is_in_its_picture() -> None:
    for pattern in patterns():
        lines = pattern_page.picture(pattern.document)
        text = "\n".join(lines)
        assert all(f'"{node["id"]}' in text for node in pattern.document["nodes"]), pattern
        assert sum("-->" in line for line in lines) == len(pattern.document["edges"]), pattern
