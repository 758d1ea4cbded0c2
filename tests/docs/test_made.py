"""The tool that fills pages: it replaces what stands between its marks, and leaves nothing out silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import made

TEXT = "before\n\n<!-- made: names -->\nold\n<!-- end -->\n\nafter\n"


def test_what_stands_between_the_marks_is_replaced() -> None:
    once = made.filled(TEXT, {"names": lambda: ["new"]})
    assert once == "before\n\n<!-- made: names -->\n\nnew\n\n<!-- end -->\n\nafter\n"
    assert made.filled(once, {"names": lambda: ["new"]}) == once


@pytest.mark.parametrize("parts", [{}, {"names": list, "others": list}])
def test_a_place_without_a_part_and_a_part_without_a_place_are_refused(parts: dict[str, made.Part]) -> None:
    with pytest.raises(SystemExit):
        made.filled(TEXT, parts)


def test_a_page_that_is_out_of_date_is_told_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(TEXT)
    monkeypatch.setattr("sys.argv", ["names_page.py", "--check"])
    assert made.keep(page, {"names": lambda: ["new"]}) == 1
    assert page.read_text() == TEXT
    monkeypatch.setattr("sys.argv", ["names_page.py"])
    assert made.keep(page, {"names": lambda: ["new"]}) == 0
    assert "new" in page.read_text()


def test_names_without_words_and_words_without_a_name_are_refused() -> None:
    made.in_words(["a"], {"a": "the first"}, "letters")
    with pytest.raises(SystemExit, match="letters without a word about them: b"):
        made.in_words(["a", "b"], {"a": "the first"}, "letters")
    with pytest.raises(SystemExit, match="letters that there are no more: a"):
        made.in_words([], {"a": "the first"}, "letters")


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert made.table(["sign"], [["a | b"]])[-1] == "| a \\| b |"
