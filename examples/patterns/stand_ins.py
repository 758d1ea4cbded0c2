"""Stand-ins for the steps of the pattern documents, so that each of them can be run and watched:

    perdure run examples/patterns/wcp-29-cancelling-discriminator.json --app examples.patterns.stand_ins

A step takes the time and gives the results that the document's first scenario (`….expected.json`) says, only faster.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from perdure import ActivationContext, Result

HERE = Path(__file__).parent
SPEED = 10
"""How much faster than the scenarios say."""

Scenario = Mapping[str, Any]
Step = Callable[..., Any]


def cast(scenarios: Mapping[str, Scenario], speed: float = 1) -> dict[str, Step]:
    """Steps by name, for these scenarios by definition id."""
    names = {name for id in scenarios for name in step_names(id)}
    calls: Counter[tuple[str, str]] = Counter()

    def stand_in(name: str) -> Step:
        async def step(ctx: ActivationContext, **arguments: Any) -> Result:
            calls[ctx.run_id, name] += 1
            told = scenarios[ctx.definition].get("steps", {}).get(name, {})
            number = calls[ctx.run_id, name]
            await asyncio.sleep(nth(told.get("seconds", 0), number) / speed)
            output = nth(told["returns"], number) if "returns" in told else arguments or ctx.node_id
            return Result(output, nth(told.get("outcome"), number))

        return step

    return {name: stand_in(name) for name in sorted(names)}


def nth(told: Any, number: int) -> Any:
    """Of a list the n-th, and then the last again and again; anything else is the same each time."""
    return told[min(number, len(told)) - 1] if isinstance(told, list) else told


def step_names(id: str) -> list[str]:
    nodes = json.loads((HERE / f"{id}.json").read_text())["nodes"]
    return [node["config"]["step"] for node in nodes if node["type"] == "python"]


def first_scenarios() -> dict[str, Scenario]:
    found = {}
    for path in HERE.glob("*.expected.json"):
        found[path.name.removesuffix(".expected.json")] = json.loads(path.read_text())["scenarios"][0]
    return found


steps = cast(first_scenarios(), SPEED)
