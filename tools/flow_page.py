"""Makes the tables of docs/reference/flow-document.md from the models that read documents.

python tools/flow_page.py            writes them
python tools/flow_page.py --check    fails if the page is out of date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import made
from node_reference import written_type

from perdure.model.documents import (
    COSMETIC,
    CacheDoc,
    EdgeDoc,
    FlowDocument,
    JoinDoc,
    MilestoneDoc,
    NodeDoc,
    Part,
    RetryDoc,
    SettingsDoc,
    UseDoc,
)
from perdure.programs.flow.checks.options import MAX_EDGES, MAX_LABEL, MAX_NODES, MAX_PROSE
from perdure.programs.flow.names import ENVIRONMENT_NAMES

PAGE = made.REFERENCE / "flow-document.md"

LINKS = {
    "JoinDoc": "[a join](#joins)",
    "RetryDoc": "[a retry](#retry)",
    "CacheDoc": "[a cache](#cache)",
    "MilestoneDoc": "[a milestone](#milestone)",
    "UseDoc": "[a use](#use)",
    "NodeDoc": "[nodes](#nodes)",
    "EdgeDoc": "[edges](#edges)",
    "SettingsDoc": "[settings](#settings)",
}

NAMES = {
    "input": "what the run was started with",
    "data": "what the node itself was given; on an edge, what the node that it leaves gave",
    "nodes": "`nodes.X.output` is what the node X gave last, in this body or in one around it",
    "vars": "data that all nodes share: written by `set`, `merge-data` and Python steps",
    "run": "`id`, `definition`, `version`, `startedAt`",
    "_global": "the fields of the input, and the outputs of nodes by id",
    "_enum_store": "look-ups, as they were when the run started",
    "_metadata": "`createdAt`, `lastUpdatedAt`, `currentNode`, `executedNodes`",
    "_thread": "what the caller gave as `thread` when it started the run",
}


def fields(model: type[Part]) -> Iterator[str]:
    schema = model.model_json_schema()
    required = schema.get("required", [])
    rows = []
    for name, details in schema["properties"].items():
        text = details.get("description")
        if not text:
            sys.exit(f"{model.__name__}.{name} has no description")
        default = "required" if name in required else shown(model, name)
        rows.append([f"`{name}`", kind_of(details), default, text])
    yield from made.table(["field", "type", "default", "meaning"], rows)


def shown(model: type[Part], name: str) -> str:
    default = model.model_fields[name].get_default(call_default_factory=True)
    if default is None:
        return ""
    value = default.model_dump(exclude_defaults=True) if isinstance(default, Part) else default
    return f"`{json.dumps(value)}`" if value not in ({}, []) else ""


def kind_of(details: dict[str, Any]) -> str:
    if "x-perdure" in details:
        return str(details["x-perdure"])
    if "$ref" in details:
        return LINKS[details["$ref"].rpartition("/")[2]]
    if "anyOf" in details:
        return " or ".join(kind_of(each) for each in details["anyOf"] if each.get("type") != "null")
    if details.get("type") == "array":
        return f"list of {kind_of(details['items'])}"
    if str(details.get("pattern", "")).startswith("^[A-Za-z0-9]"):
        return "id"
    name = {"object": "object"}.get(details.get("type", ""), written_type(details))
    least, most = details.get("minimum"), details.get("maximum")
    if least is not None:
        return f"{name}, {least} to {most}" if most is not None else f"{name}, at least {least}"
    longest = details.get("maxLength")
    return f"{name}, at most {longest}" if longest is not None else name


def names() -> Iterator[str]:
    made.in_words(ENVIRONMENT_NAMES, NAMES, "names in expressions")
    yield from made.table(["name", "what it is"], ([f"`{name}`", text] for name, text in NAMES.items()))


def sizes() -> Iterator[str]:
    yield f"A document has at most {MAX_NODES:,} nodes and {MAX_EDGES:,} edges; a label at most {MAX_LABEL:,}"
    yield f"characters, a comment or description {MAX_PROSE:,}. {', '.join(f'`{name}`' for name in COSMETIC)} are for"
    yield "people: they are kept and given back, and are part neither of the hash nor of what the flow does."


PARTS: dict[str, made.Part] = {
    "document": partial(fields, FlowDocument),
    "sizes": sizes,
    "nodes": partial(fields, NodeDoc),
    "joins": partial(fields, JoinDoc),
    "retry": partial(fields, RetryDoc),
    "cache": partial(fields, CacheDoc),
    "milestone": partial(fields, MilestoneDoc),
    "use": partial(fields, UseDoc),
    "edges": partial(fields, EdgeDoc),
    "settings": partial(fields, SettingsDoc),
    "names": names,
}

if __name__ == "__main__":
    sys.exit(made.keep(PAGE, PARTS))
