"""Whatever is done to a document: checking it never raises, and what is found sound compiles."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from perdure.dialects.drift import Drift
from perdure.dialects.drift.dialect import definition_problems
from perdure.errors import PerdureError
from perdure.nodes.catalogue import CATALOGUE
from tests.dialects.drift.documents import GOOD, Doc, good, script, state, static, workflow

DRIFT = Drift()
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 2**70, "", "a", "done", "${", "{{#x}}", "$.a[", "\u0000", "é" * 300, [], [None], {},
    {"type": "SCRIPT"}, {"type": "SCRIPT", "value": "return 1"}, {"type": "SCRIPT", "value": {"data": "def ("}},
    {"type": "STATIC", "value": {"type": "MAP", "data": "{"}}, {"type": [], "value": {}}, {"attribute": []}, [[[]]],
    "LATEST", "HTTP", "BRANCH", "SUBWORKFLOW", "SCHEDULER_WAIT", ["x"], {"x": ["y"]},
]  # fmt: skip


def sample(chance: random.Random) -> Doc:
    """Every type of node, one after the other."""
    types = list(GOOD)
    chance.shuffle(types)
    states = {f"s{number}": state(good(type), f"s{number + 1}") for number, type in enumerate(types)}
    states[f"s{len(types)}"] = state(good("SUCCESS"))
    states["done"] = state(good("FAILURE", errorCode="X"))
    states["stored"] = {"resourceId": "x", "resourceVersion": "LATEST"}
    states["call"] = state(
        good("HTTP", httpComponents={"url": script("return 'x'"), "body": static({"a": 1}, "JSON"), "method": "PUT"})
    )
    return workflow(states, defaultFailureNode="done", postWorkflowCompletionNodes=["call"])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        return found + [place for key, inner in value.items() for place in places(inner, (*path, key))]
    if isinstance(value, list):
        return found + [place for key, inner in enumerate(value) for place in places(inner, (*path, key))]
    return found


def mutated(document: Doc, chance: random.Random) -> Doc:
    document = copy.deepcopy(document)
    for _ in range(chance.choice([1, 1, 2, 5])):
        if not document:
            break
        *way, last = chance.choice(places(document))
        holder: Any = document
        for key in way:
            holder = holder[key]
        if chance.random() < 0.3:
            del holder[last]
        elif chance.random() < 0.2 and isinstance(holder, dict):
            holder[chance.choice(["", "a/b~c", "ä", "S1", "x" * 200])] = holder.pop(last)
        else:
            holder[last] = copy.deepcopy(chance.choice(ODD))
    return document


@pytest.mark.parametrize("seed", range(8))
def test_mutated_documents_are_told_about_and_those_without_mistakes_compile(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        document = mutated(sample(chance), chance)
        problems = DRIFT.validate(document, CATALOGUE)
        DRIFT.semantic(document)
        references = DRIFT.references(document)
        linked = DRIFT.link(document, {each: good("SUCCESS") for each in references if each.kind == "node"})
        if linked is not document:
            problems = DRIFT.validate(linked, CATALOGUE)
        if not any(problem.is_error for problem in problems) and not DRIFT.references(linked):
            DRIFT.compile(linked, CATALOGUE)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_node_definitions_are_told_about(seed: int) -> None:
    chance = random.Random(seed)
    for type in GOOD:
        for _ in range(20):
            DRIFT.part_problems("node", mutated(good(type), chance), CATALOGUE)


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_anything_is_a_document_to_be_looked_at(value: Any) -> None:
    for document in (value, {"states": value}, {"startNode": value}, {"states": {"a": value}, "startNode": "a"}):
        assert DRIFT.validate(document, CATALOGUE)
        DRIFT.references(document)
        try:
            DRIFT.semantic(document)
        except PerdureError:
            pytest.fail("it is asked of documents without mistakes only, and need not refuse")


@pytest.mark.parametrize("target", [["x"], {"x": 1}, 5, [["x"]]])
def test_a_choice_that_names_no_state_is_told_about(target: Any) -> None:
    choices = [{"rule": script("return true"), "nextNode": target}]
    told = definition_problems(good("BRANCH", choices=choices, defaultNode=target), CATALOGUE)
    assert {"/choices/0/nextNode", "/defaultNode"} <= {problem.pointer for problem in told if problem.is_error}
