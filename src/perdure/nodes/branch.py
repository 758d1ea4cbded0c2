"""branch: ordered choices. The first whose rule is true says where to go; the rest are not asked.

A rule is an expression or a script. One that cannot be answered is told in the output, as a warning, and the default is
taken; without a default the node fails. Instead of choices a script or an expression may name the way itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from pydantic import AliasChoices, Field, model_validator

from perdure.engine.handlers import ActivationError, Result
from perdure.errors import PerdureError
from perdure.expressions import Expression
from perdure.model.failures import Failure
from perdure.nodes.config import ExpressionText, NodeConfig, expression
from perdure.nodes.script import seed_of
from perdure.nodes.scripts import SCRIPT, Script, compile_script
from perdure.nodes.scripts.fields import LanguageName
from perdure.programs.flow.nodetypes import Directive, Done, Execute, NodeKind, NodeType, Plan, Refuse

if TYPE_CHECKING:
    from perdure.engine.context import ActivationContext
    from perdure.nodes.toolbox import Toolbox

WayName = Annotated[str, Field(min_length=1, max_length=128)]
ScriptSource = Annotated[str, SCRIPT, Field(min_length=1)]
_LANGUAGE = AliasChoices("language", "scriptType")


class Choice(NodeConfig):
    when: ExpressionText | bool | None = Field(
        None, title="When", description="An expression that is true or false.", examples=["data.total > 100"]
    )
    script: ScriptSource | None = Field(
        None, title="Or a script", description="A script that gives true or false.", examples=["return data['ok']"]
    )
    language: LanguageName = Field(
        "python", validation_alias=_LANGUAGE, title="Language of the script", description="In which it is written."
    )
    next: WayName = Field(title="Way", description="The outcome of the edge that is taken.", examples=["approve"])

    @model_validator(mode="after")
    def _one(self) -> Choice:
        if (self.when is None) == (self.script is None):
            raise ValueError("give either `when` or `script`")
        return self


class BranchConfig(NodeConfig):
    choices: list[Choice] = Field(
        default_factory=list, max_length=256, title="Choices", description="Asked in order, until one is true."
    )
    default: WayName | None = Field(
        None, title="Otherwise", description="The way where no choice is true, or one cannot be answered."
    )
    next: ExpressionText | None = Field(
        None, title="Computed way", description="Instead of choices: an expression that gives the way."
    )
    script: ScriptSource | None = Field(
        None, title="Script", description="Instead of choices: a script that gives the way."
    )
    language: LanguageName = Field(
        "python", validation_alias=_LANGUAGE, title="Language of the script", description="In which it is written."
    )
    ways: list[WayName] = Field(
        default_factory=list,
        max_length=10_000,
        title="Ways",
        description="Those that a computed way may be. Any other fails.",
    )

    @model_validator(mode="after")
    def _specified(self) -> BranchConfig:
        given = [bool(self.choices), self.next is not None, self.script is not None]
        if sum(given) != 1:
            raise ValueError("give `choices`, or `next`, or `script`")
        return self


Rule: TypeAlias = Expression | Script | bool


class Prepared(msgspec.Struct, frozen=True):
    rules: tuple[tuple[Rule, str], ...]
    computed: Expression | Script | None
    default: str | None
    ways: frozenset[str]

    @property
    def code(self) -> list[Rule]:
        return [rule for rule, _ in self.rules] + ([self.computed] if self.computed is not None else [])


def prepare(config: BranchConfig) -> Prepared:
    rules = tuple((_rule(choice), choice.next) for choice in config.choices)
    computed: Expression | Script | None = None
    if config.next is not None:
        computed = expression(config.next)
    elif config.script is not None:
        computed = compile_script(config.script, config.language)
    return Prepared(rules, computed, config.default, frozenset(outcomes(config)))


def _rule(choice: Choice) -> Rule:
    if choice.script is not None:
        return compile_script(choice.script, choice.language)
    return choice.when if isinstance(choice.when, bool) else expression(choice.when or "")


def outcomes(config: BranchConfig) -> tuple[str, ...]:
    named = [choice.next for choice in config.choices] + ([config.default] if config.default is not None else [])
    return tuple(dict.fromkeys([*named, *config.ways]))


def reads(prepared: Prepared) -> set[tuple[str | int, ...]]:
    return {read for rule in prepared.code if not isinstance(rule, bool) for read in rule.reads}


# -- deciding --------------------------------------------------------------------------------------


class Unanswered(Exception):
    """A rule that gives no answer, and why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def plan(prepared: Prepared, moment: Plan) -> Directive:
    """Where only expressions are asked it is decided at once; scripts run outside."""
    if any(isinstance(rule, Script) for rule in prepared.code):
        return Execute()
    try:
        for number, (rule, way) in enumerate(prepared.rules):
            if _is_true(rule if isinstance(rule, bool) else moment.evaluate(rule), number):
                return Done({"nextNode": way}, way)
        if isinstance(prepared.computed, Expression):
            way = _checked(prepared, moment.evaluate(prepared.computed))
            return Done({"nextNode": way}, way)
    except (PerdureError, Unanswered) as problem:
        return _otherwise(prepared, problem)
    return _otherwise(prepared, None)


def _otherwise(prepared: Prepared, problem: PerdureError | Unanswered | None) -> Directive:
    if prepared.default is None or (problem is not None and prepared.computed is not None):
        return Refuse(Failure("BRANCH_NO_WAY", _no_way(problem)))
    return Done(_told(prepared.default, problem), prepared.default)


def _told(way: str, problem: Any) -> dict[str, Any]:
    output: dict[str, Any] = {"nextNode": way}
    if problem is not None:
        output["warnings"] = [{"code": problem.code, "message": problem.message}]
    return output


def _no_way(problem: Any) -> str:
    if problem is None:
        return "no choice is true, and there is no default"
    return f"{problem.code}: {problem.message}"


def _is_true(answer: Any, number: int) -> bool:
    """Nothing is not true: `_global.order?.isReturnable` of an order that is not there."""
    if answer is None:
        return False
    if not isinstance(answer, bool):
        told = f"choice {number + 1} is neither true nor false but {answer!r}"[:200]
        raise Unanswered("CONDITION_NOT_BOOLEAN", told)
    return answer


def _checked(prepared: Prepared, way: Any) -> str:
    if isinstance(way, dict):
        way = way.get("nextNode")
    if not isinstance(way, str) or way not in prepared.ways:
        raise Unanswered("BRANCH_NO_WAY", f"there is no way {way!r} from here"[:200])
    return way


def handler(tools: Toolbox) -> Callable[[ActivationContext], Awaitable[Result]]:
    async def branch(ctx: ActivationContext) -> Result:
        prepared = prepare(BranchConfig.model_validate(ctx.config))
        bindings = ctx.bindings

        async def ask(rule: Rule) -> Any:
            if isinstance(rule, Script):
                return await tools.scripts.run(rule, bindings, now=ctx.scheduled_at, seed=seed_of(ctx.key))
            return rule if isinstance(rule, bool) else rule.evaluate(bindings)

        problem: Any = None
        try:
            for number, (rule, way) in enumerate(prepared.rules):
                if _is_true(await ask(rule), number):
                    return Result({"nextNode": way}, way)
            if prepared.computed is not None:
                way = _checked(prepared, await ask(prepared.computed))
                return Result({"nextNode": way}, way)
        except (PerdureError, Unanswered) as fault:
            problem = fault
        except ActivationError as fault:
            if fault.retryable:
                raise
            problem = fault
        if prepared.default is None or (problem is not None and prepared.computed is not None):
            raise ActivationError("BRANCH_NO_WAY", _no_way(problem), details=getattr(problem, "details", None))
        if problem is not None:
            ctx.logger.warning("a choice could not be answered, so the default is taken: %s", problem.message)
        return Result(_told(prepared.default, problem), prepared.default)

    return branch


TYPE = NodeType(
    name="branch",
    title="Branch",
    description="Takes the way of the first choice that is true. Output: `nextNode`, and `warnings` of bad rules.",
    config=BranchConfig,
    kind=NodeKind.ISOLATED,
    prepare=prepare,
    plan=plan,
    outcomes=outcomes,
    reads=reads,
    group="Drift",
    icon="split",
    examples=({"choices": [{"when": "data.total > 100", "next": "large"}], "default": "small"},),
)
