"""Every pattern document runs exactly as its expected traces say, also when it is restarted after each turn."""

from __future__ import annotations

import pytest

from tests.patterns.harness import FOLDER, Pattern, Scenario, Story, patterns, perform
from tests.patterns.laws import LAWS

CASES = [(pattern, scenario) for pattern in patterns() for scenario in pattern.scenarios]
NAMES = [f"{pattern.slug}/{scenario['name']}" for pattern, scenario in CASES]


@pytest.mark.parametrize(("pattern", "scenario"), CASES, ids=NAMES)
@pytest.mark.parametrize("restart", [False, True], ids=["", "restarting"])
def test_a_scenario_goes_as_written(pattern: Pattern, scenario: Scenario, restart: bool) -> None:
    run = perform(pattern, scenario, restart=restart)
    story = Story(run)
    assert story.lines == scenario["trace"]
    assert run.status == scenario["status"]
    assert run.output == scenario["output"]
    LAWS[pattern.number](story, scenario)


def test_all_43_patterns_are_there() -> None:
    found = patterns()
    assert [pattern.number for pattern in found] == list(range(1, 44))
    assert sorted(LAWS) == list(range(1, 44))
    assert all(pattern.slug.startswith(f"wcp-{pattern.number:02d}-") for pattern in found)
    assert all(pattern.document["id"] == pattern.slug for pattern in found)


def test_no_file_is_left_over() -> None:
    slugs = {pattern.slug for pattern in patterns()}
    known = {f"{slug}{end}" for slug in slugs for end in (".json", ".expected.json")} | {"index.json"}
    assert {path.name for path in FOLDER.glob("*.json")} == known
