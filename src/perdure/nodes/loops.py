"""loop and loop-accumulator: run the nodes of their body once per item.

The body is the nodes whose `parent` is the loop. Each iteration sees its item and its number under the names chosen
here; what its last node gives is the result of the iteration. Results are kept in the order of the items however many
run at a time. The accumulator also lets the body read the results so far.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, model_validator

from perdure.expressions import MISSING, Expression, Path, Template
from perdure.model.events import Chunk
from perdure.model.failures import Failure
from perdure.model.times import Duration, parse_duration
from perdure.nodes.config import NodeConfig, TemplateValue, VariableName, expression, has_placeholder, template
from perdure.nodes.inputs import find
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import EXPRESSION, MIXED, PATH, TEMPLATE, Kind, Written
from perdure.programs.flow.loops import CHUNKS
from perdure.programs.flow.nodetypes import Directive, Iterate, LoopOptions, Plan, Refuse

WIDEST = 1000
"""Iterations that may run at the same time."""
LARGEST = 2**53


def _path(text: str) -> str:
    parse_path(text)
    return text


def _whole(value: Any) -> Any:
    if not has_placeholder(value) and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError("a whole number is expected, or a placeholder that gives one")
    return value


def _needed(value: Any) -> Any:
    if isinstance(value, bool) or not (isinstance(value, str) or (isinstance(value, int) and value >= 1)):
        raise ValueError("a whole number from 1 is expected, or an expression that gives one")
    return value


def _kept(value: Any) -> Any:
    return "all" if value == "array" else value


def _progress(raw: dict[str, Any]) -> list[str]:
    """What `enough` reads besides what everybody can."""
    named = [name for name in (raw.get("results", "results"), raw.get("count", "count")) if isinstance(name, str)]
    return ["result", "failed", "total", *named]


Whole = Annotated[int | str, BeforeValidator(_whole), TEMPLATE]
Needed = Annotated[int | str, BeforeValidator(_needed), EXPRESSION]
SignalName = Annotated[str, Field(min_length=1, max_length=128)]


class RangeConfig(NodeConfig):
    """Numbers from `start` up to, but not including, `stop`."""

    start: Whole = Field(0, title="First", description="The first number.")
    stop: Whole = Field(title="Stop before", description="The first number that is too many.")
    step: Whole = Field(1, title="Step", description="From one number to the next; may be negative.")


class LoopConfig(NodeConfig):
    items: Annotated[Any, MIXED] = Field(
        None,
        title="Items",
        description="An expression that gives a list, or a list. Without it, the input, or its `data` or `items`.",
        examples=["data.users", [1, 2, 3], "${vars.rows}"],
    )
    array_path: Annotated[str, AfterValidator(_path), PATH] | None = Field(
        None,
        validation_alias=AliasChoices("arrayPath", "array_path"),
        title="Path",
        description="Where in the input the list is, instead of `items`.",
        examples=["data.items"],
    )
    range: RangeConfig | None = Field(None, title="Range", description="Numbers, instead of `items`.")
    item: VariableName = Field(
        "item",
        validation_alias=AliasChoices("item", "itemVariable"),
        title="Name of the item",
        description="By which the body reads it.",
    )
    index: VariableName = Field(
        "index",
        validation_alias=AliasChoices("index", "indexVariable"),
        title="Name of the number",
        description="By which the body reads the place of the item, from 0.",
    )
    concurrency: int = Field(1, ge=1, le=WIDEST, title="At a time", description="How many iterations may run at once.")
    on_item_failure: Literal["fail", "skip", "null"] = Field(
        "fail",
        validation_alias=AliasChoices("on_item_failure", "errorHandling"),
        title="If an item fails",
        description="The loop fails, the item is left out, or its result is null.",
    )
    accumulate: Annotated[Literal["all", "last", "none"], BeforeValidator(_kept)] = Field(
        "all",
        validation_alias=AliasChoices("accumulate", "accumulationMode"),
        title="Keep",
        description="All results in the order of the items, only the last one, or none.",
    )
    results: VariableName = Field("results", title="Results as", description="Name of the results in the output.")
    count: VariableName = Field("count", title="Count as", description="Name of the number of results in the output.")
    need: Needed | None = Field(
        None, title="Results needed", description="Complete after so many results; the rest is withdrawn."
    )
    enough: Annotated[str, Written(Kind.EXPRESSION, names=_progress)] | None = Field(
        None,
        title="Enough when",
        description="Asked after each iteration; reads `result`, `results`, `count`, `failed` and `total` too.",
        examples=["result.approved", "count >= total / 2"],
    )
    cancel_rest: bool = Field(
        True,
        title="Then withdraw the rest",
        description="Once there are results enough, what still runs is withdrawn; otherwise it goes on unheeded.",
    )
    max_iterations: int | None = Field(
        None, ge=1, le=1_000_000_000, title="At most", description="More items than this are a failure."
    )
    pause: Duration | None = Field(
        None,
        title="Pause",
        description="How long to rest before another iteration is begun; not before the first.",
        examples=["2s"],
    )
    unwrap: bool = Field(
        False, title="Keep only data", description="Of a result that is an object with a field `data`, keep that."
    )
    skip_null: bool = Field(False, title="Leave out null", description="Results that are null are left out.")
    results_from: Literal["last", "ends"] = Field(
        "last",
        title="Results from",
        description="What the last node of an iteration gives, or only what reaches an `end`; else it is null.",
    )
    shape: Literal["plain", "yantra"] = Field(
        "plain",
        title="Shape of the output",
        description="As described here; or as in Yantra: `iteration_count`, `data` and further names of the same list.",
    )
    also: TemplateValue = Field(
        None,
        title="Also",
        description="An object in which `arrayPath` is looked for if it leads nowhere in the input.",
        examples=[{"order": "${vars.order}"}],
    )
    add_signal: SignalName | None = Field(
        None,
        title="Adding signal",
        description="Signals of this name add items while the loop runs; one without a payload ends the list.",
    )
    close_signal: SignalName | None = Field(
        None, title="Closing signal", description="A signal of this name completes the loop with what it has."
    )

    @model_validator(mode="after")
    def _consistent(self) -> LoopConfig:
        given = [name for name in ("items", "array_path", "range") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"give only one of items, arrayPath and range (found {' and '.join(given)})")
        if self.items is not None and not isinstance(self.items, str | list | dict):
            raise ValueError("`items` is an expression or a list")
        if isinstance(self.items, dict) and CHUNKS not in self.items:
            raise ValueError("`items` is an object; only a list can be looped over")
        if self.item == self.index:
            raise ValueError("the item and its number need different names")
        if self.results == self.count:
            raise ValueError("the results and their number need different names")
        if self.add_signal is not None and (self.range is not None or isinstance(self.items, dict)):
            raise ValueError("items can be added to a list only")
        if self.add_signal is not None and self.add_signal == self.close_signal:
            raise ValueError("the adding and the closing signal need different names")
        return self


class AccumulatorConfig(LoopConfig):
    accumulator: VariableName = Field(
        "accumulated",
        validation_alias=AliasChoices("accumulator", "accumulatorVariable"),
        title="Name of the results so far",
        description="By which the body reads them.",
    )
    carries: bool = Field(
        False,
        title="Results so far in the input",
        description="The input of each iteration also has the results so far, under that name.",
    )

    @model_validator(mode="after")
    def _distinct(self) -> AccumulatorConfig:
        if self.accumulator in (self.item, self.index):
            raise ValueError("the accumulator needs a name of its own")
        return self


class Prepared(msgspec.Struct, frozen=True):
    expression: Expression | None
    items: Template | None
    path: Path | None
    numbers: tuple[Template, Template, Template] | None
    need: Expression | int | None
    config: LoopConfig
    also: Template | None = None


def prepare(config: LoopConfig) -> Prepared:
    items = config.items
    numbers = None
    if config.range is not None:
        numbers = (template(config.range.start), template(config.range.stop), template(config.range.step))
    return Prepared(
        expression(items) if isinstance(items, str) else None,
        template(items) if items is not None and not isinstance(items, str) else None,
        parse_path(config.array_path) if config.array_path is not None else None,
        numbers,
        expression(config.need) if isinstance(config.need, str) else config.need,
        config,
        template(config.also) if config.also is not None else None,
    )


def plan(prepared: Prepared, moment: Plan) -> Directive:
    try:
        need = whole(moment.evaluate(prepared.need)) if isinstance(prepared.need, Expression) else prepared.need
        if need is not None and need < 1:
            raise ValueError(f"{need} results are needed; that is less than one")
        iterate = numbers_of(prepared, moment) if prepared.numbers is not None else items_of(prepared, moment)
    except ValueError as problem:
        return Refuse(Failure("LOOP_ITEMS_INVALID", str(problem)))
    most = prepared.config.max_iterations
    if most is not None and total_of(iterate) > most:
        told = f"{total_of(iterate)} items, more than the {most} that this loop allows"
        return Refuse(Failure("LIMIT_ITERATIONS", told))
    return msgspec.structs.replace(iterate, concurrency=prepared.config.concurrency, need=need)


def numbers_of(prepared: Prepared, moment: Plan) -> Iterate:
    assert prepared.numbers is not None
    start, stop, step = (whole(moment.resolve(each)) for each in prepared.numbers)
    if step == 0:
        raise ValueError("a range with the step 0 never ends")
    return Iterate(numbers=(start, step, max(0, -((start - stop) // step))))


def items_of(prepared: Prepared, moment: Plan) -> Iterate:
    if prepared.expression is not None:
        found = moment.evaluate(prepared.expression)
    elif prepared.items is not None:
        found = moment.resolve(prepared.items)
    elif prepared.path is not None and prepared.path.steps:
        also = moment.resolve(prepared.also) if prepared.also is not None else None
        found = find(prepared.path, moment.input, also)
        if found is MISSING:
            raise ValueError(f"`{prepared.path}` leads nowhere in the input")
    elif prepared.config.add_signal is not None and prepared.path is None:
        found = []
    else:
        found = list_in(moment.input)
    if isinstance(found, list):
        return Iterate(items=found)
    if isinstance(found, dict) and found.keys() == {CHUNKS}:
        if prepared.config.add_signal is not None:
            raise ValueError("items can be added to a list only, and this one lives in blobs")
        return Iterate(chunks=chunks_of(found[CHUNKS]))
    raise ValueError(f"only a list can be looped over; this is {_kind(found)}")


def list_in(input: Any) -> Any:
    if isinstance(input, dict):
        for key in ("data", "items"):
            if isinstance(input.get(key), list) or (isinstance(input.get(key), dict) and CHUNKS in input[key]):
                return input[key]
    return input


def chunks_of(value: Any) -> list[Chunk]:
    try:
        return msgspec.convert(value, list[Chunk])
    except msgspec.ValidationError as problem:
        raise ValueError(f"not a list in blobs: {problem}") from None


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"a whole number is expected, not {value!r}"[:200])
    if abs(value) > LARGEST:
        raise ValueError("the number is larger than 2**53")
    return value


def total_of(iterate: Iterate) -> int:
    if iterate.items is not None:
        return len(iterate.items)
    if iterate.numbers is not None:
        return iterate.numbers[2]
    return sum(chunk.count for chunk in iterate.chunks or ())


def _kind(value: Any) -> str:
    words: dict[type, str] = {type(None): "null", bool: "a truth value", str: "text", dict: "an object"}
    return words.get(type(value), "a number")


def options(config: LoopConfig) -> LoopOptions:
    return LoopOptions(
        item=config.item,
        index=config.index,
        on_item_failure=config.on_item_failure,
        accumulate=config.accumulate,
        accumulator=config.accumulator if isinstance(config, AccumulatorConfig) else None,
        results=config.results,
        count=config.count,
        add_signal=config.add_signal,
        close_signal=config.close_signal,
        enough=expression(config.enough) if config.enough is not None else None,
        cancel_rest=config.cancel_rest,
        pause=parse_duration(config.pause) if config.pause is not None else 0,
        unwrap=config.unwrap,
        skip_null=config.skip_null,
        only_ends=config.results_from == "ends",
        carries=isinstance(config, AccumulatorConfig) and config.carries,
        yantra=config.shape == "yantra",
    )
