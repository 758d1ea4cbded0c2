"""email: sends a mail through an SMTP server.

The mail is rendered when the node is scheduled and recorded with that turn; it is sent after the turn is durable, never
before, and tried again with growing pauses (2, 4, 8 … minutes, at most an hour) while the server cannot be reached or
puts it off. Every attempt sends the same bytes with the same Message-ID, which follows from the activation's key: if a
worker dies after the server has taken the mail and before that is recorded, the mail is sent once more, and whoever
receives it can tell. A node with `at_most_once` fails with OUTCOME_UNKNOWN instead.

Texts are templates, with `${ }` and `{{ }}` or in the syntax of [Go templates](../go-templates.md). In HTML, values are
escaped. Recipients that the server refuses for good are listed in the output; one that takes none fails the node.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, Field, model_validator

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import HandlerSpec
from perdure.expressions import Template
from perdure.expressions.gotemplate import is_go_template
from perdure.model.failures import Failure
from perdure.model.policies import MINUTE, Retry
from perdure.model.values import Json, encode_json
from perdure.nodes.config import NodeConfig, TemplateValue, has_placeholder, template
from perdure.nodes.letters import Letter, LetterText, letter
from perdure.nodes.mail.addresses import Address, parse_address, parse_addresses
from perdure.nodes.mail.message import Attached, Rendered
from perdure.nodes.toolbox import Toolbox
from perdure.programs.flow.fields import LETTER, Kind, Written
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse

LONGEST_SUBJECT = 1_000
MOST_ATTACHMENTS = 50
MOST_HEADERS = 20
LARGEST = 16 * 1024 * 1024
"""Characters of attachments that the record of one mail may hold."""
RETRIES = 3
_HEADER = re.compile(
    r"(?:X-[A-Za-z0-9-]{1,60}|List-[A-Za-z-]{1,40}|In-Reply-To|References|Importance|Priority|Precedence|"
    r"Auto-Submitted|Organization|Feedback-ID)",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]{1,80}/[a-z0-9!#$&^_.+-]{1,80}", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def _is_fixed(value: Any) -> bool:
    return not any(has_placeholder(each) for each in (value if isinstance(value, list) else [value]))


def _addresses(value: Any) -> Any:
    if _is_fixed(value):
        parse_addresses(value)
    return value


def _sender(value: str) -> str:
    if _is_fixed(value) and value:
        parse_address(value)
    return value


def _file(name: str) -> str:
    """Raises ValueError."""
    if not name or name in (".", "..") or len(name) > 255 or re.search(r"[/\\]", name) or _CONTROL.search(name):
        raise ValueError(f"{name[:80]!r} is no name for a file: 1 to 255 characters, no slash, no line break")
    return name


def _headers(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not _HEADER.fullmatch(name):
            raise ValueError(f"the header {name[:80]!r} cannot be given; X-…, List-…, In-Reply-To, References … can")
        if _CONTROL.search(value):
            raise ValueError(f"the header {name!r} has a line break or another control character in it")
    return given


def _variables(raw: dict[str, Any]) -> list[str]:
    for name in ("templateVariables", "template_variables"):
        if isinstance(raw.get(name), dict):
            return list(raw[name])
    return []


def _media(value: str) -> str:
    if not _MEDIA.fullmatch(value):
        raise ValueError(f"{value[:80]!r} is no media type such as text/csv")
    return value


Recipients = Annotated[str | list[str], AfterValidator(_addresses), LETTER]
WithVariables = Annotated[str, Written(Kind.LETTER, names=_variables), Field(max_length=1024 * 1024)]
FileName = Annotated[str, AfterValidator(lambda name: name if has_placeholder(name) else _file(name)), LETTER]


class Attachment(NodeConfig):
    filename: FileName = Field(title="File name", description="What the file is called.", examples=["report.csv"])
    content: TemplateValue = Field(
        None,
        title="Content",
        description="Text as it is; any other value as JSON.",
        examples=["${nodes.csv.output.csv}"],
    )
    from_input: bool = Field(
        False,
        validation_alias=AliasChoices("contentFromPreviousNode", "from_input"),
        title="What the node was given",
        description="The text in it (`csv`, `data`) if there is one, else its `data` as JSON.",
    )
    blob: TemplateValue = Field(
        None,
        title="Large value",
        description="The hash of a large value, or an object with its `hash`, as nodes give it.",
        examples=["${data.data}"],
    )
    content_type: Annotated[str, AfterValidator(_media)] | None = Field(
        None,
        validation_alias=AliasChoices("contentType", "content_type"),
        title="Media type",
        description="Without it, what the file name says.",
        examples=["text/csv"],
    )
    encoding: Literal["text", "base64"] = Field(
        "text", title="Encoding", description="`base64`: the content is the bytes of the file in base64."
    )

    @model_validator(mode="after")
    def _one_content(self) -> Attachment:
        given = [name for name in ("content", "blob") if name in self.model_fields_set] + ["input"] * self.from_input
        if len(given) != 1:
            raise ValueError("give exactly one of content, contentFromPreviousNode and blob")
        return self


class EmailConfig(NodeConfig):
    to: Recipients = Field(
        title="To",
        description="Addresses with commas between them, or a list.",
        examples=["ada@example.com, Bob <bob@example.com>", ["{{data.email}}"]],
    )
    cc: Recipients = Field(
        "", title="Copy to", description="Everybody sees who gets a copy.", examples=["team@example.com"]
    )
    bcc: Recipients = Field("", title="Blind copy to", description="Nobody else sees these.")
    sender: Annotated[str, AfterValidator(_sender), LETTER] = Field(
        "",
        validation_alias=AliasChoices("from", "sender"),
        title="From",
        description="Without it, the setting `mail_from`.",
        examples=["Orders <orders@example.com>"],
    )
    reply_to: Recipients = Field(
        "", validation_alias=AliasChoices("replyTo", "reply_to"), title="Reply to", description="Where answers go."
    )
    subject: LetterText = Field(title="Subject", description="One line.", examples=["Order {{data.id}}"])
    body: LetterText | None = Field(
        None, title="Body", description="The text of the mail; HTML if `isHtml` or `contentType` says so."
    )
    html: LetterText | None = Field(
        None, title="HTML", description="The mail as HTML. Without a `body`, a text is made from it."
    )
    is_html: bool = Field(
        False, validation_alias=AliasChoices("isHtml", "is_html"), title="Is HTML", description="`body` is HTML."
    )
    content_type: Literal["text/plain", "text/html"] | None = Field(
        None,
        validation_alias=AliasChoices("contentType", "content_type"),
        title="Type of the body",
        description="`text/html` means the same as `isHtml`.",
    )
    template: WithVariables | None = Field(
        None,
        title="Template",
        description="In the place of `body`: a text that also reads the `templateVariables`, by their names.",
        examples=["Dear {{data.name}}"],
    )
    template_variables: TemplateValue = Field(
        default_factory=dict,
        validation_alias=AliasChoices("templateVariables", "template_variables"),
        title="Variables of the template",
        description="Names that the template reads besides those of the data.",
        examples=[{"name": "${data.customer}"}],
    )
    attachments: list[Attachment] = Field(
        default_factory=list, max_length=MOST_ATTACHMENTS, title="Attachments", description="Files that are sent along."
    )
    headers: Annotated[dict[str, str], AfterValidator(_headers), LETTER] = Field(
        default_factory=dict,
        max_length=MOST_HEADERS,
        title="Headers",
        description="Further ones: X-…, List-…, In-Reply-To, References, Importance, Priority, Precedence, "
        "Auto-Submitted, Organization, Feedback-ID.",
        examples=[{"X-Campaign": "{{data.campaign}}"}],
    )
    provider: str = Field(
        "",
        max_length=64,
        title="Provider",
        description="resend, mailgun, ses or smtp, as the settings have them. For one that they have not, `smtp_url`.",
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
    def _some_body(self) -> EmailConfig:
        if self.template is not None and self.body is not None:
            raise ValueError("give either body or template")
        if not isinstance(self.template_variables, dict) and not has_placeholder(self.template_variables):
            raise ValueError("templateVariables are an object, by name")
        return self


# -- rendering ---------------------------------------------------------------------------------------------------------


class PreparedAttachment(msgspec.Struct, frozen=True):
    filename: Letter
    content: Template | None
    blob: Template | None
    config: Attachment


class Prepared(msgspec.Struct, frozen=True):
    addresses: dict[str, Letter | Template]
    subject: Letter
    text: Letter | None
    html: Letter | None
    variables: Template
    attachments: list[PreparedAttachment]
    headers: dict[str, Letter]
    provider: str


def prepare(config: EmailConfig) -> Prepared:
    body, html = config.body if config.template is None else config.template, config.html
    if config.is_html or config.content_type == "text/html":
        body, html = (None, body) if html is None else (None, html)
    addresses = {"to": config.to, "cc": config.cc, "bcc": config.bcc}
    addresses |= {"sender": config.sender, "reply_to": config.reply_to}
    return Prepared(
        {name: _dynamic(given) for name, given in addresses.items() if given},
        letter(config.subject),
        letter(body) if body is not None else None,
        letter(html, "html") if html is not None else None,
        template(config.template_variables),
        [_attachment(each) for each in config.attachments],
        {name: letter(value) for name, value in config.headers.items()},
        config.provider,
    )


def _dynamic(given: str | list[str]) -> Letter | Template:
    """A placeholder that stands alone may give a list; Go templates only write text."""
    return letter(given) if isinstance(given, str) and is_go_template(given) else template(given)


def _attachment(config: Attachment) -> PreparedAttachment:
    content = template(config.content) if "content" in config.model_fields_set else None
    blob = template(config.blob) if "blob" in config.model_fields_set else None
    return PreparedAttachment(letter(config.filename), content, blob, config)


class _Unfit(ValueError):
    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


def plan(prepared: Prepared, moment: Plan) -> Directive:
    try:
        mail = _rendered(prepared, moment)
    except _Unfit as problem:
        return Refuse(Failure("MAIL_INVALID", f"`{problem.field}`: {problem}", details={"field": problem.field}))
    return Execute(msgspec.to_builtins(mail))


def _rendered(prepared: Prepared, moment: Plan) -> Rendered:
    variables = moment.resolve(prepared.variables)
    if not isinstance(variables, dict):
        raise _Unfit("templateVariables", "they are an object, by name")
    found = {name: _read(name, given, moment) for name, given in prepared.addresses.items()}
    if not found.get("to"):
        raise _Unfit("to", "nobody is named")
    senders = found.pop("sender", [])
    if len(senders) > 1:
        raise _Unfit("from", "a mail has one sender")
    subject = _CONTROL.sub(" ", prepared.subject.render(moment, variables)).strip()
    if len(subject) > LONGEST_SUBJECT:
        raise _Unfit("subject", f"{len(subject)} characters, of at most {LONGEST_SUBJECT}")
    attachments = [_attached(each, moment) for each in prepared.attachments]
    if sum(len(each.text or each.base64 or "") for each in attachments) > LARGEST:
        told = f"more than {LARGEST} characters would be recorded; give large ones as `blob` or from the input"
        raise _Unfit("attachments", told)
    return Rendered(
        subject=subject,
        date=moment.now,
        sender=senders[0] if senders else None,
        text=prepared.text.render(moment, variables) if prepared.text is not None else None,
        html=prepared.html.render(moment, variables) if prepared.html is not None else None,
        attachments=attachments,
        headers=_header_values(prepared, moment),
        provider=prepared.provider,
        **found,
    )


def _read(name: str, given: Letter | Template, moment: Plan) -> list[Address]:
    value = given.render(moment) if isinstance(given, Letter) else moment.resolve(given)
    try:
        return parse_addresses(value)
    except ValueError as problem:
        raise _Unfit("from" if name == "sender" else name, str(problem)) from None


def _attached(prepared: PreparedAttachment, moment: Plan) -> Attached:
    config = prepared.config
    try:
        name = _file(prepared.filename.render(moment))
    except ValueError as problem:
        raise _Unfit("attachments", str(problem)) from None
    if config.from_input:
        inner = moment.input.get("data") if isinstance(moment.input, dict) else None
        hash = _hash(inner)
        return Attached(name, config.content_type, blob=hash, from_input=hash is None)
    if prepared.blob is not None:
        given = moment.resolve(prepared.blob)
        hash = given if isinstance(given, str) else _hash(given)
        if hash is None:
            raise _Unfit("attachments", f"{name!r}: there is no large value")
        return Attached(name, config.content_type, blob=hash)
    content = moment.resolve(prepared.content)
    if config.encoding == "base64":
        if not isinstance(content, str):
            raise _Unfit("attachments", f"{name!r}: base64 is text")
        return Attached(name, config.content_type, base64=content)
    if isinstance(content, str):
        return Attached(name, config.content_type, text=content)
    packed = encode_json(content)
    moment.spend(len(packed) >> 2)
    return Attached(name, config.content_type, text=msgspec.json.format(packed, indent=2).decode())


def _hash(value: Json) -> str | None:
    found = value.get("hash") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _header_values(prepared: Prepared, moment: Plan) -> dict[str, str]:
    found = {name: value.render(moment) for name, value in prepared.headers.items()}
    try:
        return _headers(found)
    except ValueError as problem:
        raise _Unfit("headers", str(problem)) from None


def retry(config: EmailConfig) -> Retry:
    return outbox_retry(config.max_retries)


def outbox_retry(retries: int) -> Retry:
    """After 2, 4, 8 … minutes, at most an hour."""
    return Retry(retries + 1, 2 * MINUTE, 2.0, 60 * MINUTE)


def handler(tools: Toolbox) -> HandlerSpec:
    async def send(ctx: ActivationContext) -> Json:
        from perdure.nodes.mail.posting import post  # brings much along that most processes never need

        return await post(tools.mail, ctx)

    return HandlerSpec(send, kind=TYPE.kind.value)


TYPE = NodeType(
    name="email",
    title="E-mail",
    description="Sends a mail. Output: `data` and `sent` (true), `messageId`, `accepted`, `refused`, `provider`.",
    config=EmailConfig,
    kind=NodeKind.EFFECT,
    prepare=prepare,
    plan=plan,
    retry=retry,
    aside=frozenset({"date"}),
    group="Messages",
    icon="mail",
    examples=({"to": "{{data.email}}", "subject": "Order {{data.id}}", "body": "Thank you, {{data.name}}."},),
)
