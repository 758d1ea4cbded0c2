"""instruction: shows a person a view and waits for the answer.

The widgets are Drift's: texts, lists to choose from, buttons, free texts, dates. Templates in them are resolved when
the view is made, and read the data of the flow by any name: `{{order.id}}` is `_global.order.id`. The answer is held
against the view before it is accepted. It is the node's output, `{"selectedOptions": {…}}`, also
`_global["<node>:viewResponse"]`, and what was selected can be read as `_global.<widget>`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any

import msgspec
from pydantic import AliasChoices, Field

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, Result
from perdure.errors import InvalidInput, PerdureError
from perdure.expressions import MISSING, Path, Template
from perdure.model.failures import Failure
from perdure.model.problems import Problem
from perdure.model.values import Json, text_of
from perdure.model.views import MOST_OPTIONS, built_view
from perdure.model.waits import Ask
from perdure.nodes.asking import Asking, AskingConfig, ask, asking, outcomes_of
from perdure.nodes.config import template
from perdure.nodes.script import seed_of
from perdure.nodes.scripts import Scripts, compile_script
from perdure.nodes.scripts.fields import TEMPLATE_OR_SCRIPT, is_script, language_of, script_of
from perdure.nodes.widgets import Option, mistakes
from perdure.programs.flow.fields import Kind, Written
from perdure.programs.flow.nodetypes import Directive, Done, Execute, NodeType, Plan, Refuse

GLOBAL = "_global"


def _roots(raw: dict[str, Any]) -> Iterable[str]:
    """Every name may be the name of something in the data."""
    try:
        return {str(read[0]) for read in template(raw.get("inputOptions", raw.get("options"))).reads}
    except PerdureError:
        return ()


OPEN_TEMPLATE = Written(Kind.TEMPLATE, names=_roots)


class InstructionConfig(AskingConfig):
    options: Annotated[list[Option], OPEN_TEMPLATE] = Field(
        validation_alias=AliasChoices("inputOptions", "options"),
        title="Widgets",
        max_length=MOST_OPTIONS,
        description="What the person sees, from top to bottom.",
        examples=[[{"id": "reason", "description": "Why?", "tags": {"values": ["ui.free_text", "ui.required"]}}]],
    )
    layout: Annotated[Any, TEMPLATE_OR_SCRIPT] = Field(
        None,
        validation_alias=AliasChoices("layoutId", "layout"),
        title="Layout",
        description="Which layout the drawer of the view takes.",
        examples=["default"],
    )
    disposition: Annotated[Any, TEMPLATE_OR_SCRIPT] = Field(
        None, title="Disposition", description="Told with the task.", examples=["AWAITING_CUSTOMER"]
    )
    status: Annotated[Any, TEMPLATE_OR_SCRIPT] = Field(
        None,
        validation_alias=AliasChoices("workflowStatus", "status"),
        title="Status",
        description="What the run is called meanwhile, for whoever asks.",
        examples=["WAITING"],
    )
    wait: bool = Field(
        True, title="Wait", description="False: it shows the view, as its output, and does not wait for an answer."
    )


TEXTS = {"layoutId": "layout", "disposition": "disposition", "workflowStatus": "status"}
"""As they are told, and as they are configured."""


class Prepared(msgspec.Struct, frozen=True):
    options: Template
    texts: dict[str, Template]
    scripts: dict[str, Any]
    """Fields that a script computes, as they stand in the document."""
    reads: frozenset[tuple[str | int, ...]]
    asking: Asking
    wait: bool


def prepare(config: InstructionConfig) -> Prepared:
    given = {name: value for name, field in TEXTS.items() if (value := getattr(config, field)) is not None}
    scripts = {name: value for name, value in given.items() if is_script(value)}
    reads = frozenset(read for value in scripts.values() if (script := script_of(value)) for read in script.reads)
    options = [option.model_dump(exclude_none=True) for option in config.options]
    texts = {name: template(value) for name, value in given.items() if name not in scripts}
    return Prepared(template(options), texts, scripts, reads, asking(config), config.wait)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    try:
        options = resolve_open(prepared.options, moment)
        view = built_view(options, None, lambda path: _at(path, moment))
        texts = {name: moment.resolve(each) for name, each in prepared.texts.items()}
        task = ask(prepared.asking, moment, view, {})
    except InvalidInput as problem:
        return Refuse(invalid(problem))
    if prepared.scripts:
        config = {"task": msgspec.to_builtins(task), "texts": texts, "scripts": prepared.scripts, "wait": prepared.wait}
        return Execute(config)
    said = shown(task, texts, prepared.wait)
    return Done(said.output) if isinstance(said, Result) else said


def resolve_open(options: Template, moment: Plan) -> Json:
    """Names that the flow's language does not have are those of the data."""
    known = moment.gather(options.reads)
    unknown = [read for read in options.reads if read[0] not in known]
    if not unknown:
        return moment.resolve(options)
    data = moment.gather([(GLOBAL, *read) for read in unknown]).get(GLOBAL) or {}
    return moment.resolve(options, {str(read[0]): data[read[0]] for read in unknown if read[0] in data})


def _at(path: str, moment: Plan) -> Json:
    """What stands at a dotted path of the data; nothing where it leads nowhere."""
    try:
        place = Path.parse(path.removeprefix("$.").removeprefix(f"{GLOBAL}."))
    except PerdureError:
        return None
    if not place.steps:
        return None
    found = place.find(moment.gather([(GLOBAL, *place.steps)]).get(GLOBAL) or {})
    return None if found is MISSING else found


def shown(task: Ask, texts: dict[str, Any], wait: bool) -> Ask | Result:
    """The task with its texts; or, where nobody waits, what is shown."""
    said = {name: _text(value) for name, value in texts.items() if value is not None}
    layout = said.pop("layoutId", None)
    view = {"layoutId": layout, **task.view} if layout is not None else task.view
    if wait:
        return msgspec.structs.replace(task, view=view, details={**(task.details or {}), **said} or None)
    return Result({"view": view, **said})


def _text(value: Json) -> str:
    return str(text_of(value))


def invalid(problem: InvalidInput) -> Failure:
    place = f" at {problem.pointer}" if problem.pointer else ""
    return Failure("VIEW_INVALID", f"{problem.message}{place}", details={"pointer": problem.pointer})


async def execute(ctx: ActivationContext, scripts: Scripts) -> Ask | Result:
    """Only where scripts compute something of it."""
    config = ctx.config
    texts = dict(config["texts"])
    for name, value in config["scripts"].items():
        script = compile_script(value["script"], language_of(value))
        texts[name] = await scripts.run(script, ctx.bindings, now=ctx.scheduled_at, seed=seed_of(ctx.key))
        if isinstance(texts[name], dict | list):
            raise ActivationError("VIEW_INVALID", f"the script of {name} gave {type(texts[name]).__name__}, no text")
    return shown(msgspec.convert(config["task"], Ask), texts, config["wait"])


def reads(prepared: Prepared) -> Collection[tuple[str | int, ...]]:
    return prepared.reads


def examine(raw: dict[str, Any]) -> Iterable[Problem]:
    name = "inputOptions" if "inputOptions" in raw else "options"
    return mistakes(raw[name], f"/{name}")


TYPE = NodeType(
    name="instruction",
    title="Instruction",
    description="Shows a person a view and waits for the answer, holding nothing. Output: `selectedOptions`.",
    config=InstructionConfig,
    prepare=prepare,
    plan=plan,
    outcomes=outcomes_of,
    reads=reads,
    examine=examine,
    asks=True,
    beside=False,
    group="People",
    icon="user-check",
    examples=(
        {
            "inputOptions": [
                {"id": "slot", "description": "When may we come?", "possibleValues": [{"value": "am"}, {"value": "pm"}]}
            ]
        },
    ),
)
