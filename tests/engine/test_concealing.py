"""What an attempt has read as a secret is in nothing that it reports."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import ActivationContext, ActivationError, Perdure, Result
from perdure.engine.concealing import CONCEALED, SHORTEST, Concealed
from perdure.errors import InvalidInput, RunEnded
from perdure.model.waits import Ask, AwaitSignal, Sleep, Wait

SECRET = 'pässword+"/?&<7'


def hidden(*secrets: str) -> Concealed:
    concealed = Concealed()
    for secret in secrets:
        concealed.add(secret)
    return concealed


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        SECRET.upper(),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(SECRET).replace("/", "\\/"),
        json.dumps(SECRET, ensure_ascii=False).replace("/", "\\/"),
        quote(SECRET),
        quote(SECRET, safe="").lower(),
        quote_plus(SECRET),
        html.escape(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"use:{SECRET}!".encode()).decode(),
        base64.urlsafe_b64encode(f"me:{SECRET}".encode()).decode(),
    ],
)
def test_the_forms_in_which_a_secret_travels(form: str) -> None:
    found = hidden(SECRET).text(f"before {form} after")
    assert CONCEALED in found
    assert found.startswith("before ")
    assert found.endswith(" after")
    assert form not in found


@given(
    st.text(min_size=SHORTEST, max_size=40).filter(lambda text: text.isprintable()), st.binary(max_size=9), st.binary()
)
def test_no_neighbour_hides_it_in_base64(secret: str, before: bytes, after: bytes) -> None:
    encoded = base64.b64encode(before + secret.encode() + after).decode()
    assert hidden(secret).text(encoded) != encoded


def test_values_are_searched_to_their_leaves() -> None:
    value = {"a": [{SECRET: 1}, f"x{SECRET}y", 12345678, None, True, 1.5]}
    assert hidden(SECRET, "12345678").value(value) == {
        "a": [{CONCEALED: 1}, f"x{CONCEALED}y", CONCEALED, None, True, 1.5]
    }


def test_short_ones_are_left_alone() -> None:
    """They would be found everywhere, and tell more by being cut out."""
    assert hidden("abcde").text("abcdef") == "abcdef"


def test_long_texts_are_searched_as_well() -> None:
    for form in (SECRET, SECRET.upper(), base64.b64encode(f"user:{SECRET}".encode()).decode()):
        assert CONCEALED in hidden(SECRET).text("x" * 5000 + form + "y" * 5000)


@pytest.mark.parametrize("around", [" {}", "{}\n", "\t{} \r\n"])
def test_white_space_around_a_secret_may_be_lost_on_its_way(around: str) -> None:
    secret = around.format("canary-7x")
    for sent in (secret, "canary-7x", base64.b64encode(b"user:canary-7x").decode()):
        found = hidden(secret).text(f"<{sent}>")
        assert "canary" not in found
        assert CONCEALED in found
    assert hidden(secret).text(f"<{secret}>") == f"<{CONCEALED}>"


PATH = "/services/T0CANARYT/B0CANARYB/xCANARY%20péth"
HOOK = f"https://hooks.example{PATH}?sig=CANARYsig9&v=1"


@pytest.mark.parametrize(
    "told",
    [
        HOOK,
        HOOK.partition("?")[0],
        HOOK.replace("https://hooks.example", ""),
        HOOK.replace("https://hooks.example/services", "mounted:"),
        "/services/T0CANARYT/B0CANARYB/xCANARY%20p%C3%A9th",
        "/services/T0CANARYT/B0CANARYB/xCANARY péth",
        json.dumps(HOOK.replace("https://hooks.example", "")).replace("/", "\\/"),
        HOOK.partition("?")[2],
        HOOK + "&st=500",
        "T0CANARYT and B0CANARYB",
        "sig: canarysig9",
        quote(HOOK, safe=""),
    ],
)
def test_of_a_url_that_is_secret_every_part_is_cut_out_but_its_host(told: str) -> None:
    found = hidden(HOOK).text(f"hooks.example said {told}")
    assert "canary" not in found.lower()
    assert found.startswith("hooks.example said ")


@pytest.mark.parametrize(
    "form", [SECRET.encode().decode("latin-1"), SECRET.encode("latin-1").decode("utf-8", "replace")]
)
def test_letters_that_the_other_side_has_misread(form: str) -> None:
    assert hidden(SECRET).text(form) == CONCEALED
    assert hidden(SECRET).text(json.dumps(form).replace("/", "\\/")) == f'"{CONCEALED}"'


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_bytes_in_other_codes(code: str) -> None:
    assert hidden(SECRET).data(b"x" + SECRET.encode(code)) == b"x" + CONCEALED.encode()


def test_common_words_in_a_secret_url_are_no_secrets() -> None:
    assert hidden(HOOK).value({"services": ["down"]}) == {"services": ["down"]}


def test_name_and_password_in_a_url_are_secrets_of_their_own() -> None:
    found = hidden("postgresql://canary-user:canary-p%40ss@db.example/orders").text(
        "canary-user, canary-p@ss, db.example"
    )
    assert found == f"{CONCEALED}, {CONCEALED}, db.example"


@pytest.mark.parametrize("secret", [SECRET, SECRET.upper()])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
async def test_a_stream_is_searched_across_its_pieces(size: int, secret: str) -> None:
    data = b"x" * 50 + secret.encode() + b"y" * 50 + secret.encode()

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    found = b"".join([part async for part in hidden(secret).stream(parts())])
    assert found == b"x" * 50 + CONCEALED.encode() + b"y" * 50 + CONCEALED.encode()


async def test_nothing_that_an_attempt_reports_holds_what_it_read(caplog: pytest.LogCaptureFixture) -> None:
    """Output, variables, what stands beside, failure, details, partial output, heartbeat, blob, log line."""

    async def tell(ctx: ActivationContext) -> Result:
        secret = await ctx.secret("KEY")
        ctx.heartbeat({"so far": secret})
        ctx.logger.warning("it is %s", secret)

        async def parts() -> AsyncIterator[bytes]:
            yield secret.encode()

        info = await ctx.blobs.write(parts())
        blob = b"".join([part async for part in ctx.blobs.open(info.hash)])
        return Result([secret, blob.decode()], vars={"v": secret}, beside={"b": secret})

    async def fail(ctx: ActivationContext) -> None:
        secret = await ctx.secret("KEY")
        raise ActivationError("X", f"because of {secret}", output=secret, details={"d": secret})

    def node(id: str) -> dict[str, Any]:
        return {"id": id, "type": "python", "config": {"step": id}}

    async with Perdure.open("memory://", secrets={"KEY": SECRET}) as app:
        app.register(tell, fail)
        start = {"id": "start", "type": "start"}
        edges = [{"source": "start", "target": "tell"}, {"source": "tell", "target": "fail"}]
        await app.deploy({"id": "f", "nodes": [start, node("tell"), node("fail")], "edges": edges})
        run = await app.start("f")
        with pytest.raises(RunEnded) as ended:
            await run.result()
        history = await run.history()
    assert SECRET not in repr(history) + repr(ended.value.failure)
    assert CONCEALED in repr(ended.value.failure)
    completed = next(each.event for each in history if type(each.event).__name__ == "ActivationCompleted")
    assert completed.output == [CONCEALED, CONCEALED]  # type: ignore[attr-defined]
    assert completed.vars == {"v": CONCEALED}  # type: ignore[attr-defined]
    assert completed.beside == {"b": CONCEALED}  # type: ignore[attr-defined]
    (line,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert line.getMessage() == f"it is {CONCEALED}"


@pytest.mark.parametrize(
    "wait",
    [
        lambda secret, at: Sleep(at, {"said": secret}),
        lambda secret, at: AwaitSignal(f"from {secret}", at),
        lambda secret, at: Ask(
            {"inputOptions": [{"id": "q", "type": "text", "label": f"echo {secret}"}]}, at, details={"title": secret}
        ),
        lambda secret, at: Result(1, outcome=secret),
    ],
    ids=["sleep", "signal", "task", "outcome"],
)
async def test_neither_waits_nor_outcomes_hold_a_secret(wait: Any) -> None:
    async def answer(ctx: ActivationContext) -> Wait | Result:
        found: Wait | Result = wait(await ctx.secret("KEY"), ctx.now() + 1)
        return found

    async with Perdure.open("memory://", secrets={"KEY": "canary-7x"}) as app:
        app.register(answer)
        nodes = [{"id": "start", "type": "start"}, {"id": "x", "type": "python", "config": {"step": "answer"}}]
        await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "x"}]})
        run = await app.start("f")
        with contextlib.suppress(RunEnded):
            await run.result()
        history = repr(await run.history())
    assert "canary" not in history
    assert CONCEALED in history


async def test_cells_hold_no_secret_and_their_keys_are_made_of_none() -> None:
    async def keep(ctx: ActivationContext) -> Any:
        secret = await ctx.secret("KEY")
        await ctx.cells.put("x", f"<{secret}>".encode())
        for call in (ctx.cells.get(f"of {secret}"), ctx.cells.put(f"of {secret}", b"1")):
            with pytest.raises(InvalidInput):
                await call
        found = await ctx.cells.get("x")
        return None if found is None else found.value.decode()

    async with Perdure.open("memory://", secrets={"KEY": "canary-7x"}) as app:
        app.register(keep)
        nodes = [{"id": "start", "type": "start"}, {"id": "x", "type": "python", "config": {"step": "keep"}}]
        await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "x"}]})
        run = await app.start("f")
        assert await run.result() == f"<{CONCEALED}>"
        cell = await app.store.cells.get("default", "x")
    assert cell is not None
    assert cell.value == f"<{CONCEALED}>".encode()


async def test_a_message_that_is_cut_does_not_end_amid_a_secret() -> None:
    async def fail(ctx: ActivationContext) -> None:
        raise ValueError("x" * 1990 + await ctx.secret("KEY"))

    async with Perdure.open("memory://", secrets={"KEY": "canary-7x-and-more"}) as app:
        app.register(fail)
        nodes = [{"id": "start", "type": "start"}, {"id": "x", "type": "python", "config": {"step": "fail"}}]
        await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "x"}]})
        run = await app.start("f")
        with pytest.raises(RunEnded):
            await run.result()
        assert "canary" not in repr(await run.history())


async def test_log_lines_of_every_shape_are_written_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    async def tell(ctx: ActivationContext) -> None:
        secret = await ctx.secret("KEY")
        ctx.logger.warning("named %(a)s", {"a": secret})
        ctx.logger.warning("%d of %s", secret)  # noqa: PLE1206
        ctx.logger.warning("later", exc_info=ValueError(secret))
        ctx.logger.warning("more", extra={"kept": secret}, stack_info=True)
        try:
            raise ValueError(secret)
        except ValueError:
            ctx.logger.exception("now")

    async with Perdure.open("memory://", secrets={"KEY": "canary-7x"}) as app:
        app.register(tell)
        nodes = [{"id": "start", "type": "start"}, {"id": "x", "type": "python", "config": {"step": "tell"}}]
        await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "x"}]})
        await (await app.start("f")).result()
    lines = [record for record in caplog.records if record.name == "perdure.handlers"]
    assert len(lines) == 5
    assert sum(CONCEALED in line.getMessage() for line in lines) == 4
    assert not [line for line in lines if "canary" in line.getMessage() + str(line.__dict__) + str(line.exc_text)]
