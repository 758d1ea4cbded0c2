"""What you see is what executes: rows A09 and A10."""

import copy
import random
from typing import Any

import pytest

from perdure import Perdure
from perdure.dialects.yantra import Yantra
from perdure.model.canonical import canonical
from perdure.model.values import digest
from tests.dialects.yantra.graphs import edge, gathering, node, row, run

DOCUMENT = gathering(
    [node("json", {"data": "{{item.name}}"}, "pick")],
    [edge("loop", "pick", sourceHandle="loop-output"), edge("pick", "loop", targetHandle="accumulator-input")],
)


def hash_of(document: Any) -> str:
    return digest(canonical(Yantra().semantic(document)))


def test_a10_positions_labels_and_names_change_neither_the_hash_nor_the_trace() -> None:
    chance = random.Random(7)
    moved = copy.deepcopy(DOCUMENT)
    moved |= {"name": "Another", "description": "…", "viewport": {"zoom": 2}, "category": "x"}
    for each in moved["nodes"]:
        each |= {
            "position": {"x": chance.random(), "y": chance.random()},
            "label": str(chance.random()),
            "selected": True,
        }
        each["data"]["label"] = "new"
    for each in moved["edges"]:
        each |= {"id": str(chance.random()), "type": "smoothstep", "animated": True, "label": "a label"}
    assert hash_of(moved) == hash_of(DOCUMENT)
    assert run(moved).trace == run(DOCUMENT).trace


def changed(change: Any) -> Any:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["nodes"][1]["data"]["config"].update(data=[1]),
        lambda d: d["edges"][0].update(condition="false"),
        lambda d: d["edges"][1].update(targetHandle="accumulator-input"),
        lambda d: d["nodes"].pop(),
        lambda d: d["nodes"][1].update(type="json-array"),
        lambda d: d.update(schedule="0 9 * * *"),
    ],
)
def test_what_is_executed_changes_the_hash(change: Any) -> None:
    assert hash_of(changed(change)) != hash_of(DOCUMENT)


def test_a_label_counts_only_where_it_chooses() -> None:
    asked = row(node("conditional", {"condition": "true"}))
    plain, labelled = copy.deepcopy(asked), copy.deepcopy(asked)
    labelled["edges"][1]["label"] = "False"
    assert hash_of(plain) != hash_of(labelled)
    for each in (plain, labelled):
        each["edges"][1]["sourceHandle"] = "true"
    assert hash_of(plain) == hash_of(labelled)


def test_a_configuration_is_the_same_in_either_place() -> None:
    other = copy.deepcopy(DOCUMENT)
    for each in other["nodes"]:
        each["config"] = each.pop("data")["config"]
    assert hash_of(other) == hash_of(DOCUMENT)


async def test_a09_a_document_is_stored_and_given_back_as_it_came_and_its_run_names_its_hash() -> None:
    async with Perdure.open("memory://") as app:
        version = await app.deploy(DOCUMENT)
        assert version.id == "a-graph"
        assert version.kind == "yantra"
        assert canonical(version.document) == canonical(DOCUMENT)
        assert version.hash == hash_of(DOCUMENT)
        first = await app.start("a-graph")
        assert (await first.result())["accumulated"] == ["a", "b", "c"]
        begun = (await first.history())[0].event
        assert begun.hash == version.hash
        again = await app.deploy(version.document)
        assert again.version == version.version
