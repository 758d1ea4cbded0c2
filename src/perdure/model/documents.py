"""The flow document: what people draw or write, and what is stored, hashed, diffed and executed. There is no compiled
form on disk.

Positions, labels and comments are for people: they are kept and exported, and are part of neither the hash nor the
execution.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from perdure.model.times import Duration, parse_duration

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
Id = Annotated[
    str,
    Field(
        pattern=ID_PATTERN,
        description="Letters, digits, dot, underscore, hyphen; at most 128.",
    ),
]

COSMETIC = ("position", "label", "comment", "name", "description")
"""Fields that do not change what a flow does."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RetryDoc(Part):
    attempts: int = Field(3, ge=1, le=1000, description="How often to try in all, the first time included.")
    initial: Duration = Field("1s", description="Pause before the second attempt.")
    multiplier: float = Field(2.0, ge=1, le=100, description="Each pause is this many times the one before.")
    maximum: Duration = Field("5m", description="No pause is longer.")
    jitter: float = Field(0.0, ge=0, le=1, description="Shortens each pause by a random share of up to this.")


class JoinDoc(Part):
    rule: Literal["all", "any", "first", "n_of_m"] = Field(
        "all",
        description="Which edges it takes to begin: `all` that lead here, taken or dead; `any` taken one, each time; "
        "the `first` taken one; the first `n` taken ones.",
    )
    n: int = Field(1, ge=1, description="How many edges must be taken (n_of_m).")
    cancel_rest: bool = Field(False, description="When satisfied, withdraw what could only still arrive here.")
    blocking: bool = Field(False, description="The next round waits until every edge of this one has arrived.")
    threads: int = Field(1, ge=1, description="With `any`: collect so many arrivals into one activation.")


class MilestoneDoc(Part):
    after: Id = Field(description="Waits until this node has completed.")
    before: Id | None = Field(None, description="Is skipped once this node has begun.")


class UseDoc(Part):
    ref: Id = Field(description="The id of a stored node definition.")
    version: Annotated[int, Field(ge=1)] | Literal["LATEST", "ACTIVE", "SNAPSHOT"] = Field(
        "LATEST", description="A number, or what a run is to find when it starts: newest, active or draft."
    )


def _some_time(value: str | float) -> str | float:
    if parse_duration(value) <= 0:
        raise ValueError("no time at all; a duration above zero is expected")
    return value


class CacheDoc(Part):
    ttl: Annotated[Duration, AfterValidator(_some_time)] = Field(description="How long an answer is good.")
    key: str | None = Field(
        None,
        min_length=1,
        max_length=8192,
        description="A template; each value of it is a question of its own, whatever the input. "
        "Without it, each input is one.",
    )
    shared: bool = Field(False, description="Answers are kept for all definitions of the namespace.")


class NodeDoc(Part):
    id: Id = Field(description="Its name in edges, expressions, logs and keys; unique, whatever the case.")
    type: str = Field(min_length=1, max_length=64, description="One of the node types. With `use` it may be left out.")
    use: UseDoc | None = Field(
        None,
        description="A stored node definition that this node is made from. What else stands here overrides its fields, "
        "`config` key by key.",
    )
    label: str | None = Field(None, description="What a picture shows. Changes nothing.")
    comment: str | None = Field(None, description="For readers. Changes nothing.")
    position: dict[str, float] | None = Field(None, description="Where an editor draws the node. Changes nothing.")
    parent: Id | None = Field(None, description="The loop or group whose body this node belongs to.")
    config: dict[str, Any] = Field(default_factory=dict, description="What the node type asks for.")
    join: JoinDoc | Literal["all", "any", "first"] = Field(
        default_factory=JoinDoc, description="When the edges that lead here let the node begin."
    )
    condition: str | None = Field(
        None, description="An expression. If false, the node is skipped: its output is null and its edges are taken."
    )
    cache: CacheDoc | None = Field(
        None, description="The answer to the same question is kept and used again. For nodes with a handler."
    )
    retry: RetryDoc | None = Field(None, description="How failures that may pass are tried again. Without it: never.")
    timeout: Duration | None = Field(None, description="How long one attempt may take.")
    compensate: Id | None = Field(None, description="The node that undoes this one.")
    compensate_on_cancel: bool = Field(False, description="Also undo it when the run is cancelled.")
    at_most_once: bool = Field(False, description="Never repeated when its outcome is unknown.")
    mutex: str | None = Field(None, max_length=128, description="Nodes with the same name never run at the same time.")
    race: str | None = Field(
        None, max_length=128, description="Of the waiting nodes with the same name the first wins."
    )
    cancels: list[Id] = Field(default_factory=list, description="Nodes that are withdrawn when this one completes.")
    milestone: MilestoneDoc | None = Field(None, description="After and before which nodes this one may begin.")
    on_demand: bool = Field(
        False, description="Stands beside the graph: no edge leads here, and it runs when somebody asks for it."
    )
    queue: str | None = Field(
        None, max_length=128, description="Kept, and not used yet: the owner of the run executes its nodes."
    )
    missing: Literal["strict", "lenient"] | None = Field(
        None, description="Templates of this node whose value is missing: fail, or keep the placeholder's text."
    )


class EdgeDoc(Part):
    id: Id | None = Field(None, description="A name of its own, if it needs one; unique.")
    source: Id = Field(description="The node that it leaves.")
    target: Id = Field(description="The node that it leads to.")
    outcome: str | None = Field(
        None, max_length=128, description="Taken only with this outcome: true, false, error, timeout, a choice."
    )
    when: str | None = Field(None, description="An expression; the edge is taken only if it is true.")
    tokens: int = Field(1, ge=1, le=1000, description="How many threads start here when the edge is taken.")
    label: str | None = Field(None, description="What a picture shows. Changes nothing.")


class SettingsDoc(Part):
    max_parallel: int | None = Field(
        None, ge=1, description="How many activations may execute at once; 1 is strictly sequential."
    )
    barrier: Literal["none", "layer"] = Field(
        "none", description="`layer`: no node begins before everything in the layers before it has ended."
    )
    on_failure: Id | None = Field(None, description="The node to which an unhandled failure leads.")
    after: list[Id] = Field(
        default_factory=list,
        description="Nodes that run when everything else has ended; they cannot change the result.",
    )
    compensation: Literal["strict", "best_effort", "skip"] = Field(
        "strict", description="If undoing fails: stop there, or go on with the rest; or undo nothing at all."
    )
    missing: Literal["strict", "lenient"] = Field(
        "strict", description="Templates whose value is missing: fail, or keep the placeholder's text."
    )
    limits: dict[str, int | str] = Field(default_factory=dict, description="Lower limits than the namespace allows.")


class FlowDocument(Part):
    kind: Literal["flow"] = Field("flow", description="What the document is.")
    id: Id | None = Field(None, description="The id of the definition, unless whoever saves it gives one.")
    name: str | None = Field(None, max_length=256, description="A title. Changes nothing.")
    description: str | None = Field(None, description="For readers. Changes nothing.")
    schedule: str | None = Field(
        None, description="A cron line: five fields. Checked and kept; nothing starts runs by it yet."
    )
    timezone: str | None = Field(None, description="The IANA name of the zone in which `schedule` is meant.")
    input_schema: dict[str, Any] | None = Field(
        None, description="A JSON Schema. A run whose input does not fit is not started."
    )
    nodes: list[NodeDoc] = Field(description="What there is to do. Exactly one is the start.")
    edges: list[EdgeDoc] = Field(default_factory=list, description="Which node comes after which.")
    settings: SettingsDoc = Field(default_factory=SettingsDoc, description="What holds for the whole flow.")


def semantic(document: Any) -> Any:
    """The document without what is only for people's eyes; two documents that do the same have the same hash."""
    if not isinstance(document, dict):
        return document
    kept = {key: value for key, value in document.items() if key not in COSMETIC}
    for list_name in ("nodes", "edges"):
        if isinstance(kept.get(list_name), list):
            kept[list_name] = [
                {key: value for key, value in part.items() if key not in COSMETIC} if isinstance(part, dict) else part
                for part in kept[list_name]
            ]
    return kept
