"""Writes docs/reference/nodes/: one page per node type, from the models that validate their configurations.

python tools/node_reference.py            writes the pages
python tools/node_reference.py --check    says which are out of date, and fails if any is
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.fields import keys_of
from perdure.programs.flow.graph import RESERVED_OUTCOMES
from perdure.programs.flow.nodetypes import ANY_OUTCOME, NodeType

PAGES = Path(__file__).parents[1] / "docs" / "reference" / "nodes"
KINDS = {
    "inline": "It is decided inside the turn.",
    "isolated": "It is executed by a handler, without effect on the world.",
    "effect": "It acts on the world, through a handler.",
}


def pages() -> Iterator[tuple[str, str]]:
    """File names and contents."""
    groups = dict.fromkeys(each.group for each in CATALOGUE.values())
    rows = [
        f"| {each.group} | [{name}]({name}.md) | {each.title} | {each.description} |"
        for group in groups
        for name, each in CATALOGUE.items()
        if each.group == group
    ]
    head = [
        "# Node types",
        "",
        "Made by `tools/node_reference.py`.",
        "",
        "| group | type | title | what it does |",
        "|---|---|---|---|",
    ]
    yield "README.md", "\n".join([*head, *rows, ""])
    for name, each in CATALOGUE.items():
        yield f"{name}.md", "\n".join([*page(each), ""])


def page(kind: NodeType) -> Iterator[str]:
    yield from (f"# {kind.name}: {kind.title}", "", kind.description, "")
    module = sys.modules[kind.plan.__module__].__doc__ or ""
    about = module.strip().partition("\n\n")[2]
    if about:
        yield from (about, "")
    yield f"{KINDS[kind.kind]} Outcomes that its edges may name: {outcomes(kind)}."
    schema = kind.config.model_json_schema()
    for number, example in enumerate(kind.examples):
        heading = ("", "## Examples") if number == 0 else ()
        yield from (*heading, "", "```json", json.dumps(example, indent=2, ensure_ascii=False), "```")
    if schema.get("properties"):
        yield from ("", "## Configuration", "")
        yield from table(schema, schema["properties"], spellings(kind))
        for name, part in schema.get("$defs", {}).items():
            yield from ("", f"### {name}", "")
            yield from table(schema, part.get("properties", {}), {})
        yield from ("", "## JSON Schema", "", "```json", json.dumps(schema, indent=2, ensure_ascii=False), "```")


def outcomes(kind: NodeType) -> str:
    try:
        own = kind.outcomes(kind.config.model_construct()) if kind.outcomes is not None else ()
    except AttributeError:
        own = (ANY_OUTCOME,)
    named = ["whatever it chooses" if each == ANY_OUTCOME else f"`{each}`" for each in own]
    return ", ".join([*named, *(f"`{each}`" for each in RESERVED_OUTCOMES)])


def spellings(kind: NodeType) -> dict[str, list[str]]:
    """Other names under which a document may give a field."""
    found = {}
    for name, field in kind.config.model_fields.items():
        first, *others = keys_of(name, field)
        found[first] = others
    return found


def table(schema: dict[str, Any], properties: dict[str, Any], others: dict[str, list[str]]) -> Iterator[str]:
    yield from ("| field | type | default | meaning |", "|---|---|---|---|")
    for name, details in properties.items():
        also = f" (also {', '.join(f'`{other}`' for other in others[name])})" if others.get(name) else ""
        default = f"`{json.dumps(details['default'], ensure_ascii=False)}`" if "default" in details else ""
        examples = details.get("examples") or []
        shown = "; ".join(f"`{json.dumps(each, ensure_ascii=False)}`" for each in examples)
        words = [details.get("title", ""), details.get("description", ""), f"For example {shown}." if shown else ""]
        meaning = " ".join(f"{word.rstrip('.')}." for word in words if word)
        yield f"| `{name}`{also} | {written_type(details)} | {default} | {meaning.replace('|', chr(92) + '|')} |"


def written_type(details: dict[str, Any]) -> str:
    if "x-perdure" in details:
        return str(details["x-perdure"])
    if "enum" in details or "const" in details:
        return ", ".join(f"`{each}`" for each in details.get("enum", [details.get("const")]))
    if "$ref" in details:
        return str(details["$ref"].rpartition("/")[2])
    for key in ("anyOf", "oneOf"):
        if key in details:
            kinds = [written_type(each) for each in details[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if details.get("type") == "array":
        return f"list of {written_type(details.get('items', {}))}"
    name = str(details.get("type", "any value"))
    return {"string": "text", "integer": "whole number"}.get(name, name)


def main() -> int:
    stale = []
    for name, content in pages():
        file = PAGES / name
        if not file.exists() or file.read_text() != content:
            stale.append(name)
            if "--check" not in sys.argv:
                PAGES.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
    print(
        "\n".join(f"{'out of date' if '--check' in sys.argv else 'written'}: {name}" for name in stale) or "up to date"
    )
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
