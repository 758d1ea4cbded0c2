"""script: a short program of the flow's author, in Python or Groovy, in a sandbox.

Its value is the output of the node. With `outcomes`, it says which edges are taken: by the name of one of them, or by
an object {"outcome": …, "output": …}. How scripts are checked and run: `perdure.nodes.scripts`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, AliasChoices, Field

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, Result
from perdure.errors import InvalidInput
from perdure.model.policies import SECOND
from perdure.model.times import parse_duration
from perdure.model.values import Json
from perdure.nodes.config import NodeConfig, VariableName
from perdure.nodes.scripts import SCRIPT, Script, Scripts, compile_script
from perdure.nodes.scripts.fields import LanguageName
from perdure.nodes.scripts.limits import MEBIBYTE
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan


class ScriptReference(NodeConfig):
    """A script that is stored by itself."""

    ref: str = Field(title="Name", min_length=1, max_length=256, description="The name of the stored script.")
    version: int | str = Field(
        "LATEST", title="Version", description="A number, `LATEST`, `ACTIVE` or `SNAPSHOT`.", examples=[3, "ACTIVE"]
    )


def _short(value: Any) -> Any:
    parse_duration(value)
    return value


class ScriptConfig(NodeConfig):
    script: Annotated[str | ScriptReference, SCRIPT] = Field(
        validation_alias=AliasChoices("script", "source"),
        title="Script",
        description="The text of the script, or {ref, version} of a stored one. Its value is that of `return`, or of "
        "its last expression.",
        examples=['{"total": _global.order.price * 2}'],
    )
    language: LanguageName = Field(
        "python",
        validation_alias=AliasChoices("language", "scriptType"),
        title="Language",
        description="`python`, or `groovy`, which is translated. Capitals do not matter.",
        examples=["python", "groovy"],
    )
    timeout: Annotated[str | int | float, AfterValidator(_short)] | None = Field(
        None,
        title="Time",
        description="How long it may run, at most as long as the setting `script_longest_seconds`. Without it, "
        "`script_seconds`.",
        examples=["500ms", 5],
    )
    memory: int | None = Field(
        None,
        ge=1,
        le=65_536,
        title="Memory",
        description="Mebibytes that its values may take, at most `script_most_memory`. Without it, `script_memory`.",
        examples=[128],
    )
    outcomes: list[str] = Field(
        default_factory=list,
        title="Outcomes",
        max_length=256,
        description="With them the script chooses which edges are taken: its value is one of these names, or an object "
        "with `outcome` and `output`.",
        examples=[["approve", "reject"]],
    )
    variable: VariableName | None = Field(
        None, title="Variable", description="Also keep the output in this variable of `vars`.", examples=["total"]
    )


class Prepared(msgspec.Struct, frozen=True):
    script: Script


def prepare(config: ScriptConfig) -> Prepared:
    return Prepared(_compiled(config))


def _compiled(config: ScriptConfig) -> Script:
    if isinstance(config.script, ScriptReference):
        told = f"there is no stored script {config.script.ref!r}"
        raise InvalidInput(told, pointer="/script", expected="the name of a stored script, or its text")
    return compile_script(config.script, config.language)


def reads(prepared: Prepared) -> Collection[tuple[str | int, ...]]:
    return prepared.script.reads


def plan(prepared: Prepared, moment: Plan) -> Directive:
    return Execute()


async def execute(ctx: ActivationContext, scripts: Scripts) -> Result:
    config = ScriptConfig.model_validate(ctx.config)
    seconds = None if config.timeout is None else parse_duration(config.timeout) / SECOND
    limits = scripts.limits(seconds, None if config.memory is None else config.memory * MEBIBYTE)
    value = await scripts.run(
        _compiled(config),
        ctx.shared_bindings,
        now=ctx.scheduled_at,
        seed=seed_of(ctx.key),
        limits=limits,
        tell=lambda printed: ctx.logger.info("printed: %s", printed),
    )
    outcome = None
    if config.outcomes:
        value, outcome = _chosen(value, config.outcomes, ctx)
    return Result(value, outcome, {config.variable: value} if config.variable is not None else None)


def _chosen(value: Json, outcomes: list[str], ctx: ActivationContext) -> tuple[Json, str]:
    output = ctx.input
    outcome = value
    if isinstance(value, dict):
        outcome, output = value.get("outcome"), value.get("output", output)
    if not isinstance(outcome, str) or outcome not in outcomes:
        told = f"the script chose {str(outcome)[:100]!r}; it may choose {', '.join(outcomes)}"
        raise ActivationError("SCRIPT_OUTCOME", told)
    return output, outcome


def seed_of(key: str) -> int:
    """Of chance in a script: the same for every attempt of an activation, and on every worker."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest())


TYPE = NodeType(
    name="script",
    title="Script",
    description="Runs a script of yours in a sandbox, without files, network or clock. Output: its value.",
    config=ScriptConfig,
    kind=NodeKind.ISOLATED,
    prepare=prepare,
    plan=plan,
    reads=reads,
    outcomes=lambda config: tuple(config.outcomes),
    default_retry_attempts=3,
    group="Code",
    icon="scroll-text",
    examples=({"script": "sum(line.price * line.amount for line in data.lines)"},),
)
