"""The handlers of the node types that act on the world; the engine asks for them by type."""

from __future__ import annotations

from perdure.authoring.steps import Steps
from perdure.engine.handlers import HandlerSpec, Lack
from perdure.model.values import Json
from perdure.nodes import branch, email, http, instruction, json_to_csv, processor, python, rate_limit, script, slack
from perdure.nodes.toolbox import Toolbox


def builtin_handlers(steps: Steps, tools: Toolbox) -> dict[str, HandlerSpec]:
    """A fresh dict, to which an embedding program may add handlers of its own types."""

    def lacks(config: Json) -> Lack | None:
        name = config["step"]
        return None if name in steps else Lack("step", name)

    def lacks_processor(config: Json) -> Lack | None:
        name = config.get("processor")
        return None if name is None or name in steps else Lack("step", name)

    return {
        python.TYPE.name: HandlerSpec(steps.call, steps.is_blocking, kind=python.TYPE.kind.value, lacks=lacks),
        http.TYPE.name: http.handler(tools),
        json_to_csv.TYPE.name: json_to_csv.HANDLER,
        instruction.TYPE.name: HandlerSpec(lambda ctx: instruction.execute(ctx, tools.scripts), kind="isolated"),
        branch.TYPE.name: HandlerSpec(branch.handler(tools), kind=branch.TYPE.kind.value),
        processor.TYPE.name: HandlerSpec(
            processor.handler(steps, tools), kind=processor.TYPE.kind.value, lacks=lacks_processor
        ),
        rate_limit.TYPE.name: rate_limit.HANDLER,
        script.TYPE.name: HandlerSpec(lambda ctx: script.execute(ctx, tools.scripts), kind=script.TYPE.kind.value),
        email.TYPE.name: email.handler(tools),
        slack.TYPE.name: slack.handler(tools),
    }
