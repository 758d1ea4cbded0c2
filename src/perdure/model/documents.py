"""The flow document: what people draw or write, and what is stored, hashed, diffed and executed. There is no compiled
form on disk.

Positions, labels and comments are for people: they are kept and exported, and are part of neither the hash nor the
execution.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from perdure.model.times import Duration

Id = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
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
    rule: Literal["all", "any", "first", "n_of_m"] = "all"
    n: int = Field(1, ge=1, description="How many edges must be taken (n_of_m).")
    cancel_rest: bool = Field(False, description="When satisfied, withdraw what could only still arrive here.")
    blocking: bool = Field(False, description="The next round waits until every edge of this one has arrived.")
    threads: int = Field(1, ge=1, description="With `any`: collect so many arrivals into one activation.")


class MilestoneDoc(Part):
    after: Id = Field(description="Waits until this node has completed.")
    before: Id | None = Field(None, description="Is skipped once this node has begun.")


class NodeDoc(Part):
    id: Id
    type: str = Field(min_length=1, max_length=64)
    label: str | None = None
    comment: str | None = None
    position: dict[str, float] | None = None
    parent: Id | None = Field(None, description="The loop whose body this node belongs to.")
    config: dict[str, Any] = Field(default_factory=dict)
    join: JoinDoc | Literal["all", "any", "first"] = Field(default_factory=JoinDoc)
    condition: str | None = Field(
        None, description="If false, the node is skipped: its output is null and its edges are taken."
    )
    retry: RetryDoc | None = None
    timeout: Duration | None = Field(None, description="How long one attempt may take.")
    compensate: Id | None = Field(None, description="The node that undoes this one.")
    compensate_on_cancel: bool = False
    at_most_once: bool = Field(False, description="Never repeated when its outcome is unknown.")
    mutex: str | None = Field(None, max_length=128, description="Nodes with the same name never run at the same time.")
    race: str | None = Field(
        None, max_length=128, description="Of the waiting nodes with the same name the first wins."
    )
    cancels: list[Id] = Field(default_factory=list, description="Nodes that are withdrawn when this one completes.")
    milestone: MilestoneDoc | None = None
    queue: str | None = Field(None, max_length=128)
    missing: Literal["strict", "lenient"] | None = Field(
        None, description="Templates of this node whose value is missing: fail, or keep the placeholder's text."
    )


class EdgeDoc(Part):
    id: Id | None = None
    source: Id
    target: Id
    outcome: str | None = Field(
        None, max_length=128, description="Taken only with this outcome: true, false, error, timeout, a choice."
    )
    when: str | None = Field(None, description="An expression; the edge is taken only if it is true.")
    tokens: int = Field(1, ge=1, le=1000, description="How many threads start here when the edge is taken.")
    label: str | None = None


class SettingsDoc(Part):
    max_parallel: int | None = Field(
        None, ge=1, description="How many activations may execute at once; 1 is strictly sequential."
    )
    barrier: Literal["none", "layer"] = "none"
    on_failure: Id | None = Field(None, description="The node to which an unhandled failure leads.")
    after: list[Id] = Field(
        default_factory=list,
        description="Nodes that run when everything else has ended; they cannot change the result.",
    )
    compensation: Literal["strict", "best_effort", "skip"] = "strict"
    missing: Literal["strict", "lenient"] = "strict"
    limits: dict[str, int | str] = Field(default_factory=dict, description="Lower limits than the namespace allows.")


class FlowDocument(Part):
    kind: Literal["flow"] = "flow"
    id: Id | None = None
    name: str | None = Field(None, max_length=256)
    description: str | None = None
    schedule: str | None = Field(None, description="A cron line: five fields.")
    timezone: str | None = None
    input_schema: dict[str, Any] | None = None
    nodes: list[NodeDoc]
    edges: list[EdgeDoc] = Field(default_factory=list)
    settings: SettingsDoc = Field(default_factory=SettingsDoc)


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
