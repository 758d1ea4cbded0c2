"""Writes docs/explanation/patterns.md from the pattern documents, so that the page shows what the tests run.

    python tools/pattern_page.py            write it
    python tools/pattern_page.py --check    say whether it is up to date (exit status 1 if not)

Text comes from examples/patterns/index.json and from each document's description; fragments and pictures come from the
documents, traces from the expected ones.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "patterns"
PAGE = ROOT / "docs" / "explanation" / "patterns.md"

SHAPES = {
    "start": '(["{}"])',
    "end": '(["{}"])',
    "conditional": '{{"{}"}}',
    "wait-for-signal": '>"{}"]',
    "sleep": '(("{}"))',
    "sub-flow": '[["{}"]]',
}
BODIES = ("loop", "loop-accumulator", "group")

INTRO = """\
# The 43 control-flow patterns

<!-- Written by tools/pattern_page.py from examples/patterns. Change those, then run it. -->

Van der Aalst, ter Hofstede, Kiepuszewski, Barros, Russell and Mulyar collected what processes ask of a workflow
language and numbered it: WCP-1 to WCP-43 (see [workflowpatterns.com](http://www.workflowpatterns.com/patterns/control/)).
The names below are theirs; the words are ours. Every pattern is a document in
[`examples/patterns`](../../examples/patterns) that runs, and every trace on this page is one that the tests expect,
line by line. The tests also run each document with steps of random length, slow cancellations and shuffled events, and
check that what defines the pattern still holds.

    perdure run examples/patterns/wcp-29-cancelling-discriminator.json --app examples.patterns.stand_ins

Four ideas carry nearly all of them:

- **Tokens, live and dead.** When a node ends, every edge out of it gets a token: live if it is taken, dead if not. A
  dead token says "do not wait for me", so a join knows from its own edges when it has everything.
- **Joins by rounds.** The k-th token of an edge belongs to round k of the join behind it. `all` wants every edge,
  `first` and `n_of_m` some of them, `any` passes each on.
- **Cycles come to rest.** Inside a cycle an exit that is not taken stays open, as it may be taken next time. When
  nothing moves in the cycle and nothing can enter it, the exits that were never taken die.
- **Scopes.** Loops and groups have a body. Each iteration has its own tokens, races and milestones, and is withdrawn
  or fails as one.

In the pictures a dotted arrow is no way of a token: it says which node cancels, opens or ends another.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="write the page of the workflow patterns")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    options = parser.parse_args()
    page = render()
    if not options.check:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.exit(f"{PAGE.relative_to(ROOT)} is out of date: run python tools/pattern_page.py")


def render() -> str:
    patterns = json.loads((FOLDER / "index.json").read_text())["patterns"]
    return "\n".join([INTRO, contents(patterns), *(section(pattern) for pattern in patterns)])


def contents(patterns: list[dict[str, Any]]) -> str:
    groups: dict[str, list[dict[str, Any]]] = {}
    for pattern in patterns:
        groups.setdefault(pattern["group"], []).append(pattern)
    rows = [f"| {group} | {' · '.join(link(each) for each in members)} |" for group, members in groups.items()]
    return "\n".join(["| kind | patterns |", "|---|---|", *rows, ""])


def link(pattern: dict[str, Any]) -> str:
    return f"[{pattern['number']} {pattern['name']}](#wcp-{pattern['number']})"


def section(pattern: dict[str, Any]) -> str:
    document = json.loads((FOLDER / pattern["file"]).read_text())
    slug = pattern["file"].removesuffix(".json")
    scenarios = json.loads((FOLDER / f"{slug}.expected.json").read_text())["scenarios"]
    shown = scenarios[0]
    others = f" ({len(scenarios) - 1} more in the tests)" if len(scenarios) > 1 else ""
    return "\n".join(
        [
            f'<a id="wcp-{pattern["number"]}"></a>',
            "",
            f"## WCP-{pattern['number']} {pattern['name']}",
            "",
            document["description"],
            "",
            f"**In Perdure:** {pattern['how']}",
            "",
            "```mermaid",
            *picture(document),
            "```",
            "",
            "```json",
            *fragment(document, pattern["essential"]),
            "```",
            "",
            f"<details><summary>Trace: {shown['name']}{others}</summary>",
            "",
            "```text",
            *shown["trace"],
            f"run: {shown['status']}",
            "```",
            "",
            f"[The whole document](../../examples/patterns/{pattern['file']})",
            "",
            "</details>",
            "",
        ]
    )


# -- fragments -------------------------------------------------------------------------------------


def fragment(document: dict[str, Any], essential: list[str]) -> list[str]:
    """The nodes, by id, and the edges, as `source>target`, that make the pattern."""
    nodes = {node["id"]: node for node in document["nodes"]}
    edges = {f"{edge['source']}>{edge['target']}": edge for edge in document["edges"]}
    return [json.dumps(edges[name] if ">" in name else nodes[name], ensure_ascii=False) for name in essential]


# -- pictures --------------------------------------------------------------------------------------


def picture(document: dict[str, Any]) -> list[str]:
    """The document as a Mermaid flow chart."""
    names = {node["id"]: f"n{number}" for number, node in enumerate(document["nodes"])}
    lines = ["flowchart LR", *body(document, names, None, "  ")]
    for edge in document["edges"]:
        text = said_of_edge(edge)
        arrow = f'-->|"{text}"|' if text else "-->"
        lines.append(f"  {names[edge['source']]} {arrow} {names[edge['target']]}")
    for node in document["nodes"]:
        lines += [f"  {names[node['id']]} -. cancels .-x {names[other]}" for other in node.get("cancels", [])]
        milestone = node.get("milestone", {})
        lines += [
            f"  {names[milestone[word]]} -. {verb} .-> {names[node['id']]}"
            for word, verb in (("after", "opens"), ("before", "ends"))
            if word in milestone
        ]
        if "compensate" in node:
            lines.append(f"  {names[node['id']]} -. undone by .-> {names[node['compensate']]}")
    return lines


def body(document: dict[str, Any], names: dict[str, str], parent: str | None, indent: str) -> list[str]:
    lines = []
    for node in document["nodes"]:
        if node.get("parent") != parent:
            continue
        name, text = names[node["id"]], said_of_node(node)
        if node["type"] in BODIES:
            lines += [f'{indent}subgraph {name}["{text}"]', *body(document, names, node["id"], indent + "  ")]
            lines.append(f"{indent}end")
        else:
            lines.append(indent + name + SHAPES.get(node["type"], '["{}"]').format(text))
    return lines


def said_of_node(node: dict[str, Any]) -> str:
    config = node.get("config", {})
    told = [node["id"]]
    match node["type"]:
        case "conditional":
            told.append(config["condition"])
        case "wait-for-signal":
            told.append(f"signal {config['name']}" + (", transient" if config.get("mode") == "transient" else ""))
        case "sleep":
            told.append(config["duration"])
        case "set":
            told += [f"{name} = {value}" for name, value in config["vars"].items()]
        case "sub-flow":
            told.append(f"flow {config['definition']}")
        case "end" if config.get("terminate"):
            told.append("ends the run")
        case "loop":
            told += said_of_loop(config)
        case _:
            pass
    told += [f"join: {join_in_words(node['join'])}"] if "join" in node else []
    told += [f"{word}: {node[word]}" for word in ("mutex", "race") if word in node]
    return "<br>".join(escaped(each) for each in told)


def said_of_loop(config: dict[str, Any]) -> list[str]:
    items = config["items"] if "items" in config else f"0 … {config['range']['stop'] - 1}"
    told = [f"for each of {', '.join(items) if isinstance(items, list) else items}"]
    if "need" in config:
        told.append(f"needs {config['need']}")
    if "enough" in config:
        told.append(f"enough when {config['enough']}")
    if config.get("cancel_rest") is False:
        told.append("the rest runs on")
    told += [
        f"{word.split('_')[0]}s by signal {config[word]}" for word in ("add_signal", "close_signal") if word in config
    ]
    return told


def join_in_words(join: str | dict[str, Any]) -> str:
    if isinstance(join, str):
        return join
    rule = join["rule"].replace("n_of_m", f"{join.get('n')} of m")
    told = [rule] + [word.replace("_", " ") for word in ("cancel_rest", "blocking") if join.get(word)]
    return ", ".join(told + ([f"{join['threads']} threads"] if "threads" in join else []))


def said_of_edge(edge: dict[str, Any]) -> str:
    told = [edge[word] for word in ("outcome", "when") if edge.get(word)]
    told += [f"× {edge['tokens']}"] if edge.get("tokens", 1) > 1 else []
    return escaped(", ".join(told))


def escaped(text: str) -> str:
    """Mermaid's own entities; a label is HTML to it."""
    return text.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")


if __name__ == "__main__":
    main()
