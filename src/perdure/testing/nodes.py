"""The contract of node types: what every one must do, whoever wrote it, as checks that a test calls.

    from perdure.testing.nodes import Try, check_node_type

    async def test_sms():
        await check_node_type(
            sms,
            good=[{"to": "+49 1", "text": "Hello"}],
            bad=[({"to": "+49 1"}, "/text"), ({"to": "${dta.x}", "text": "x"}, "/to")],
            tries=[Try({"to": "${input.to}", "text": "Hello"}, {"to": "+49 1"})],
        )

Each check raises `Misfit` with a sentence about what is wrong.

    words        the type and every field have a title and a description; there are examples, and they are valid
    schema       the JSON Schema is one, and takes and refuses what the model takes and refuses
    saving       good configurations are accepted when a flow is saved, bad ones refused, at the right place
    plan         planning twice gives the same, and changes nothing that it was given
    handler      it can be repeated under the same key and cancelled, its failures have codes, and no secret that it
                 reads comes out again
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from perdure.assembly import Perdure
from perdure.engine.handlers import HandlerSpec
from perdure.errors import PerdureError, RunEnded
from perdure.model.schemas import Schema
from perdure.model.values import Json, encode_json
from perdure.nodes.catalogue import builtin_types
from perdure.nodes.config import has_placeholder
from perdure.nodes.plugins import NodePlugin
from perdure.programs.flow.nodetypes import Catalogue, NodeKind, NodeType
from perdure.programs.flow.validate import validate_flow
from perdure.testing.moments import StillMoment

Bad = tuple[Any, str] | tuple[Any, str, str]
"""A configuration, the pointer to its mistake (from the configuration on), and perhaps the code of the problem."""
_UNKNOWN = "a-key-that-nobody-knows"
_INPUTS: tuple[Json, ...] = (None, {"x": [1, "é"]}, [{"a": 1}, {"b": 2}])


class Misfit(AssertionError):
    """What is wrong with a node type."""


@dataclass(frozen=True)
class Try:
    """One execution: a configuration, the input of the run, and what is expected."""

    config: dict[str, Any]
    input: Json = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    """By name; every value is looked for in what comes out."""
    fails_with: str | None = None
    """The code of the failure that it must end in; otherwise it must complete."""
    output: Any = ...
    """What it must give; without it, anything."""


async def check_node_type(
    given: NodePlugin[..., Any] | NodeType,
    handler: HandlerSpec | None = None,
    *,
    good: Sequence[dict[str, Any]],
    bad: Sequence[Bad] = (),
    tries: Sequence[Try] = (),
) -> None:
    """All checks. A plug-in brings its handler along."""
    kind = given.type if isinstance(given, NodePlugin) else given
    handler = given.handler if isinstance(given, NodePlugin) else handler
    if not good:
        raise Misfit(f"{kind.name}: not one good configuration was given")
    check_words(kind)
    check_schema(kind, good)
    check_saving(kind, good, bad)
    check_plan(kind, good)
    if kind.kind is not NodeKind.INLINE and handler is None:
        raise Misfit(f"{kind.name} is {kind.kind.value}, and has no handler")
    for each in tries:
        await check_handler(kind, handler, each)


# -- words and schema --------------------------------------------------------------------------------------------------


def check_words(kind: NodeType) -> None:
    if not kind.title or not kind.description.endswith((".", "`")):
        raise Misfit(f"{kind.name} needs a title, and a description in sentences")
    schema = kind.config.model_json_schema()
    for place, details in fields_of(schema):
        for word in ("title", "description"):
            if not details.get(word):
                raise Misfit(f"{kind.name}: the field {place} has no {word}")
    if schema.get("properties") and not kind.examples:
        raise Misfit(f"{kind.name} has no example of a configuration")
    for example in kind.examples:
        problems = problems_of(kind, example)
        if problems:
            raise Misfit(f"{kind.name}: the example {json.dumps(example)} is refused: {problems[0]}")


def fields_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field of the configuration and of its parts; what a part with a fixed value is called need not be told."""
    for name, part in [("", schema), *schema.get("$defs", {}).items()]:
        for key, details in part.get("properties", {}).items():
            if "const" not in details:
                shown = details
                if "$ref" in details:
                    shown = {**schema["$defs"][details["$ref"].rpartition("/")[2]], **details}
                yield f"{name}.{key}" if name else key, shown


def check_schema(kind: NodeType, good: Sequence[dict[str, Any]]) -> None:
    raw = kind.config.model_json_schema()
    schema = Schema(raw)
    if json.loads(json.dumps(raw)) != raw:
        raise Misfit(f"{kind.name}: the schema is not JSON")
    known = raw.get("properties", {})
    for config in good:
        if not config.keys() <= known.keys() or _has_placeholder(config):
            continue  # another spelling, or a value that is computed
        misfit = schema.first_misfit(config)
        if misfit is not None:
            raise Misfit(f"{kind.name}: the schema refuses {json.dumps(config)} at {misfit.path}: {misfit.message}")
        for wrong in [{**config, _UNKNOWN: 1}, *_without_required(raw, config)]:
            if schema.first_misfit(wrong) is None or _is_taken(kind, wrong):
                raise Misfit(f"{kind.name}: schema and model should both refuse {json.dumps(wrong)}")


def _without_required(schema: Mapping[str, Any], config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in schema.get("required", ()):
        if key in config:
            yield {name: value for name, value in config.items() if name != key}


def _is_taken(kind: NodeType, config: Any) -> bool:
    try:
        kind.config.model_validate(config)
    except ValidationError:
        return False
    return True


def _has_placeholder(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_placeholder(each) for each in value.values())
    if isinstance(value, list):
        return any(_has_placeholder(each) for each in value)
    return has_placeholder(value)


# -- saving and planning -----------------------------------------------------------------------------------------------


def flow_of(kind: NodeType, config: Any) -> dict[str, Any]:
    if kind.is_start:
        return {"nodes": [{"id": "n", "type": kind.name, "config": config}], "edges": []}
    nodes = [{"id": "start", "type": "start"}, {"id": "n", "type": kind.name, "config": config}]
    return {"nodes": nodes, "edges": [{"source": "start", "target": "n"}]}


def problems_of(
    kind: NodeType, config: Any, catalogue: Catalogue | None = None, *, alone: bool = True
) -> list[tuple[str, str, str]]:
    """Pointer (from the configuration on), code and message of every mistake that saving finds. `alone`: it may name
    nodes of the flow that it is taken from."""
    document = flow_of(kind, config)
    _, problems = validate_flow(document, catalogue or {**builtin_types(), kind.name: kind})
    start = f"/nodes/{len(document['nodes']) - 1}/config"
    unknown = ("NODE_REFERENCE_UNKNOWN", "LIFECYCLE_UNAVAILABLE") if alone else ()
    return [
        (problem.pointer.removeprefix(start), problem.code, problem.message)
        for problem in problems
        if problem.is_error and problem.code not in unknown
    ]


def check_saving(kind: NodeType, good: Sequence[dict[str, Any]], bad: Sequence[Bad]) -> None:
    catalogue = {**builtin_types(), kind.name: kind}
    for config in good:
        problems = problems_of(kind, config, catalogue)
        if problems:
            raise Misfit(f"{kind.name}: {json.dumps(config)} should be accepted: {problems[0]}")
    for wrong, pointer, *code in bad:
        problems = problems_of(kind, wrong, catalogue, alone=False)
        if not any(place == pointer and (not code or code[0] == found) for place, found, _ in problems):
            raise Misfit(f"{kind.name}: {json.dumps(wrong)} should be refused at {pointer!r}, found: {problems}")


def check_plan(kind: NodeType, good: Sequence[dict[str, Any]]) -> None:
    for config in good:
        for input in _INPUTS:
            prepared = kind.prepare(kind.config.model_validate(copy.deepcopy(config)))
            before = copy.deepcopy(input)
            first, second = (_planned(kind, prepared, input) for _ in range(2))
            if first != second:
                raise Misfit(f"{kind.name}: {json.dumps(config)} is planned as {first}, and then as {second}")
            if input != before:
                raise Misfit(f"{kind.name}: planning {json.dumps(config)} changes its input")


def _planned(kind: NodeType, prepared: Any, input: Json) -> Any:
    try:
        return kind.plan(prepared, StillMoment(input))
    except PerdureError as problem:
        return (problem.code, problem.message)


# -- handlers ----------------------------------------------------------------------------------------------------------


async def check_handler(kind: NodeType, handler: HandlerSpec | None, each: Try) -> None:
    keys: list[str] = []
    answers = [await _outcome(kind, _repeated(handler, times, keys), each) for times in (1, 2)]
    if len(set(keys[1:])) > 1:
        raise Misfit(f"{kind.name}: the same activation had the keys {keys[1:]}")
    for run, failure, output in answers:
        if each.fails_with is not None and (failure is None or failure["code"] != each.fails_with):
            raise Misfit(f"{kind.name}: {each.config} should fail with {each.fails_with}: {failure or output}")
        if each.fails_with is None and failure is not None:
            raise Misfit(f"{kind.name}: {each.config} should complete: {failure}")
        if each.output is not ... and output != each.output:
            raise Misfit(f"{kind.name}: {each.config} should give {each.output!r}, not {output!r}")
        for secret in each.secrets.values():
            if secret.encode() in encode_json([failure, output]) + run:
                raise Misfit(f"{kind.name}: a secret comes out of {each.config}")
    if handler is not None and handler.blocking is False:
        await check_cancelling(kind, handler, each)


def _repeated(handler: HandlerSpec | None, times: int, keys: list[str]) -> HandlerSpec | None:
    """The handler as after a crash whose outcome nobody knows: called again, under the same key."""
    if handler is None:
        return None

    async def call(ctx: Any) -> Any:
        answer: Any = None
        for _ in range(times):
            keys.append(ctx.key)
            answer = handler.call(ctx) if handler.blocking is False else await asyncio.to_thread(handler.call, ctx)
            if hasattr(answer, "__await__"):
                answer = await answer
        return answer

    return HandlerSpec(call, kind=handler.kind, lacks=handler.lacks)


async def _outcome(kind: NodeType, handler: HandlerSpec | None, each: Try) -> tuple[bytes, Any, Json]:
    """The run's log as text, its failure, its output."""
    app = Perdure.open("memory://", secrets=each.secrets)
    _equip(app, kind, handler)
    async with app:
        await app.deploy(flow_of(kind, each.config), id="flow")
        run = await app.start("flow", each.input)
        failure, output = None, None
        async with asyncio.timeout(60):
            try:
                output = await run.result()
            except RunEnded as ended:
                failure = ended.details.get("failure")
        log = repr(await run.history()).encode()
        return log, failure, output


def _equip(app: Perdure, kind: NodeType, handler: HandlerSpec | None) -> None:
    app.catalogue[kind.name] = kind
    if handler is not None:
        app.handlers[kind.name] = handler


async def check_cancelling(kind: NodeType, handler: HandlerSpec, each: Try) -> None:
    """Cancelled at its first pause, it ends; whoever swallows that holds up everybody who wants to stop it."""
    begun = asyncio.Event()

    async def call(ctx: Any) -> Any:
        begun.set()
        await asyncio.sleep(0)
        answer = handler.call(ctx)
        return await answer if hasattr(answer, "__await__") else answer

    app = Perdure.open("memory://", secrets=each.secrets)
    _equip(app, kind, HandlerSpec(call, kind=handler.kind, lacks=handler.lacks))
    async with app:
        await app.deploy(flow_of(kind, each.config), id="flow")
        run = await app.start("flow", each.input)
        try:
            async with asyncio.timeout(30):
                waiting = asyncio.ensure_future(begun.wait())
                await asyncio.wait([waiting], timeout=10)
                if not begun.is_set():
                    waiting.cancel()
                    return  # it was finished by its plan
                try:
                    await run.cancel()
                    await run.result()
                except PerdureError:
                    return  # cancelled, or it was through already
        except TimeoutError:
            raise Misfit(f"{kind.name}: cancelled, it goes on") from None
