"""Makes the tables of docs/reference/settings.md from the settings, the limits and the command line.

python tools/settings_page.py            writes them
python tools/settings_page.py --check    fails if the page is out of date
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import made
import msgspec
from cyclopts import Parameter
from msgspec import inspect as types

from perdure.api.app import MAX_BODY
from perdure.cli.main import app
from perdure.expressions.limits import DEFAULT_LIMITS as EXPRESSIONS
from perdure.expressions.limits import EXPRESSIONS as TOGETHER
from perdure.expressions.limits import STEP
from perdure.kernel.turn import TURN_WORK
from perdure.model.policies import DEFAULT_LIMITS, MIB, SECOND, Limits
from perdure.model.reading import MAX_BYTES
from perdure.model.schema_cost import WIDEST as WIDEST_SCHEMA
from perdure.model.times import LONGEST
from perdure.model.values import INLINE_BYTES, MAX_DEPTH, MAX_NAME
from perdure.nodes.loops import WIDEST
from perdure.programs.flow.checks.options import MAX_EDGES, MAX_LABEL, MAX_NODES, MAX_PROSE
from perdure.settings import PREFIX, Settings

PAGE = made.REFERENCE / "settings.md"
FLAGS = {"database_url": "--database", "host": "--host", "port": "--port"}

EXCEEDED = {
    "active_time": ("LIMIT_ACTIVE_TIME", "the run ends as TIMED_OUT"),
    "activations": ("LIMIT_ACTIVATIONS", "the run fails"),
    "depth": ("LIMIT_DEPTH", "the loop fails; deeper than the default, the document is refused (LOOP_TOO_DEEP)"),
    "iterations": ("LIMIT_ITERATIONS", "the loop fails"),
    "data": ("LIMIT_DATA", "the run fails; a signal is refused: TOO_MUCH, with this as `code_of_limit`"),
    "accumulator": ("LIMIT_ACCUMULATOR", "the loop fails"),
    "pending_signals": ("LIMIT_SIGNALS", "the signal is refused: TOO_MUCH, with this as `code_of_limit`"),
    "child_depth": ("LIMIT_CHILD_DEPTH", "the node fails"),
    "max_errors": ("TOO_MANY_ERRORS", "the run fails"),
    "deliveries": ("WORKER_DIED", "the node fails"),
    "generation_events": ("", "nothing fails"),
}

OF_EXPRESSIONS = {
    "source": "characters of one expression",
    "nodes": "operators, names and values in one expression",
    "depth": "brackets inside one another",
    "steps": "turns of comprehensions and of Mustache sections, in one evaluation",
    "work": "list items that functions and operators touch, in one evaluation; 16 characters count as one",
    "result": "bytes of JSON of one result",
    "output": "characters of text that one template writes",
    "placeholders": "placeholders in one template",
    "sections": "Mustache sections inside one another",
    "partials": "Mustache partials inside one another",
    "found": "values that one JSONPath finds",
    "pattern": "characters that a regular expression speaks about, repetitions counted out",
}

FOR_TESTS = {
    "PERDURE_CRASH": "`dense`: kill processes at more points (`make crash`)",
    "PERDURE_CUTS": "how many power cuts to simulate; 50",
    "PERDURE_FLEET": "anything: the long programme of `tests/fleet` (`make fleet`)",
    "PERDURE_FLOWS": "how many random flows to compare; 600",
    "PERDURE_GROOVY": "a command that runs a Groovy file, to compare translated scripts with",
    "PERDURE_JSONPATH_CTS": "file of the JSONPath compliance suite, to be run as well",
    "PERDURE_MUSTACHE_SPEC": "folder of the Mustache specification, to be run as well",
    "PERDURE_SCALE": "`full`: measure at the promised sizes (`make scale`)",
    "PERDURE_SEEDS": "how many seeds to simulate; 2000",
    "PERDURE_SHARED": "folder of the examples that real documents are taken from; `shared` beside the repository",
}


def settings() -> Iterator[str]:
    docs = made.attribute_docs(Settings)
    info = types.type_info(Settings)
    assert isinstance(info, types.StructType)
    made.in_words([field.name for field in info.fields], docs, "settings")
    rows = [
        [
            f"`{field.name}`",
            f"`{PREFIX}{field.name.upper()}`",
            f"`{FLAGS[field.name]}`" if field.name in FLAGS else "",
            f"`{json.dumps(field.default)}`",
            range_of(field.type),
            docs[field.name],
        ]
        for field in info.fields
    ]
    yield from made.table(["setting", "variable", "flag", "default", "allowed", "meaning"], rows)


def range_of(kind: types.Type) -> str:
    match kind:
        case types.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case types.IntType(ge=least, le=most):
            return f"{least:,} to {most:,}".replace("65,535", "65535")
        case types.FloatType(ge=least, le=most) if least is not None:
            return f"{least:,} to {most:,}"
        case types.FloatType(le=most):
            return f"more than 0, at most {most:,}"
        case types.StrType(max_length=None):
            return "text"
        case types.StrType(max_length=longest):
            return f"text, at most {longest}"
        case _:
            raise TypeError(kind)


def commands() -> Iterator[str]:
    rows = []
    for name in app:
        command = app[name].default_command
        if name.startswith("-") or command is None:
            continue
        about = inspect.getdoc(command) or ""
        rows.append([f"**`perdure {name}`**", "", " ".join(about.split())])
        rows += [["", *flag] for flag in flags_of(command)]
    yield from made.table(["command", "flag", "meaning"], rows)


def flags_of(command: Callable[..., Any]) -> Iterator[list[str]]:
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        said = next((each for each in get_args(hints[parameter.name])[1:] if isinstance(each, Parameter)), None)
        if said is None or not said.help:
            sys.exit(f"the parameter {parameter.name} of {command.__name__} has no help")
        name = "".join(said.name or ()) or f"--{parameter.name}"
        if parameter.kind is not parameter.KEYWORD_ONLY:
            name = "FILE…" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name.upper()
        default = f" Default: {parameter.default}." if parameter.default not in (None, False, parameter.empty) else ""
        yield [f"`{name}`", said.help + default]


def limits() -> Iterator[str]:
    docs = made.attribute_docs(Limits)
    made.in_words(Limits.__struct_fields__, docs, "limits")
    made.in_words(Limits.__struct_fields__, EXCEEDED, "limits")
    rows = []
    for name, default in msgspec.structs.asdict(DEFAULT_LIMITS).items():
        code, then = EXCEEDED[name]
        shown = f"{default // MIB} MiB" if default % MIB == 0 else f"{default:,}"
        if name == "active_time":
            shown = f"{default // SECOND // 60} min"
        rows.append([f"`{name}`", shown, docs[name], code, then])
    yield from made.table(["limit", "default", "what is counted", "code", "beyond it"], rows)


def sizes() -> Iterator[str]:
    year = 366 * 24 * 3600 * SECOND
    rows = [
        ["the body of a request", f"{MAX_BODY // MIB} MiB", "TOO_MUCH"],
        ["a document, an input or an answer that is read from a file", f"{MAX_BYTES // MIB} MiB", "TOO_LARGE"],
        ["values inside one another", f"{MAX_DEPTH}", "TOO_DEEP, INVALID_INPUT"],
        ["nodes of a document", f"{MAX_NODES:,}", "LIMIT_NODES"],
        ["edges of a document", f"{MAX_EDGES:,}", "LIMIT_EDGES"],
        ["characters of a label", f"{MAX_LABEL:,}", "LIMIT_TEXT"],
        ["characters of a comment or description", f"{MAX_PROSE:,}", "LIMIT_TEXT"],
        ["characters of the name of a signal or outcome, or of a key", f"{MAX_NAME}", "INVALID_INPUT"],
        ["iterations of one loop at the same time", f"{WIDEST:,}", "CONFIG_RANGE"],
        ["a duration", f"{LONGEST // year} years", "FIELD_VALUE, CONFIG_VALUE"],
        ["a value that stays in the log; a larger one is kept beside it", f"{INLINE_BYTES:,} bytes", ""],
    ]
    names = [field.name for field in dataclasses.fields(EXPRESSIONS) if field.compare]
    made.in_words(names, OF_EXPRESSIONS, "limits of expressions")
    rows += [[OF_EXPRESSIONS[name], f"{getattr(EXPRESSIONS, name):,}", "EXPRESSION_LIMIT"] for name in names]
    together = (
        "times the steps and work of one evaluation, for one template, or for the configuration or edges of one node"
    )
    rows.append([together, f"{TOGETHER}", "EXPRESSION_LIMIT"])
    rows.append([f"work of one turn, a step counting as {STEP}; the run goes on in the next", f"{TURN_WORK:,}", ""])
    rows.append(
        ["evaluations of an `input_schema` for one place of a value", f"{WIDEST_SCHEMA:,}", "SCHEMA_TOO_COSTLY"]
    )
    yield from made.table(["what", "at most", "code"], rows)


def variables() -> Iterator[str]:
    read = re.compile(r"""environ(?:\.get\(|\[)["'](PERDURE_[A-Z_]+)["']""")
    sources = [path.read_text() for folder in ("tests", "bench") for path in (made.ROOT / folder).rglob("*.py")]
    made.in_words({name for source in sources for name in read.findall(source)}, FOR_TESTS, "variables of the tests")
    yield from made.table(["variable", "meaning"], ([f"`{name}`", text] for name, text in FOR_TESTS.items()))


PARTS = {"settings": settings, "commands": commands, "limits": limits, "sizes": sizes, "variables": variables}

if __name__ == "__main__":
    sys.exit(made.keep(PAGE, PARTS))
