"""processor: a step of the embedding program, called by name, whose result a script may transform.

The step sees the whole context (`ctx.bindings["_global"]`). One that is written to Drift's contract
(`perdure.authoring.activities`) may also name the way that is taken. Instead of a step the answer of a person can be
checked: `instruction` names the node whose widgets must all have been answered.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pydantic import Field, model_validator

from perdure.authoring.activities import FAILED, ActivityResponse
from perdure.authoring.steps import Steps
from perdure.engine.handlers import ActivationError, Result
from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.nodes.config import NodeConfig, TemplateValue, template
from perdure.nodes.script import seed_of
from perdure.nodes.scripts import Script, ScriptText, script_mark
from perdure.programs.flow.fields import Kind
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse

if TYPE_CHECKING:
    from perdure.engine.context import ActivationContext
    from perdure.nodes.toolbox import Toolbox

NEXT = "next"
RESPONSE = "_response"
_WHOLE = (("_global",), ("_enum_store",), ("_thread",))


class ProcessorConfig(NodeConfig):
    processor: str | None = Field(
        None,
        min_length=1,
        max_length=256,
        title="Processor",
        description="The name of the registered step.",
        examples=["check"],
    )
    params: TemplateValue = Field(None, title="Parameters", description="Given to the step by name.")
    instruction: str | None = Field(
        None, min_length=1, title="Answer to check", description="The node that asked. Output: `isValidResponse`."
    )
    shown: TemplateValue = Field(
        None,
        title="Widgets shown",
        description="How many widgets that node shows, or the list of them; as many answers are wanted.",
        examples=[2, "${_global.widgets}"],
    )
    transformer: Annotated[ScriptText | None, script_mark(Kind.SCRIPT, [RESPONSE])] = Field(
        None, title="Transformer", description="A script that makes the output of the step's result, `_response`."
    )
    ways: list[str] = Field(
        default_factory=list,
        max_length=10_000,
        title="Ways",
        description="The outcomes that the step may choose. Where it chooses none it is `next`.",
    )

    @model_validator(mode="after")
    def _specified(self) -> ProcessorConfig:
        if (self.processor is None) == (self.instruction is None):
            raise ValueError("give either `processor` or `instruction`")
        return self


class Prepared(msgspec.Struct, frozen=True):
    config: ProcessorConfig
    params: Template | None
    shown: Template
    transformer: Script | None


def prepare(config: ProcessorConfig) -> Prepared:
    dynamic = template(config.params)
    transformer = config.transformer.compiled() if config.transformer is not None else None
    return Prepared(config, None if dynamic.is_static else dynamic, template(config.shown), transformer)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if prepared.config.instruction is not None and not prepared.shown.is_static:
        shown = moment.resolve(prepared.shown)
        return Execute({**prepared.config.model_dump(exclude_defaults=True), "shown": shown})
    if prepared.params is None:
        return Execute()
    params = moment.resolve(prepared.params)
    if not isinstance(params, dict):
        return Refuse(Failure("ARGUMENTS_INVALID", "the parameters of a processor are an object, by name"))
    return Execute({**prepared.config.model_dump(exclude_defaults=True), "params": params})


def outcomes(config: ProcessorConfig) -> tuple[str, ...]:
    return (NEXT, *config.ways)


class _Call:
    """The context of the node, with the configuration that a step expects."""

    def __init__(self, ctx: ActivationContext, config: Any) -> None:
        self._ctx = ctx
        self.config = config

    @property
    def input(self) -> Json:
        return self._ctx.input

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


def handler(steps: Steps, tools: Toolbox) -> Callable[[ActivationContext], Awaitable[Result]]:
    async def process(ctx: ActivationContext) -> Result:
        config = ctx.config
        if config.get("instruction") is not None:
            complete = is_complete(ctx.bindings.get("_global", {}), config["instruction"], config.get("shown"))
            output: Json = {"isValidResponse": complete}
            outcome = NEXT
        else:
            output, outcome = await _called(steps, ctx, config)
        if config.get("transformer") is not None:
            script = ScriptText.model_validate(config["transformer"]).compiled()
            output = await tools.scripts.run(
                script, {**ctx.bindings, RESPONSE: output}, now=ctx.scheduled_at, seed=seed_of(ctx.key)
            )
        return Result(output, outcome)

    return process


async def _called(steps: Steps, ctx: ActivationContext, config: Any) -> tuple[Json, str]:
    named = {"step": config["processor"], "arguments": config.get("params"), "definition": config}
    call = _Call(ctx, named)
    found = await asyncio.to_thread(steps.call, call) if steps.is_blocking(named) else steps.call(call)
    if inspect.isawaitable(found):
        found = await found
    if isinstance(found, Result):
        return found.output, found.outcome or NEXT
    if isinstance(found, ActivityResponse):
        if found.status == FAILED:
            raise ActivationError("NODE_FAILED", found.error_message or "the processor failed")
        return found.node_response, found.next_node or NEXT
    return found, NEXT


def is_complete(context: dict[str, Any], instruction: str, shown: Json) -> bool:
    """As many widgets were answered as were shown; where nobody says how many, any."""
    answered = (context.get(f"{instruction}:viewResponse") or {}).get("selectedOptions") or {}
    wanted = len(shown) if isinstance(shown, list) else shown
    return len(answered) == wanted if isinstance(wanted, int) else bool(answered)


TYPE = NodeType(
    name="processor",
    title="Processor",
    description="Calls a registered processor by name, and transforms its result. Outcomes: `next`, or what it names.",
    config=ProcessorConfig,
    kind=NodeKind.EFFECT,
    prepare=prepare,
    plan=plan,
    outcomes=outcomes,
    reads=lambda prepared: _WHOLE,
    looks_at=lambda prepared: None,
    group="Drift",
    icon="cog",
    examples=({"processor": "check_stock", "params": {"sku": "${data.sku}"}},),
)
