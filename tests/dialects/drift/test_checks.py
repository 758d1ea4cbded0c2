"""What is wrong with a Drift document is told when it is saved, with its place in the document (A01, A02, A04, A19)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from perdure.dialects.drift import Drift
from perdure.dialects.known import dialect_of
from perdure.errors import DocumentInvalid
from perdure.model.canonical import canonical
from perdure.nodes.catalogue import CATALOGUE
from tests.dialects.drift.documents import (
    FAILURE,
    GOOD,
    SUCCESS,
    Doc,
    definition,
    good,
    script,
    state,
    static,
    workflow,
)
from tests.rows.worlds import World, on_every_store

DRIFT = Drift()


def problems(document: Any, severity: str = "error") -> list[tuple[str, str]]:
    found = DRIFT.validate(document, CATALOGUE)
    return [(problem.code, problem.pointer) for problem in found if problem.severity == severity]


def test_a_workflow_is_known_by_its_states_and_its_start() -> None:
    assert dialect_of(workflow({"a": state(SUCCESS)})).kind == "drift"
    assert dialect_of({"states": {}}).kind == "drift"
    assert dialect_of({"startNode": "a"}).kind == "drift"
    assert dialect_of({"nodes": [], "states": {}}).kind == "flow"
    assert dialect_of({"states": [{"name": "x"}]}).kind == "flow"


def test_a02_a_sound_workflow_has_no_problems() -> None:
    document = workflow({"a": state(good("WAIT"), "b"), "b": state(SUCCESS)})
    assert DRIFT.validate(document, CATALOGUE) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"startNode": None}, ("FIELD_MISSING", "/startNode")),
        ({"startNode": "nowhere"}, ("STATE_UNKNOWN", "/startNode")),
        ({"startNode": 5}, ("FIELD_TYPE", "/startNode")),
        ({"id": None}, ("FIELD_MISSING", "/id")),
        ({"states": {}}, ("FIELD_MISSING", "/states")),
        ({"states": []}, ("FIELD_TYPE", "/states")),
        ({"states": {"a": 5}, "startNode": "a"}, ("FIELD_TYPE", "/states/a")),
        ({"defaultFailureNode": "nowhere"}, ("STATE_UNKNOWN", "/defaultFailureNode")),
        ({"postWorkflowCompletionNodes": ["b", "nowhere"]}, ("STATE_UNKNOWN", "/postWorkflowCompletionNodes/1")),
        ({"postWorkflowCompletionNodes": "b"}, ("FIELD_TYPE", "/postWorkflowCompletionNodes")),
    ],
)
def test_a02_fields_of_the_workflow(change: Doc, expected: tuple[str, str]) -> None:
    document = {**workflow({"a": state(good("WAIT"), "b"), "b": state(SUCCESS)}), **change}
    assert expected in problems({key: value for key, value in document.items() if value is not None})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nextNode": "nowhere"}, ("STATE_UNKNOWN", "/states/a/nextNode")),
        ({"nextNode": 7}, ("FIELD_TYPE", "/states/a/nextNode")),
        ({"type": "STEP"}, ("FIELD_VALUE", "/states/a/type")),
        ({"end": "yes"}, ("FIELD_TYPE", "/states/a/end")),
        ({"parameters": []}, ("FIELD_TYPE", "/states/a/parameters")),
        ({"resourceVersion": "newest"}, ("FIELD_VALUE", "/states/a/resourceVersion")),
        ({"nodeDefinition": None}, ("FIELD_MISSING", "/states/a/resourceId")),
        ({"nodeDefinition": []}, ("FIELD_TYPE", "/states/a/nodeDefinition")),
        ({"nodeDefinition": definition("HTPP")}, ("NODE_TYPE_UNKNOWN", "/states/a/nodeDefinition/type")),
        ({"nodeDefinition": definition("UPDATE_INCIDENT")}, ("NODE_TYPE_UNKNOWN", "/states/a/nodeDefinition/type")),
        ({"type": "SUBWORKFLOW"}, ("FIELD_MISSING", "/states/a/resourceId")),
    ],
)
def test_a02_fields_of_a_state(change: Doc, expected: tuple[str, str]) -> None:
    document = workflow({"a": state(good("WAIT"), "b"), "b": state(SUCCESS)})
    document["states"]["a"] |= change
    assert expected in problems(document)


def test_a02_choices_lead_somewhere() -> None:
    branch = good("BRANCH", choices=[{"rule": script("return true"), "nextNode": "no"}], defaultNode="neither")
    document = workflow({"a": state(branch, nextNode=None), "done": state(SUCCESS)})
    assert problems(document) == [
        ("STATE_UNKNOWN", "/states/a/nodeDefinition/choices/0/nextNode"),
        ("STATE_UNKNOWN", "/states/a/nodeDefinition/defaultNode"),
    ]


def test_a02_a_state_that_nothing_could_ever_run_is_refused_and_one_on_demand_is_told_of() -> None:
    document = workflow(
        {
            "a": state(SUCCESS),
            "aside": state(good("WAIT"), "behind"),
            "behind": state(SUCCESS),
            "after": state(good("WAIT")),
        },
        postWorkflowCompletionNodes=["after"],
    )
    assert problems(document) == [("NODE_UNREACHABLE", "/states/behind")]
    assert problems(document, "warning") == [("STATE_ON_DEMAND", "/states/aside")]


def test_a02_a_circle_without_a_way_out_is_refused_unless_somebody_is_asked_in_it() -> None:
    round_and_round = workflow({"a": state(good("WAIT"), "b"), "b": state(good("WAIT"), "a")})
    assert problems(round_and_round) == [("NODE_NO_END", "/states/a")]
    round_and_round["states"]["b"]["nodeDefinition"] = good("INSTRUCTION")
    assert problems(round_and_round) == []
    assert ("NODE_NO_END", "/states/a") in problems(round_and_round, "warning")


def test_a02_circles_with_a_way_out_are_fine() -> None:
    branch = good("BRANCH", choices=[{"rule": script("return true"), "nextNode": "a"}], defaultNode="done")
    document = workflow({"a": state(good("WAIT"), "b"), "b": state(branch, nextNode=None), "done": state(SUCCESS)})
    assert problems(document) == []


def test_names_that_differ_and_fields_that_nobody_reads_are_warnings() -> None:
    document = workflow({"a": state(SUCCESS, instanceName="other", colour="red")}, colour="red")
    found = problems(document, "warning")
    assert ("STATE_NAME_DIFFERS", "/states/a/instanceName") in found
    assert ("FIELD_UNKNOWN", "/states/a/colour") in found
    assert ("FIELD_UNKNOWN", "/colour") in found
    assert problems(document) == []


def test_two_states_of_one_name_are_a_mistake() -> None:
    twins = {"a": state(good("WAIT"), "b", instanceName="x"), "b": state(SUCCESS, instanceName="x")}
    assert ("STATE_NAME_DIFFERS", "/states/b/instanceName") in problems(workflow(twins))


@pytest.mark.parametrize("type", GOOD)
def test_a04_the_least_that_each_type_takes(type: str) -> None:
    assert [p for p in DRIFT.part_problems("node", good(type), CATALOGUE) or [] if p.is_error] == []


BAD: list[tuple[str, Doc, str]] = [
    ("HTTP", {"httpComponents": None}, "/httpComponents"),
    ("HTTP", {"httpComponents": []}, "/httpComponents"),
    ("HTTP", {"httpComponents": {"method": "GET"}}, "/httpComponents/url"),
    ("HTTP", {"httpComponents": {"url": static("u"), "method": "FETCH"}}, "/httpComponents/method"),
    ("HTTP", {"httpComponents": {"url": {"type": "MAGIC", "value": 1}}}, "/httpComponents/url/type"),
    ("HTTP", {"httpComponents": {"url": script("")}}, "/httpComponents/url/value/data"),
    ("HTTP", {"transformerComponents": {"transformer": static(1)}}, "/transformerComponents/transformer/type"),
    ("GROOVY", {"transformer": None}, "/transformer"),
    ("GROOVY", {"transformer": "return 1"}, "/transformer"),
    ("GROOVY", {"transformer": None, "script": 5}, "/script"),
    ("BRANCH", {"choices": None}, "/choices"),
    ("BRANCH", {"choices": []}, "/choices"),
    ("BRANCH", {"choices": [{"nextNode": "a"}]}, "/choices/0/rule"),
    ("BRANCH", {"choices": [{"rule": script("return true")}]}, "/choices/0/nextNode"),
    ("BRANCH", {"choices": [7]}, "/choices/0"),
    ("INSTRUCTION", {"inputOptions": None}, "/inputOptions"),
    ("INSTRUCTION", {"inputOptions": {}}, "/inputOptions"),
    ("INSTRUCTION", {"inputOptions": [7]}, "/inputOptions/0"),
    ("PROCESSOR", {"processorComponents": None}, "/processorComponents"),
    ("PROCESSOR", {"processorComponents": {}}, "/processorComponents/processor"),
    ("SUCCESS", {"comment": 5}, "/comment"),
    ("FAILURE", {"error": None}, "/error"),
    ("FAILURE", {"error": 5}, "/error"),
    ("WAIT", {"config": None}, "/config"),
    ("WAIT", {"config": {}}, "/config/waitType"),
    ("WAIT", {"config": {"waitType": "NAP"}}, "/config/waitType"),
    ("WAIT", {"config": {"waitType": "SCHEDULER_WAIT"}}, "/config/duration"),
    ("WAIT", {"config": {"waitType": "SCHEDULER_WAIT", "duration": 0}}, "/config/duration"),
    ("WAIT", {"config": {"waitType": "SCHEDULER_WAIT", "duration": "15"}}, "/config/duration"),
    ("WAIT", {"config": {"waitType": "ABSOLUTE_WAIT"}}, "/config/timestamp"),
    ("WAIT", {"config": {"waitType": "ABSOLUTE_WAIT", "timestamp": "tomorrow"}}, "/config/timestamp"),
    ("CHILD", {"childWorkflowId": None}, "/childWorkflowId"),
    ("CHILD", {"executionMode": "LATER"}, "/executionMode"),
    ("CHILD", {"childWorkflowVersion": "newest"}, "/childWorkflowVersion"),
    ("CONTEXT_OVERRIDE", {"transformerComponents": None}, "/transformer"),
    ("DELEGATE", {"parameters": "x"}, "/parameters"),
]


@pytest.mark.parametrize(("type", "change", "place"), BAD, ids=str)
def test_a04_what_is_missing_or_wrong_in_a_node_definition(type: str, change: Doc, place: str) -> None:
    wrong = {key: value for key, value in {**good(type), **change}.items() if value is not None}
    alone = [problem.pointer for problem in DRIFT.part_problems("node", wrong, CATALOGUE) or [] if problem.is_error]
    assert place in alone
    inside = workflow({"a": state(wrong), "done": state(SUCCESS)})
    assert f"/states/a/nodeDefinition{place}" in [pointer for _, pointer in problems(inside)]


@pytest.mark.parametrize("type", GOOD)
def test_a04_every_type_needs_an_id_and_every_definition_a_type(type: str) -> None:
    for field in ("id", "type"):
        wrong = {key: value for key, value in good(type).items() if key != field}
        inside = workflow({"a": state(wrong), "done": state(SUCCESS)})
        assert ("FIELD_MISSING", f"/states/a/nodeDefinition/{field}") in problems(inside)


@pytest.mark.parametrize("document", [None, [], "x", 5, {"startNode": float("nan")}], ids=repr)
def test_what_is_no_document_at_all_is_told_and_not_raised(document: Any) -> None:
    assert problems(document)


@on_every_store
async def test_a01_a_document_comes_back_as_it_was_given(world: World) -> None:
    document = workflow(
        {"a": state(good("WAIT"), "b", comment="first"), "b": state(SUCCESS), "c": state(FAILURE)},
        comment="for people",
        version="7",
        defaultFailureNode="c",
        postWorkflowCompletionNodes=["a"],
    )
    async with world.app() as app:
        await app.definitions.save("default", "wf", copy.deepcopy(document))
        assert canonical((await app.definitions.draft("default", "wf")).document) == canonical(document)
        await app.definitions.publish("default", "wf")
        assert (await app.definitions.version("default", "wf")).document == document


@on_every_store
async def test_a02_nothing_is_stored_of_a_document_with_mistakes(world: World) -> None:
    async with world.app() as app:
        with pytest.raises(DocumentInvalid) as caught:
            await app.definitions.save("default", "wf", workflow({"a": state(good("WAIT"), "nowhere")}))
        assert caught.value.problems[0]["pointer"] == "/states/a/nextNode"
        assert list(await app.definitions.list("default")) == []


def test_a19_comments_change_nothing_but_are_kept() -> None:
    document = workflow({"a": state(good("WAIT"), "b"), "b": state(SUCCESS)})
    talkative = copy.deepcopy(document)
    talkative |= {"comment": "why", "description": "what"}
    talkative["states"]["a"]["comment"] = "here"
    talkative["states"]["a"]["nodeDefinition"]["comment"] = "and here"
    assert DRIFT.semantic(talkative) == DRIFT.semantic(document)
    talkative["states"]["b"]["nodeDefinition"]["comment"] = "another message"
    assert DRIFT.semantic(talkative) != DRIFT.semantic(document)
