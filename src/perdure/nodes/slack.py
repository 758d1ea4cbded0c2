"""slack: posts a message to a channel, by an incoming webhook or with the token of an app.

The message is rendered when the node is scheduled, recorded with that turn, and posted after the turn is durable. While
Slack cannot be reached or asks to wait, it is tried again with growing pauses (2, 4, 8 … minutes, at most an hour, or
as long as Slack asks). Each attempt carries the activation's key as `Idempotency-Key`, with a token also as metadata of
the message. Slack itself keeps no such keys: if a worker dies after Slack has taken the message and before that is
recorded, it is posted once more. A node with `at_most_once` fails with OUTCOME_UNKNOWN instead.

Values that are put into the text, and into every `text` of the blocks, are escaped: a name such as `<!channel>` alarms
nobody. The URL of a webhook is a secret. Give it as `{"secret": "NAME"}`, so that it is recorded nowhere.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, AliasChoices, Field, model_validator

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, HandlerSpec
from perdure.errors import NotFound
from perdure.expressions import Template
from perdure.expressions.gotemplate import is_go_template
from perdure.model.failures import Failure
from perdure.model.policies import Retry
from perdure.model.values import Json, decode_json, encode_json, text_of
from perdure.nodes.config import NodeConfig, TemplateValue, has_placeholder, template
from perdure.nodes.email import RETRIES, outbox_retry
from perdure.nodes.letters import Letter, LetterText, letter
from perdure.nodes.outgoing.calls import Answer, Call
from perdure.nodes.outgoing.failures import CallFailed
from perdure.nodes.outgoing.urls import read_url
from perdure.nodes.secret_values import SecretName, is_secret
from perdure.nodes.toolbox import Toolbox
from perdure.programs.flow.fields import LETTER, TEMPLATE
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse

POST_MESSAGE = "https://slack.com/api/chat.postMessage"
LONGEST_TEXT = 40_000
MOST_BLOCKS = 50
SECONDS = 30.0
LONGEST_PAUSE = 3600
ANSWER_BYTES = 64 * 1024


def _url(value: Any) -> Any:
    if isinstance(value, str) and not has_placeholder(value):
        read_url(value)
    return value


def _blocks(value: Any) -> Any:
    if isinstance(value, list) and len(value) > MOST_BLOCKS:
        raise ValueError(f"{len(value)} blocks; at most {MOST_BLOCKS}")
    if value is not None and not isinstance(value, list) and not has_placeholder(value):
        raise ValueError("blocks are a list")
    return value


Blocks = Annotated[Any, AfterValidator(_blocks), LETTER]
Confidential = Annotated[str | SecretName, TEMPLATE]


class SlackConfig(NodeConfig):
    webhook_url: Annotated[str | SecretName, AfterValidator(_url), TEMPLATE] | None = Field(
        None,
        validation_alias=AliasChoices("webhookUrl", "webhook_url"),
        title="Webhook",
        description="The URL of an incoming webhook.",
        examples=[{"secret": "SLACK_WEBHOOK"}],
    )
    api_key: Confidential | None = Field(
        None,
        validation_alias=AliasChoices("apiKey", "api_key", "token"),
        title="Token",
        description="Without a webhook: the token of an app that may post (`chat:write`). Needs a `channel`.",
        examples=[{"secret": "SLACK_TOKEN"}],
    )
    text: LetterText | None = Field(
        None,
        validation_alias=AliasChoices("text", "message"),
        title="Text",
        description="With blocks, what notifications show.",
        examples=["Order {{data.id}} was paid"],
    )
    blocks: Blocks = Field(
        None,
        title="Blocks",
        description="The message in Slack's Block Kit.",
        examples=[[{"type": "section", "text": {"type": "mrkdwn", "text": "*{{data.id}}*"}}]],
    )
    attachments: Blocks = Field(None, title="Attachments", description="The older form of blocks.")
    channel: TemplateValue = Field(
        None, title="Channel", description="Where to post, if the webhook leaves that open.", examples=["#orders"]
    )
    username: LetterText | None = Field(None, title="Shown as", description="The name of the sender.")
    icon_url: TemplateValue = Field(
        None,
        validation_alias=AliasChoices("iconUrl", "icon_url"),
        title="Icon",
        description="The address of a picture of the sender.",
    )
    icon_emoji: TemplateValue = Field(
        None,
        validation_alias=AliasChoices("iconEmoji", "icon_emoji"),
        title="Icon, as an emoji",
        description="In the place of a picture.",
        examples=[":tada:"],
    )
    thread_ts: TemplateValue = Field(
        None,
        validation_alias=AliasChoices("threadTs", "thread_ts"),
        title="Thread",
        description="The `ts` of the message that it answers.",
    )
    max_retries: int = Field(
        RETRIES,
        validation_alias=AliasChoices("maxRetries", "max_retries"),
        ge=0,
        le=10,
        title="Retries",
        description="How often it is tried again. The node's own `retry` comes before it.",
    )

    @model_validator(mode="after")
    def _complete(self) -> SlackConfig:
        if self.webhook_url is None and self.api_key is None:
            raise ValueError("give webhookUrl or apiKey")
        if self.webhook_url is None and self.channel is None:
            raise ValueError("with an apiKey the channel must be named")
        if not self.text and self.blocks is None and self.attachments is None:
            raise ValueError("give a text, blocks or attachments")
        return self


# -- rendering ---------------------------------------------------------------------------------------------------------


class Rich(msgspec.Struct, frozen=True):
    """Blocks: what they are made of, and the texts in them, in which values are escaped."""

    frame: Template
    texts: list[tuple[list[str | int], Letter]]

    def render(self, moment: Plan) -> Json:
        value = moment.resolve(self.frame)
        if self.texts:
            value = decode_json(encode_json(value))
        for place, text in self.texts:
            at = value
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = text.render(moment)
        return value


class Prepared(msgspec.Struct, frozen=True):
    target: dict[str, Template | SecretName]
    text: Letter | None
    rich: dict[str, Rich]
    plain: dict[str, Template]
    username: Letter | None


def prepare(config: SlackConfig) -> Prepared:
    plain = {
        "channel": config.channel,
        "icon_url": config.icon_url,
        "icon_emoji": config.icon_emoji,
        "thread_ts": config.thread_ts,
    }
    rich = {"blocks": config.blocks, "attachments": config.attachments}
    name, target = ("webhook", config.webhook_url) if config.webhook_url is not None else ("token", config.api_key)
    assert target is not None
    return Prepared(
        {name: target if isinstance(target, SecretName) else template(target)},
        letter(config.text, "slack") if config.text else None,
        {name: _rich(value) for name, value in rich.items() if value is not None},
        {name: template(value) for name, value in plain.items() if value is not None},
        letter(config.username) if config.username else None,
    )


def _rich(value: Any) -> Rich:
    texts: list[tuple[list[str | int], Letter]] = []

    def frame(part: Any, place: list[str | int]) -> Any:
        if isinstance(part, list):
            return [frame(each, [*place, number]) for number, each in enumerate(part)]
        if isinstance(part, dict):
            return {key: frame(each, [*place, key]) for key, each in part.items()}
        is_text = bool(place) and place[-1] == "text"
        if place and has_placeholder(part) and (is_text or is_go_template(part)):
            texts.append((place, letter(part, "slack" if is_text else "none")))
            return ""
        return part

    return Rich(template(frame(value, [])), texts)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    body: dict[str, Any] = {}
    if prepared.text is not None:
        body["text"] = prepared.text.render(moment)
        if len(body["text"]) > LONGEST_TEXT:
            return _unfit(f"a text of {len(body['text'])} characters; at most {LONGEST_TEXT}")
    for name, rich in prepared.rich.items():
        body[name] = rich.render(moment)
        if not isinstance(body[name], list):
            return _unfit(f"`{name}` is no list")
    for name, each in prepared.plain.items():
        value = text_of(moment.resolve(each))
        if value is not None and not isinstance(value, str):
            return _unfit(f"`{name}` is no text")
        if value:
            body[name] = value
    if prepared.username is not None:
        body["username"] = prepared.username.render(moment)
    target: dict[str, Any] = {}
    for name, given in prepared.target.items():
        if isinstance(given, SecretName):
            target[name] = {"secret": given.secret}
        elif isinstance(value := moment.resolve(given), str) and value:
            target[name] = value  # text only: what data brings in must not name a secret
        else:
            return _unfit(f"the {name} is no text")
    return Execute({**target, "body": body})


def _unfit(why: str) -> Refuse:
    return Refuse(Failure("SLACK_INVALID", why))


# -- posting -----------------------------------------------------------------------------------------------------------


def handler(tools: Toolbox) -> HandlerSpec:
    async def post(ctx: ActivationContext) -> Json:
        config = ctx.config
        body = config["body"]
        headers = [("Content-Type", "application/json; charset=utf-8"), ("Idempotency-Key", _ascii(ctx.key))]
        url = POST_MESSAGE
        if "token" in config:
            headers.append(("Authorization", f"Bearer {await _filled(ctx, config['token'])}"))
            body = {**body, "metadata": {"event_type": "perdure", "event_payload": {"key": ctx.key}}}
        else:
            url = await _filled(ctx, config["webhook"])
        _check_url(url)
        try:
            call = Call(
                "POST",
                url,
                tuple(headers),
                encode_json(body),
                SECONDS,
                ANSWER_BYTES,
                redirects=0,
                has_private_url="webhook" in config,
            )
            answer = await tools.http.call(ctx.namespace, call)
        except CallFailed as failed:
            if failed.code != "HTTP_DROPPED":
                raise
            # The request may have arrived: what became of it is not known.
            raise ActivationError("OUTCOME_UNKNOWN", failed.message, retryable=True, details=failed.details) from None
        _check(answer, ctx, has_token="token" in config)
        return {
            "data": True,
            "sent": True,
            "channel": body.get("channel"),
            "text": body.get("text"),
            "statusCode": answer.status,
        }

    return HandlerSpec(post, kind=TYPE.kind.value)


async def _filled(ctx: ActivationContext, value: Json) -> str:
    if is_secret(value):
        try:
            return (await ctx.secret(value["secret"])).strip()
        except NotFound as problem:
            raise ActivationError("SLACK_NOT_CONFIGURED", problem.message, details={"remedy": problem.remedy}) from None
    ctx.conceal(value)
    return str(value)


def _check_url(url: str) -> None:
    """Raises ActivationError. What it says does not hold the URL. Which hosts may be called is the business of the
    guard: others than Slack understand the same messages."""
    try:
        read_url(url)
    except ValueError:
        raise ActivationError("SLACK_INVALID", "the webhook is no URL") from None


def _check(answer: Answer, ctx: ActivationContext, *, has_token: bool) -> None:
    # Without secrets before it is cut: the first half of one would not be found any more.
    said = str(ctx.without_secrets(answer.body.decode("utf-8", "replace").strip()))[:500]
    details: dict[str, Any] = {"statusCode": answer.status, "answer": said}
    if answer.status == 200:
        wrong = _refusal(answer.body, ctx) if has_token else None
        if wrong == "ratelimited":
            raise ActivationError("SLACK_UNAVAILABLE", "Slack asks to wait", retryable=True, details=details)
        if wrong is not None:
            raise ActivationError("SLACK_REJECTED", f"Slack refused the message: {wrong}", details=details)
        return
    if answer.status in (408, 429) or answer.status >= 500:
        pause = _pause(answer.header("retry-after"))
        told = f"Slack answered {answer.status}: {said[:200]}"
        raise ActivationError("SLACK_UNAVAILABLE", told, retryable=True, retry_after=pause, details=details)
    raise ActivationError("SLACK_REJECTED", f"Slack answered {answer.status}: {said[:200]}", details=details)


def _refusal(body: bytes, ctx: ActivationContext) -> str | None:
    try:
        said = decode_json(body)
    except Exception:
        return "the answer is no JSON"
    if isinstance(said, dict) and said.get("ok") is True:
        return None
    return str(ctx.without_secrets(said.get("error") if isinstance(said, dict) else said))[:200]


def _pause(text: str | None) -> float | None:
    return min(float(text), LONGEST_PAUSE) if text is not None and text.strip().isdecimal() else None


def _ascii(key: str) -> str:
    """Ids of nodes may be written in any script; headers may not."""
    return key.encode("ascii", "backslashreplace").decode()


def retry(config: SlackConfig) -> Retry:
    return outbox_retry(config.max_retries)


TYPE = NodeType(
    name="slack",
    title="Slack",
    description="Posts a message to Slack. Output: `data` and `sent` (true), `channel`, `text`, `statusCode`.",
    config=SlackConfig,
    kind=NodeKind.EFFECT,
    prepare=prepare,
    plan=plan,
    retry=retry,
    group="Messages",
    icon="message-square",
    examples=({"webhookUrl": {"secret": "SLACK_HOOK"}, "text": "Order {{data.id}} is paid."},),
)
