"""Large documents: the loop goes on while they are checked and compiled, and what is told of them can be read."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine.offloop import LARGE, is_large, off_loop
from perdure.errors import DocumentInvalid
from perdure.model.problems import MOST, Problem, told
from perdure.nodes.scripts.script import compilations
from tests.dialects.drift.documents import good, script, state, workflow
from tests.rows.worlds import flow, node

STATES, RULES = 420, 5


def _branches() -> dict[str, Any]:
    """More scripts than there were places to remember them in."""
    states = {
        f"s{number}": state(
            good(
                "BRANCH",
                choices=[
                    {"rule": script(f"return _global.params.a == {number * RULES + rule}"), "nextNode": "done"}
                    for rule in range(RULES)
                ],
                defaultNode=f"s{number + 1}" if number + 1 < STATES else "done",
            ),
            nextNode=None,
        )
        for number in range(STATES)
    }
    return workflow({**states, "done": state(good("SUCCESS"))}, id="large")


async def test_the_loop_goes_on_while_a_large_document_is_checked_and_compiled() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with Perdure.open("memory://") as app:
        busy = asyncio.create_task(others())
        try:
            await app.deploy(_branches())
            assert turns > 1_000  # a few dozen, when it was done between two turns
            translated, turns = compilations(), 0
            await app.library.get(app.namespace, "large")
            assert turns > 100
            assert compilations() == translated
        finally:
            busy.cancel()


async def test_small_documents_are_done_with_where_they_stand_and_large_ones_in_a_thread() -> None:
    here = threading.get_ident()
    assert await off_loop({"a": ["x"]}, threading.get_ident) == here
    assert await off_loop({"a": ["x" * LARGE]}, threading.get_ident) != here


def test_a_document_that_holds_itself_is_measured_too() -> None:
    document: dict[str, Any] = {}
    document["self"] = [document]
    assert is_large(document)


async def test_a_document_that_its_owner_changes_while_it_is_saved_is_saved_as_it_was() -> None:
    document = flow("f", node("a", "json", {"data": ["x" * LARGE]}))
    async with Perdure.open("memory://") as app:
        saving = asyncio.create_task(app.definitions.save(app.namespace, "f", document))
        await asyncio.sleep(0)
        document["nodes"].append({"id": "a", "type": "nonsense"})
        assert [each["id"] for each in (await saving).document["nodes"]] == [each["id"] for each in document["nodes"]][
            :-1
        ]


async def test_of_very_many_mistakes_the_first_are_told_and_how_many_there_are_besides() -> None:
    document = flow("f", *(node(f"n{number}", "json", {"dada": 1}) for number in range(MOST + 500)))
    async with Perdure.open("memory://") as app:
        with pytest.raises(DocumentInvalid) as refused:
            await app.deploy(document)
    problems = refused.value.problems
    assert len(problems) == MOST + 1
    assert problems[-1]["code"] == "PROBLEMS_MORE"


def test_errors_are_not_hidden_behind_warnings() -> None:
    warnings = [Problem("DOUBTFUL", f"/nodes/{number}", "", severity="warning") for number in range(2 * MOST)]
    found = told([*warnings, Problem("WRONG", "/nodes/9999", "")])
    assert [problem.code for problem in found if problem.is_error] == ["WRONG"]
    assert len(found) == MOST + 1
