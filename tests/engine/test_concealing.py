"""What an attempt has read as a secret is in nothing that it reports."""

from __future__ import annotations

import base64
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
from perdure.errors import RunEnded

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
