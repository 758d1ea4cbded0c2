"""Whatever it is given, validation answers; and what it accepts compiles."""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.graph import compile_flow
from perdure.programs.flow.validate import validate_flow

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(
        ["a", "b", "l", "start", "loop", "any", "n_of_m", "${data", "${data.x}", "{{x}}", "0 0 * * *", "UTC", "5s"]
    )
)
KEYS = st.sampled_from(
    ["nodes", "edges", "settings", "id", "type", "config", "join", "rule", "n", "parent", "source", "target", "outcome",
     "when", "condition", "retry", "attempts", "compensate", "cancels", "milestone", "after", "before", "on_failure",
     "limits", "missing", "items", "data", "step", "schedule", "timezone", "input_schema", "operations", "x"]
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=30
)


@given(ANYTHING)
@settings(max_examples=400)
def test_anything_gets_an_answer(value: Any) -> None:
    answer(value)


CONFIGS: dict[str, list[dict[str, Any]]] = {
    "start": [{}],
    "end": [{}, {"output": "${vars.x}", "terminate": True}],
    "json": [{"data": 1}, {"data": {"a": "${data}"}}, {"data": "[1]"}, {"data": "oops"}],
    "json-array": [{"items": [{"a": 1}]}, {"items": "${data}", "schema": {"type": "object"}}, {"items": []}],
    "transform": [
        {},
        {"operations": [{"type": "extract", "config": {"path": "a.b"}}]},
        {"operations": [{"type": "x"}]},
    ],
    "conditional": [{"condition": "data.x > 1"}, {"conditions": [{"left": "data", "operator": "exists"}]}, {}],
    "delay": [{}, {"milliseconds": 5}, {"duration": -1}],
    "sleep": [{"duration": "5s"}, {"until": "2026-01-01", "timezone": "Europe/Berlin"}, {"duration": "x"}],
    "loop": [{}, {"items": "data"}, {"range": {"stop": 3}}, {"items": [1], "item": "row"}, {"item": "data"}],
    "loop-accumulator": [{}, {"items": [1, 2], "accumulator": "sums"}],
    "group": [{}],
    "set": [{"vars": {"a.b": "${item}"}}, {"vars": {"a": 1}}, {"vars": {}}],
    "merge-data": [{}, {"into": "a.b", "mode": "deep"}],
    "python": [{"step": "work"}, {"step": "work", "arguments": {"x": "${nodes.a.output}"}}, {}],
    "publish": [{"type": "t"}],
    "fail": [{}, {"code": "NO"}],
    "wait-for-signal": [{"name": "go"}, {"name": "go", "timeout": "1h"}],
    "sub-flow": [{"definition": "other"}],
    "continue-as-new": [{}, {"input": {"page": "${input.page + 1}"}}],
}
for _name, _type in CATALOGUE.items():
    CONFIGS.setdefault(_name, [*_type.examples, {}])


def random_flow(seed: int) -> dict[str, Any]:
    """A document that is often right: a start, a handful of nodes, edges mostly forward, some in bodies."""
    chance = random.Random(seed)
    ids = [f"n{i}" for i in range(chance.randint(1, 9))]
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "start"}]
    bodies = []
    for id in ids:
        type = chance.choice([name for name in CONFIGS if name != "start"])
        configs = CONFIGS[type]
        node: dict[str, Any] = {"id": id, "type": type, "config": chance.choice(configs[:2] * 4 + configs)}
        if bodies and chance.random() < 0.3:
            node["parent"] = chance.choice(bodies)
        if type in ("loop", "loop-accumulator", "group"):
            bodies.append(id)
        if chance.random() < 0.15:
            node |= chance.choice(
                [{"join": "any"}, {"join": {"rule": "n_of_m", "n": 2}}, {"retry": {"attempts": 2}}, {"timeout": "1m"},
                 {"mutex": "m"}, {"race": "r"}, {"cancels": [chance.choice(ids)]}, {"compensate": chance.choice(ids)},
                 {"condition": "input.x"}, {"milestone": {"after": chance.choice(ids)}}, {"join": {"rule": "first"}}]
            )  # fmt: skip
        nodes.append(node)
    parents = {node["id"]: node.get("parent") for node in nodes}
    edges = []
    for at, id in enumerate(ids):
        before = [other for other in ["start", *ids[:at]] if parents[other] == parents[id]]
        edges += [{"source": chance.choice(before), "target": id} for _ in range(chance.choice([1, 1, 2])) if before]
    if chance.random() < 0.2:
        edges.append({"source": chance.choice(ids), "target": chance.choice(ids)})
    options = [
        {"max_parallel": 2},
        {"barrier": "layer"},
        {"on_failure": chance.choice(ids)},
        {"after": [chance.choice(ids)]},
    ]
    return {"nodes": nodes, "edges": edges, "settings": chance.choice([{}, {}, {}, *options])}


def test_every_type_is_tried() -> None:
    assert CONFIGS.keys() == CATALOGUE.keys()


def test_what_is_accepted_compiles() -> None:
    accepted = 0
    for seed in range(1500):
        accepted += answer(random_flow(seed))
    assert accepted > 200


@given(st.integers(0, 10_000), st.integers(0, 10_000), ANYTHING)
@settings(max_examples=300)
def test_a_document_with_something_strange_in_it_gets_an_answer(seed: int, place: int, strange: Any) -> None:
    document = random_flow(seed)
    answer(replaced(document, place, strange))


def replaced(value: Any, place: int, strange: Any) -> Any:
    """The value with something else at one of its places."""
    if place == 0 or not isinstance(value, dict | list) or not value:
        return strange
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[place % len(keys)]
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = replaced(value[key], place // len(keys), strange)
    return changed


def answer(document: Any) -> bool:
    """Whether it was accepted; then it must compile. Every problem has a code, a place and words."""
    found, problems = validate_flow(document, CATALOGUE)
    assert (found is None) == any(each.is_error for each in problems)
    for each in problems:
        assert each.code.isupper()
        assert each.message
        assert each.pointer == "" or leads_somewhere(document, each.pointer)
    if found is not None:
        compile_flow(found, CATALOGUE)
    return found is not None


def leads_somewhere(document: Any, pointer: str) -> bool:
    """All of the pointer but its last step is there; the last may be what is missing."""
    for step in pointer.split("/")[1:-1]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and key.isdecimal() and int(key) < len(document):
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return False
    return True
