"""Whatever is in a document: checking it never fails, and what passes the check runs to an end."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.dialects.known import dialect_of
from perdure.dialects.yantra import Yantra, triggers_of
from perdure.dialects.yantra.drawing import TYPES
from perdure.model.canonical import canonical
from perdure.testing.pure import PureRunner
from tests.dialects.yantra.graphs import CATALOGUE, edge, gathering, graph, node, problems, row

SEEDS = [
    row(node("json", {"data": {"a": 1}}), node("conditional", {"condition": "a == 1"}), node("delay", {"duration": 5})),
    gathering(
        [
            node("conditional", {"conditions": [{"left": "item.id", "operator": "gt", "right": "1"}]}, "if"),
            node("transform"),
        ],
        [
            edge("loop", "if", sourceHandle="loop-output"),
            edge("if", "transform-1", sourceHandle="true", condition="data.data == true"),
            edge("transform-1", "loop", targetHandle="accumulator-input"),
        ],
    ),
    row(
        node("json-array", {"jsonArray": '[{"a": 1}]'}),
        node("loop", {"itemVariable": "x", "iterationDelay": 1}),
        node("json_to_csv"),
        node("sleep", {"mode": "relative", "duration_value": 1}),
    ),
    row(
        node("http", {"url": "https://a.example/{{x}}", "body": {"a": "{{b}}"}}),
        node("email", {"to": "a@example.com", "subject": "{{x}}", "body": "{{range .xs}}{{.}}{{end}}"}),
        node("slack", {"webhookUrl": "https://hooks.slack.com/x", "message": "{{x}}"}),
    ),
]
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x",
    "true",
    "data.x",
    "{{",
    "{{a}}",
    "${a}",
    "${",
    "`",
    "a-b.c",
    "$.a",
    "a..b",
    "[",
    "(",
    [],
    [None],
    {},
    {"config": None},
    "loop-output",
    "accumulator-input",
    "output",
    "start",
    "end",
    "loop",
    "\ud800",
]
odd = st.sampled_from(ODD)


@st.composite
def broken(draw: st.DrawFn) -> Any:
    """A document in which a few places were changed, taken away, doubled or swapped."""
    document = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 5))):
        places: list[tuple[Any, Any]] = []

        def walk(value: Any, places: list[tuple[Any, Any]] = places) -> None:
            keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
            for key in keys:
                places.append((value, key))
                walk(value[key])

        walk(document)
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.integers(0, 3)):
            case 0:
                holder[key] = copy.deepcopy(draw(odd))
            case 1:
                del holder[key]
            case 2 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _:
                other, at = draw(st.sampled_from(places))
                if isinstance(other, dict | list) and not isinstance(
                    other.get(at) if isinstance(other, dict) else None, dict | list
                ):
                    holder[key] = copy.deepcopy(draw(odd))
    return document


@st.composite
def drawings(draw: st.DrawFn) -> Any:
    """Any nodes with any edges between them, sensible or not."""
    ids = [f"n-{number}" for number in range(draw(st.integers(1, 8)))]
    configs = {
        "json": {"data": [{"a": 1}, 2]},
        "json-array": {"jsonArray": '[{"a": 1}]'},
        "conditional": {"condition": "item != nil"},
        "sleep": {"mode": "relative", "duration_value": 1},
        "http": {"url": "https://a.example"},
        "loop": {"arrayPath": ""},
        "email": {"to": "a@example.com", "subject": "s", "body": "b"},
        "slack": {"webhookUrl": "https://hooks.slack.com/x", "text": "t"},
    }
    kinds = [draw(st.sampled_from(TYPES)) for _ in ids]
    nodes = [
        node("start"),
        *(node(kind, configs.get(kind), id) for id, kind in zip(ids, kinds, strict=True)),
        node("end"),
    ]
    nodes = [each for at, each in enumerate(nodes) if each["type"] != "start" or at == 0]
    every = [each["id"] for each in nodes]
    handles = st.sampled_from([None, None, "true", "false", "loop-output", "output"])
    entering = st.sampled_from([None, None, "input", "accumulator-input"])
    conditions = st.sampled_from([None, None, "data.data == true", "data.x > 1", "index == 0"])
    edges = [edge("start-1", draw(st.sampled_from(every)))]
    for _ in range(draw(st.integers(0, 14))):
        rest = {"sourceHandle": draw(handles), "targetHandle": draw(entering), "condition": draw(conditions)}
        edges.append(edge(draw(st.sampled_from(every)), draw(st.sampled_from(every)), **rest))
    return graph(nodes, edges)


def answer(ctx: Any) -> Any:
    return {"data": [1, {"a": 2}]}


def stands_in(document: Any, pointer: str) -> bool:
    """Whether the pointer leads to a place of the document, or to one that is missing in an object of it."""
    at = document
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for number, step in enumerate(steps):
        if isinstance(at, list) and step.isdecimal() and int(step) < len(at):
            at = at[int(step)]
        elif isinstance(at, dict) and step in at:
            at = at[step]
        else:
            return number >= len(steps) - 2
    return True


def ends(document: Any) -> None:
    """What the check lets pass compiles, and runs to an end, completed or failed."""
    found = problems(document)
    Yantra().semantic(document)
    for each in found:
        assert stands_in(document, each.pointer), each
    if any(each.is_error for each in found):
        return
    canonical(Yantra().semantic(document))
    triggers_of(document)
    runner = PureRunner(
        {**document, "kind": "yantra"}, handlers=dict.fromkeys(("http", "email", "slack"), answer), check="end"
    )
    run = runner.run([1, {"a": 1}])
    assert run.status in ("COMPLETED", "FAILED"), run.status


@given(broken())
@settings(max_examples=400)
def test_a_document_with_any_mistakes_is_checked_and_what_passes_runs(document: Any) -> None:
    if isinstance(document, dict):
        dialect_of(document).validate(document, CATALOGUE)
        Yantra().id_of(document)
        ends(document)


@given(drawings())
@settings(max_examples=300)
@example(graph([node("start"), node("loop"), node("end")], [edge("start-1", "loop-1"), edge("loop-1", "loop-1")]))
def test_any_edges_between_any_nodes_are_checked_and_what_passes_runs(document: Any) -> None:
    ends(document)


@given(
    st.recursive(
        odd,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["nodes", "edges", "id", "type", "data", "config", "definition", "source", "target"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
@settings(max_examples=300)
def test_any_json_is_checked(document: Any) -> None:
    Yantra().validate(document, CATALOGUE)
    if isinstance(document, dict):
        Yantra().recognises(document)
        Yantra().id_of(document)
