"""Mails, from the document to a real SMTP server in another process. Row C13."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
from email.header import decode_header, make_header
from email.parser import BytesParser
from email.policy import compat32
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import RunEnded
from perdure.model import events as e
from tests.fixtures.mailserver import PASSWORD, USER, MailServer, make_certificate, running_mail_server
from tests.fixtures.moments import until
from tests.nodes.mail.letterbox import MAIL, begin, document, failing, office, send

ONCE = {"maxRetries": 0}


async def test_c13_a_sink_receives_rendered_subject_body_and_attachment_once(mail_server: MailServer) -> None:
    config = {
        "to": "{{data.customer.email}}",
        "cc": ["Team <team@example.com>"],
        "bcc": "audit@example.com",
        "subject": "Order {{data.id}} – ${data.total * 2} €",
        "body": "Dear {{data.customer.name}},\n\nyour items: {{data.items}}\n",
        "attachments": [{"filename": "items.csv", "content": "name\n${data.items[0]}\n"}],
    }
    input = {"id": 7, "total": 21, "customer": {"name": "Zoë", "email": "zoe@example.com"}, "items": ["Desk"]}
    async with office(mail_server) as app:
        output = await send(app, config, input)
        [mail] = mail_server.mails()
    assert mail.sender == "robot@example.com"
    assert mail.recipients == ["zoe@example.com", "team@example.com", "audit@example.com"]
    message = mail.message
    assert message["Subject"] == "Order 7 – 42 €"
    assert message["From"] == "Perdure <robot@example.com>"
    assert message["To"] == "zoe@example.com"
    assert message["Cc"] == "Team <team@example.com>"
    assert message["Bcc"] is None
    assert b"audit" not in mail.raw
    assert mail.text == 'Dear Zoë,\n\nyour items: [\n  "Desk"\n]\n'
    [attachment] = message.iter_attachments()
    assert (attachment.get_filename(), attachment.get_content_type()) == ("items.csv", "text/csv")
    assert attachment.get_content() == "name\nDesk\n"
    assert output == {
        "data": True,
        "sent": True,
        "messageId": message["Message-ID"],
        "accepted": mail.recipients,
        "refused": [],
        "provider": "smtp",
    }
    assert re.fullmatch(r"<[0-9a-f]{40}@example\.com>", output["messageId"])


async def test_the_same_mail_is_sent_once_while_its_answer_is_kept(mail_server: MailServer) -> None:
    """The date of a mail is no part of what is asked."""
    flow = document({**MAIL, "to": "{{input.to}}"}, cache={"ttl": "1h"})
    async with office(mail_server) as app:
        await app.deploy(flow)
        first, second, other = [
            await (await app.start("letter", {"to": to})).result()
            for to in ("a@example.com", "a@example.com", "b@example.com")
        ]
        assert len(mail_server.mails()) == 2
    assert first == second
    assert first != other


async def test_the_mail_is_recorded_before_it_is_sent(mail_server: MailServer) -> None:
    async with office(mail_server) as app:
        run = await begin(app, {**MAIL, "subject": "For ${input.name}"}, {"name": "Ada"})
        await run.result()
        [scheduled] = [each.event for each in await run.history() if isinstance(each.event, e.ActivationScheduled)]
    assert scheduled.config["subject"] == "For Ada"
    assert scheduled.config["to"] == [["", "ada@example.com"]]


async def test_html_has_a_text_beside_it_and_values_in_it_are_escaped(mail_server: MailServer) -> None:
    html = '<h1>Hi {{data.name}}</h1><p>See <a href="https://example.com/x">this</a><br>now</p><script>no()</script>'
    async with office(mail_server) as app:
        await send(app, {"body": html, "isHtml": True}, {"name": "<b>Ada & co"})
        await send(app, {"body": html, "contentType": "text/html"}, {"name": "Ada"})
        await send(app, {"html": html, "body": "Hi <{{data.name}}>"}, {"name": "Ada"})
        first, second, third = mail_server.mails()
    assert first.message.get_content_type() == "multipart/alternative"
    assert "<h1>Hi &lt;b&gt;Ada &amp; co</h1>" in first.html
    assert first.text == "Hi <b>Ada & co\n\nSee this (https://example.com/x)\nnow\n"
    assert "<h1>Hi Ada</h1>" in second.html
    assert third.text == "Hi <Ada>\n"


async def test_a_go_template_sees_what_the_node_was_given(mail_server: MailServer) -> None:
    body = "{{range $i, $o := .orders}}{{add $i 1}}. {{$o.name | upper}}\n{{end}}{{len .orders}} in all, {{.input.by}}"
    async with office(mail_server) as app:
        await send(
            app, {"body": body, "subject": "{{.by}}"}, {"orders": [{"name": "Desk"}, {"name": "Lamp"}], "by": "Ada"}
        )
        [mail] = mail_server.mails()
    assert mail.text == "1. DESK\n2. LAMP\n2 in all, Ada\n"
    assert mail.message["Subject"] == "Ada"


async def test_a_template_reads_its_own_variables(mail_server: MailServer) -> None:
    config = {
        "template": "Dear {{name}}, {{{raw}}} {{input.x}}",
        "templateVariables": {"name": "${input.who}", "raw": "<b>"},
        "isHtml": True,
    }
    async with office(mail_server) as app:
        await app.deploy(document({"to": "a@b.c", "subject": "s", **config}))
        await (await app.start("letter", {"who": "<Ada>", "x": 1})).result()
        [mail] = mail_server.mails()
    assert mail.html == "Dear &lt;Ada&gt;, <b> 1\n"


async def test_names_and_texts_in_every_script(mail_server: MailServer) -> None:
    subject = "Grüße aus 東京 🎉 " + "ä" * 200
    lines = [".", "..", ".hidden", "x" * 2000, "Ünïcode " * 50, "", "From here", "last"]
    config = {
        "to": ["Jürgen Groß <jg@example.com>", '"Lovelace, Ada" <ada@example.com>', "山田 太郎 <taro@example.com>"],
        "from": "Bücher GmbH <shop@bücher.example>",
        "replyTo": "hilfe@bücher.example",
        "subject": subject,
        "body": "\n".join(lines) + "\n",
        "attachments": [{"filename": "Übersicht 2026 – München.txt", "content": "ä\r\n.\r\n"}],
    }
    async with office(mail_server) as app:
        await send(app, config)
        [mail] = mail_server.mails()
    message = mail.message
    assert mail.raw.isascii()
    assert max(len(line) for line in mail.raw.split(b"\r\n")) <= 998
    assert message["Subject"] == subject
    assert [(each.display_name, each.addr_spec) for each in message["To"].addresses] == [
        ("Jürgen Groß", "jg@example.com"),
        ("Lovelace, Ada", "ada@example.com"),
        ("山田 太郎", "taro@example.com"),
    ]
    assert message["From"].addresses[0].addr_spec == "shop@xn--bcher-kva.example"
    assert message["Reply-To"] == "hilfe@xn--bcher-kva.example"
    assert message["Message-ID"].endswith("@xn--bcher-kva.example>")
    assert mail.text.split("\n")[: len(lines)] == lines
    [attachment] = message.iter_attachments()
    assert attachment.get_filename() == "Übersicht 2026 – München.txt"
    assert attachment.get_payload(decode=True) == b"\xc3\xa4\r\n.\r\n"


async def test_ascii_with_dots_and_long_lines_arrives_as_it_was(mail_server: MailServer) -> None:
    body = ".\n..\n.x\n" + "y" * 899 + "\n" + "z" * 5000 + "\n"
    async with office(mail_server) as app:
        await send(app, {"body": body})
        [mail] = mail_server.mails()
    assert mail.text == body
    assert max(len(line) for line in mail.raw.split(b"\r\n")) <= 998


async def test_a_mailbox_in_another_script_needs_a_server_that_takes_it(mail_server: MailServer) -> None:
    async with office(mail_server) as app:
        await send(app, {"to": "用户@例え.テスト"})
        [mail] = mail_server.mails()
    assert mail.recipients == ["用户@xn--r8jz45g.xn--zckzah"]
    assert "To: 用户@xn--r8jz45g.xn--zckzah\r\n".encode() in mail.raw


async def test_empty_copies_and_fifty_recipients(mail_server: MailServer) -> None:
    many = [f"Reader Number {i} <reader-{i}@example.com>" for i in range(50)]
    async with office(mail_server) as app:
        output = await send(app, {"to": "${input.all}", "cc": "", "bcc": [], "body": ""}, {"all": many})
        [mail] = mail_server.mails()
    assert len(mail.recipients) == len(output["accepted"]) == 50
    assert [each.display_name for each in mail.message["To"].addresses] == [f"Reader Number {i}" for i in range(50)]
    assert mail.message["Cc"] is None
    assert mail.text == "\n"


async def test_attachments_of_every_kind(mail_server: MailServer) -> None:
    picture = bytes(range(256)) * 10
    attachments = [
        {"filename": "a.png", "content": base64.b64encode(picture).decode(), "encoding": "base64"},
        {"filename": "b.json", "content": {"x": ["${input.n}"]}},
        {"filename": "c.bin", "content": "${input.text}", "contentType": "application/x-thing"},
        {"filename": "{{input.name}}.txt", "contentFromPreviousNode": True},
    ]
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "csv", "type": "json_to_csv", "config": {"data": [{"a": 1}]}},
        {"id": "mail", "type": "email", "config": {**MAIL, "attachments": attachments}},
    ]
    edges = [{"source": "start", "target": "csv"}, {"source": "csv", "target": "mail"}]
    async with office(mail_server) as app:
        await app.deploy({"id": "f", "nodes": nodes, "edges": edges})
        await (await app.start("f", {"n": 5, "text": "ü", "name": "rows"})).result()
        [mail] = mail_server.mails()
    found = {each.get_filename(): each for each in mail.message.iter_attachments()}
    assert list(found) == ["a.png", "b.json", "c.bin", "rows.txt"]
    assert found["a.png"].get_payload(decode=True) == picture
    assert found["a.png"].get_content_type() == "image/png"
    assert found["b.json"].get_payload(decode=True) == b'{\n  "x": [\n    5\n  ]\n}'
    assert found["c.bin"].get_payload(decode=True) == "ü".encode()
    assert found["rows.txt"].get_payload(decode=True).split() == [b"a", b"1"]


async def test_a_large_value_from_the_store_of_blobs(mail_server: MailServer) -> None:
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "csv", "type": "json_to_csv", "config": {"data": "${input}", "outputFormat": "blob"}},
        {
            "id": "mail",
            "type": "email",
            "config": {
                **MAIL,
                "attachments": [
                    {"filename": "a.csv", "contentFromPreviousNode": True},
                    {"filename": "b.csv", "blob": "${data.data}"},
                    {"filename": "c.csv", "blob": "${data.data.hash}"},
                ],
            },
        },
    ]
    edges = [{"source": "start", "target": "csv"}, {"source": "csv", "target": "mail"}]
    async with office(mail_server) as app:
        await app.deploy({"id": "f", "nodes": nodes, "edges": edges})
        await (await app.start("f", [{"n": n} for n in range(1000)])).result()
        [mail] = mail_server.mails()
    contents = [each.get_payload(decode=True) for each in mail.message.iter_attachments()]
    assert [len(each.split()) for each in contents] == [1001] * 3


async def test_an_attachment_of_five_megabytes(mail_server: MailServer) -> None:
    content = base64.b64encode(bytes(5_000_000)).decode()
    attachments = [{"filename": "zeros.bin", "content": "${input.file}", "encoding": "base64"}]
    async with office(mail_server) as app:
        await send(app, {"attachments": attachments}, {"file": content})
        [mail] = mail_server.mails()
    [attachment] = mail.message.iter_attachments()
    assert attachment.get_payload(decode=True) == bytes(5_000_000)


async def test_a_mail_that_is_too_large_is_not_sent(mail_server: MailServer) -> None:
    async with office(mail_server, mail_bytes=10_000) as app:
        failure = await failing(app, {"body": "x" * 20_000})
        assert failure["code"] == "MAIL_INVALID"
        assert "of at most 10000" in failure["message"]
        attached = [{"filename": "x", "content": "x" * 20_000}]
        assert (await failing(app, {"attachments": attached}))["code"] == "MAIL_INVALID"
    assert mail_server.seen()["attempts"] == 0


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"to": "{{input.bad}}"}, "to"),
        ({"to": ["a@b.c", "${input.bad}"]}, "to"),
        ({"cc": "{{input.bad}}"}, "cc"),
        ({"from": "{{input.bad}}"}, "from"),
        ({"from": "${input.two}"}, "from"),
        ({"replyTo": "{{input.bad}}"}, "reply_to"),
        ({"headers": {"X-A": "{{input.bad}}"}}, "headers"),
        ({"attachments": [{"filename": "{{input.bad}}", "content": "x"}]}, "attachments"),
        ({"attachments": [{"filename": "../${input.two}", "content": "x"}]}, "attachments"),
        ({"attachments": [{"filename": "x", "blob": "${input.two}"}]}, "attachments"),
        ({"attachments": [{"filename": f"{i}", "content": "${input.file}"} for i in range(9)]}, "attachments"),
        ({"to": "${input.none}"}, "to"),
        ({"subject": "${input.long}"}, "subject"),
        ({"templateVariables": "${input.two}"}, "templateVariables"),
    ],
)
async def test_what_is_computed_wrongly_is_refused_and_nothing_is_sent(
    mail_server: MailServer, config: dict[str, Any], field: str
) -> None:
    input: dict[str, Any] = {
        "bad": "a@b.c\r\nBcc: eve@example.com",
        "two": ["a@b.c", "d@e.f"],
        "none": [],
        "long": "x" * 1001,
    }
    input["file"] = "x" * 2_000_000
    async with office(mail_server) as app:
        failure = await failing(app, config, input)
    assert (failure["code"], failure["details"]["field"]) == ("MAIL_INVALID", field)
    assert mail_server.seen()["attempts"] == 0


async def test_a_line_break_in_a_subject_is_a_blank(mail_server: MailServer) -> None:
    async with office(mail_server) as app:
        await send(app, {"subject": "A\r\nBcc: eve@example.com\n{{input.x}}"}, {"x": "\u2028B"})
        [mail] = mail_server.mails()
    assert mail.message["Subject"] == "A Bcc: eve@example.com B"
    assert mail.message["Bcc"] is None


SMUGGLED = [
    "=?utf-8?q?a=0D=0ABcc:_eve@example.com?=",
    "=?utf-8?q?a=0ABcc:_eve@example.com?=",
    "=?utf-8?b?YQ0KQmNjOiBldmVAZXhhbXBsZS5jb20=?=",
    "x" * 70 + " =?utf-8?q?a=0D=0ABcc:_eve@example.com?= " + "ä" * 60,
    "=?bogus?q?x?=",
    "=?utf-8?q?" + "=41" * 300 + "?=",
    "x" * 990,
    'a"b\\c;d, e <f@g.h>',
]


@pytest.mark.parametrize("text", SMUGGLED)
async def test_what_looks_like_an_encoded_word_is_text_like_any_other(mail_server: MailServer, text: str) -> None:
    """The standard library decodes it when it is set, line breaks included."""
    name = "".join(each for each in text if each not in '"\\<>')
    config = {
        "to": '"{{input.name}}" <ada@example.com>',
        "subject": "{{input.text}}",
        "headers": {"X-A": "{{input.text}}", "References": "{{input.text}}"},
        "attachments": [{"filename": "{{input.file}}", "content": "x"}],
    }
    async with office(mail_server) as app:
        await send(app, config, {"text": text, "name": name, "file": text.replace("\\", "")[:250]})
    [mail] = mail_server.mails()
    lines = mail.raw.split(b"\r\n")
    assert not [line for line in lines if line.lower().startswith(b"bcc")]
    assert b"\n" not in b"".join(lines)
    assert max(len(line) for line in lines) <= 998
    headers = BytesParser(policy=compat32).parsebytes(mail.raw)
    assert len(headers.keys()) == 10
    assert str(make_header(decode_header(str(headers["Subject"]).replace("\r\n ", " ")))) == text
    assert mail.recipients == ["ada@example.com"]
    [attachment] = mail.message.iter_attachments()
    if "=?" not in text:
        assert attachment.get_filename() == text.replace("\\", "")[:250]


async def test_a_text_cannot_end_its_part(mail_server: MailServer) -> None:
    async with office(mail_server) as app:
        await send(app, {"html": "<b>one</b>", "body": "x"})
        boundary = mail_server.mails()[0].message.get_boundary()
        await send(app, {"html": "<b>two</b>", "body": f"x\n--{boundary}--\n--{boundary}\n"})
    second = mail_server.mails()[1]
    assert second.text == f"x\n--{boundary}--\n--{boundary}\n"
    assert second.html == "<b>two</b>\n"


async def test_further_headers(mail_server: MailServer) -> None:
    headers = {"X-Campaign": "{{input.name}}", "References": "<a@b.c>", "List-Unsubscribe": "<https://example.com/u>"}
    async with office(mail_server) as app:
        await send(app, {"headers": headers}, {"name": "frühling"})
        [mail] = mail_server.mails()
    assert [mail.message[name] for name in headers] == ["frühling", "<a@b.c>", "<https://example.com/u>"]
    assert mail.message["Auto-Submitted"] == "auto-generated"


# -- servers -----------------------------------------------------------------------------------------------------------


async def test_tls_and_login(tls_mail_server: MailServer) -> None:
    async with office(tls_mail_server) as app:
        await send(app, {})
    [mail] = tls_mail_server.mails()
    assert (mail.tls, mail.login) == (True, USER)


async def test_tls_from_the_first_byte(tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    with running_mail_server(cert=cert, key=key, implicit=True) as server:
        async with office(server) as app:
            await send(app, {})
        [mail] = server.mails()
    assert (mail.tls, mail.login) == (True, USER)


async def test_a_certificate_that_nobody_trusts(tls_mail_server: MailServer) -> None:
    untrusted = tls_mail_server.url.partition("&cafile=")[0]
    async with office(None, smtp_url=untrusted) as app:
        failure = await failing(app, ONCE)
        assert failure["code"] == "MAIL_UNREACHABLE"
        assert "certificate" in failure["message"].lower()
    async with office(None, smtp_url=untrusted + "&verify=no") as app:
        assert (await send(app, {}))["sent"] is True


async def test_a_wrong_password(tls_mail_server: MailServer) -> None:
    async with office(tls_mail_server, smtp_url=tls_mail_server.url.replace("smtp-password", "other")) as app:
        assert (await failing(app, {}))["code"] == "NOT_FOUND"
        app.secrets._given["other"] = "guess"  # type: ignore[attr-defined]
        failure = await failing(app, {})
    assert (failure["code"], failure["details"]["code"]) == ("MAIL_REJECTED", 535)
    assert "guess" not in str(failure)


async def test_a_password_that_the_server_repeats_is_not_kept(tls_mail_server: MailServer) -> None:
    """Neither if all recipients are refused nor if only some are, which is no failure."""
    encoded = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).decode()
    tls_mail_server.switch(refuse=["bad@example.com"], added=f": {PASSWORD} {encoded}")
    async with office(tls_mail_server) as app:
        for to in (["ada@example.com", "bad@example.com"], ["bad@example.com"]):
            run = await begin(app, {**MAIL, "to": to})
            with contextlib.suppress(RunEnded):
                await run.result()
            history = repr(await run.history())
            assert "no such user here: [secret]" in history
            assert PASSWORD not in history
            assert encoded[8:] not in history


async def test_where_an_answer_is_cut_no_half_of_a_password_is_left(tls_mail_server: MailServer) -> None:
    async with office(tls_mail_server) as app:
        for length in (490, 1965):
            tls_mail_server.switch(answer=f"554 {'x' * length}{PASSWORD}{'y' * 100}")
            failure = await failing(app, {})
            assert failure["code"] == "MAIL_REJECTED"
            assert PASSWORD[:6] not in str(failure)


async def test_a_password_is_not_sent_to_a_server_without_tls(mail_server: MailServer) -> None:
    async with office(None, smtp_url=f"smtp://robot@127.0.0.1:{mail_server.port}?tls=starttls") as app:
        app.secrets._given["smtp-password"] = "x"  # type: ignore[attr-defined]
        failure = await failing(app, ONCE)
    assert failure["code"] == "MAIL_UNREACHABLE"
    assert mail_server.seen()["attempts"] == 0


async def test_without_a_server_or_a_sender_nothing_is_sent() -> None:
    async with office(None) as app:
        failure = await failing(app, {})
        assert failure["code"] == "MAIL_NOT_CONFIGURED"
        assert "smtp_url" in failure["details"]["remedy"]
        failure = await failing(app, {"provider": "ses"})
        assert (failure["code"], "'ses'" in failure["message"]) == ("MAIL_NOT_CONFIGURED", True)
    async with office(None, smtp_url="smtp://127.0.0.1:9?tls=none", mail_from="") as app:
        failure = await failing(app, {})
        assert (failure["code"], "mail_from" in failure["details"]["remedy"]) == ("MAIL_NOT_CONFIGURED", True)


async def test_a_server_that_is_not_there() -> None:
    async with office(None, smtp_url="smtp://127.0.0.1:9?tls=none") as app:
        assert (await failing(app, ONCE))["code"] == "MAIL_UNREACHABLE"


async def test_each_provider_has_its_server_and_the_others_the_default(
    mail_server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with office(None, smtp_url=mail_server.url, smtp_url_ses="smtp://127.0.0.1:9?tls=none") as app:
        assert (await failing(app, {"provider": "ses", **ONCE}))["code"] == "MAIL_UNREACHABLE"
        assert not caplog.records
        assert (await send(app, {"provider": "resend"}))["provider"] == "smtp"
        assert "the mail provider 'resend' is not configured" in caplog.text
        assert (await send(app, {"provider": "smtp"}))["provider"] == "smtp"
    assert mail_server.seen()["mails"] == 2


async def test_the_domain_of_message_ids_can_be_set(mail_server: MailServer) -> None:
    async with office(mail_server, mail_domain="mail.example.org") as app:
        assert (await send(app, {}))["messageId"].endswith("@mail.example.org>")


# -- connections -------------------------------------------------------------------------------------------------------


async def test_a_thousand_mails_through_two_connections(mail_server: MailServer) -> None:
    loop = {"id": "each", "type": "loop", "config": {"range": {"stop": 1000}, "concurrency": 50}}
    mail = {"id": "mail", "type": "email", "parent": "each", "config": {**MAIL, "subject": "No ${index}"}}
    nodes = [{"id": "start", "type": "start"}, loop, mail]
    async with office(mail_server) as app:
        await app.deploy({"id": "many", "nodes": nodes, "edges": [{"source": "start", "target": "each"}]})
        await (await app.start("many")).result()
    seen = mail_server.seen()
    assert (seen["mails"], seen["connections"]) == (1000, 2)
    mails = mail_server.mails()
    assert len({each.message["Message-ID"] for each in mails}) == 1000
    assert {each.message["Subject"] for each in mails} == {f"No {number}" for number in range(1000)}


async def test_a_connection_that_the_server_has_closed_is_replaced(mail_server: MailServer) -> None:
    async with office(mail_server) as app:
        await send(app, {})
        mail_server.switch(hang_up=True)
        await send(app, {}, **ONCE_NODE)
    assert mail_server.seen() == {"mails": 2, "connections": 2, "attempts": 2}


ONCE_NODE = {"retry": {"attempts": 1}}


async def test_a_run_that_is_cancelled_while_it_sends_leaves_no_broken_connection(mail_server: MailServer) -> None:
    async with office(mail_server, mail_connections=1) as app:
        mail_server.switch(hold=True)
        run = await begin(app, MAIL)
        await until(lambda: mail_server.seen()["mails"] == 1)
        await run.cancel()
        mail_server.switch(hold=False)
        async with asyncio.timeout(20):
            await send(app, {})
        mail_server.release()
    assert mail_server.seen()["connections"] == 2
