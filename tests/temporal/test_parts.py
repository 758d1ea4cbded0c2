"""What a child on Temporal is given: its document with the stored parts in it, its look-ups, and its pins."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from perdure import Perdure
from perdure.dialects.known import BY_KIND
from perdure.kernel.kernel import Kernel
from perdure.programs.flow.program import FlowProgram
from perdure.temporal.activities import FlowActivities
from tests.rows.worlds import flow, node


def activities(app: Perdure, links: Any) -> FlowActivities:
    return FlowActivities({}, app.store.definitions, "default", timedelta(seconds=1), links)


async def test_a_child_is_given_its_parts_as_they_are_when_it_starts() -> None:
    async with Perdure.open("memory://") as app:
        await app.lookups.put("default", {"a.b": 1})
        await app.parts.deploy(
            "default", "node", "p", {"type": "json", "config": {"data": {"x": "${_enum_store.a.b}"}}}
        )
        await app.deploy(flow("child", {"id": "p", "use": {"ref": "p"}}, node("end", "end")))
        finding = activities(app, app.library.links)
        found = await finding.find_definition("child", None)
        assert found.pins == {"node:p@LATEST": 1, "lookups:all@LATEST": 1}
        assert found.lookups == {"a.b": 1, "a": {"b": 1}}
        assert found.document["nodes"][1] == {
            "id": "p",
            "type": "json",
            "config": {"data": {"x": "${_enum_store.a.b}"}},
        }
        assert (await finding.find_definition("child", 1)).pins == found.pins
        graph = BY_KIND[found.kind].compile(found.document, app.catalogue)  # as the workflow does
        assert Kernel(FlowProgram(graph, found.lookups)) is not None


async def test_a_child_that_uses_nothing_is_given_as_it_is() -> None:
    async with Perdure.open("memory://") as app:
        document = flow("child", node("end", "end"))
        await app.deploy(document)
        for links in (None, app.library.links):
            found = await activities(app, links).find_definition("child", None)
            assert (found.document, found.pins, found.lookups) == (document, None, None)
        with pytest.raises(ApplicationError):
            await activities(app, app.library.links).find_definition("nothing", None)
