"""What happens to a mail that the server does not take at once: never lost, never twice to those who have it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from perdure.engine.handlers import ActivationError
from perdure.errors import RunEnded
from perdure.testing.pure import BEGIN, PureRunner
from tests.fixtures.mailserver import MailServer
from tests.fixtures.moments import until
from tests.nodes.mail.letterbox import MAIL, begin, document, failing, office, send

SOON = {"retry": {"attempts": 4, "initial": "5ms", "multiplier": 1}}


class LeapingClock:
    """The time of day, and as much more as somebody says."""

    ahead = 0.0

    def now(self) -> int:
        return time.time_ns() // 1000 + int(self.ahead * 1_000_000)


def attempts(config: dict[str, Any], type: str = "email", **node: Any) -> list[int]:
    """The minutes at which a mail is tried that no server ever takes."""
    found: list[int] = []

    def never(ctx: Any) -> Any:
        found.append((runner.now - BEGIN) // 60_000_000)
        raise ActivationError("MAIL_DEFERRED", "later", retryable=True)

    flow = document({}, **node)
    flow["nodes"][1] |= {"type": type, "config": config}
    runner = PureRunner(flow, handlers={type: never})
    assert runner.run().status == "FAILED"
    return found


def test_the_pauses_double_from_two_minutes_to_an_hour() -> None:
    assert attempts(MAIL) == [0, 2, 6, 14]
    assert attempts({**MAIL, "maxRetries": 0}) == [0]
    gaps = [0, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]
    assert attempts({**MAIL, "maxRetries": 10}) == [sum(gaps[: number + 1]) for number in range(11)]
    assert attempts(MAIL, retry={"attempts": 2, "initial": "1m"}) == [0, 1]
    slack = {"webhookUrl": {"secret": "HOOK"}, "text": "t"}
    assert attempts(slack, "slack") == [0, 2, 6, 14]


async def test_a_greylisted_mail_is_sent_two_minutes_later_by_whoever_is_there(
    mail_server: MailServer, tmp_path: Path
) -> None:
    mail_server.switch(greylist=1)
    clock, url = LeapingClock(), f"sqlite:///{tmp_path / 'perdure.db'}"
    async with office(mail_server, url, clock) as app:
        run = await begin(app, MAIL)
        await until(lambda: mail_server.seen()["attempts"] == 1)
        await until(lambda: _is_asleep(app, run.id))
    clock.ahead = 100.0
    async with office(mail_server, url, clock) as app:
        assert await app.run(run.id).status() == "SLEEPING"
    clock.ahead = 125.0
    async with office(mail_server, url, clock) as app:
        output = await app.run(run.id).result()
    assert output["sent"] is True
    assert mail_server.seen()["mails"] == 1


async def _is_asleep(app: Any, run: str) -> bool:
    return bool(await app.run(run).status() == "SLEEPING")


async def test_an_answer_that_was_lost_means_a_copy_with_the_same_bytes(mail_server: MailServer) -> None:
    mail_server.switch(drop=1)
    async with office(mail_server) as app:
        output = await send(app, {"html": "<b>x</b>", "attachments": [{"filename": "a", "content": "x"}]}, **SOON)
    first, second = mail_server.mails()
    assert first.raw == second.raw
    assert first.message["Message-ID"] == output["messageId"]


async def test_at_most_once_has_no_copy(mail_server: MailServer) -> None:
    mail_server.switch(drop=1)
    async with office(mail_server) as app:
        failure = await failing(app, {}, at_most_once=True, **SOON)
        assert failure["code"] == "OUTCOME_UNKNOWN"
        # what is known not to have happened may be tried again
        mail_server.switch(greylist=2)
        assert (await send(app, {}, at_most_once=True, **SOON))["sent"] is True
    assert mail_server.seen()["mails"] == 2


async def test_those_who_have_it_do_not_get_it_again(mail_server: MailServer) -> None:
    mail_server.switch(defer={"late@example.com": 2, "later@example.com": 3}, refuse=["gone@example.com"])
    to = "ada@example.com, late@example.com, later@example.com, gone@example.com"
    async with office(mail_server) as app:
        output = await send(app, {"to": to}, **SOON)
    assert [mail.recipients for mail in mail_server.mails()] == [
        ["ada@example.com"],
        ["late@example.com"],
        ["later@example.com"],
    ]
    assert len({mail.raw for mail in mail_server.mails()}) == 1
    assert output["accepted"] == ["ada@example.com", "late@example.com", "later@example.com"]
    assert output["refused"] == [{"address": "gone@example.com", "code": 550, "message": "5.1.1 no such user here"}]


async def test_who_is_refused_for_good_is_named(mail_server: MailServer) -> None:
    mail_server.switch(refuse=["gone@example.com", "away@example.com"])
    async with office(mail_server) as app:
        output = await send(app, {"to": "gone@example.com, ada@example.com"}, **SOON)
        assert (output["accepted"], output["refused"][0]["address"]) == (["ada@example.com"], "gone@example.com")
        failure = await failing(app, {"to": "gone@example.com, away@example.com"}, **SOON)
    assert failure["code"] == "MAIL_REJECTED"
    assert failure["message"] == "the server refused gone@example.com and 1 more: 550 5.1.1 no such user here"
    assert [each["address"] for each in failure["details"]["refused"]] == ["gone@example.com", "away@example.com"]
    assert mail_server.seen()["attempts"] == 2


@pytest.mark.parametrize(
    ("answer", "code", "tries"),
    [("554 5.7.1 looks like spam", "MAIL_REJECTED", 1), ("452 4.3.1 no room", "MAIL_DEFERRED", 4)],
)
async def test_what_the_server_says_of_the_whole_mail(
    mail_server: MailServer, answer: str, code: str, tries: int
) -> None:
    mail_server.switch(answer=answer)
    async with office(mail_server) as app:
        failure = await failing(app, {}, **SOON)
    assert (failure["code"], failure["details"]["code"]) == (code, int(answer[:3]))
    assert answer[4:] in failure["message"]
    assert mail_server.seen()["attempts"] == tries


async def test_a_mail_that_was_given_up_is_sent_when_its_run_is_retried(mail_server: MailServer) -> None:
    mail_server.switch(defer={"late@example.com": 2})
    twice = {"retry": {"attempts": 2, "initial": "1ms"}}
    async with office(mail_server) as app:
        run = await begin(app, {**MAIL, "to": "ada@example.com, late@example.com"}, **twice)
        with pytest.raises(RunEnded) as caught:
            await run.result()
        assert caught.value.failure["code"] == "MAIL_DEFERRED"  # type: ignore[index]
        [view] = await app.list_runs(statuses=["FAILED"])
        await app.run(view.id).retry()
        output = await run.result()
    assert output["accepted"] == ["ada@example.com", "late@example.com"]
    assert [mail.recipients for mail in mail_server.mails()] == [["ada@example.com"], ["late@example.com"]]
    assert len({mail.message["Message-ID"] for mail in mail_server.mails()}) == 1


async def test_a_failure_can_be_taken_care_of(mail_server: MailServer) -> None:
    mail_server.switch(refuse=["ada@example.com"])
    flow = document(MAIL)
    flow["nodes"].append({"id": "told", "type": "json", "config": {"data": "${data.error.code}"}})
    flow["edges"].append({"source": "mail", "target": "told", "outcome": "error"})
    async with office(mail_server) as app:
        await app.deploy(flow)
        assert await (await app.start("letter")).result() == {"data": "MAIL_REJECTED"}


async def test_a_slow_server_is_given_up_in_time(mail_server: MailServer) -> None:
    mail_server.switch(hold=True)
    async with office(mail_server, mail_seconds=0.2) as app:
        failure = await failing(app, {"maxRetries": 0})
        assert failure["code"] == "OUTCOME_UNKNOWN"
        mail_server.release()
