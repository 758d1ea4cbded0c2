"""What a decision asks of the world. Effects follow from state (`kernel.outstanding`), so a crash loses none of them.

Timers are no effect of their own: a run has one next wake time, and the owner or the store's index keeps it.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from perdure.model.references import Word
from perdure.model.values import Json


class Effect(msgspec.Struct, frozen=True, tag=True, gc=False):
    pass


class Execute(Effect, frozen=True):
    """Run the handler of this activation and answer with Complete or Fail."""

    activation: int


class StopHandler(Effect, frozen=True):
    """Tell the handler of this activation to end, and answer with CancelDone."""

    activation: int


class StartChild(Effect, frozen=True):
    activation: int
    run: str
    definition: str
    version: int | Word | None
    input: Json


class LoadItems(Effect, frozen=True):
    """Read the next items of a loop from its blob and answer with ItemsLoaded."""

    activation: int
    blob: str
    offset: int
    limit: int


class Continue(Effect, frozen=True):
    """The turn was cut short: hand in Proceed once it is durable."""


AnyEffect: TypeAlias = Execute | StopHandler | StartChild | LoadItems | Continue
