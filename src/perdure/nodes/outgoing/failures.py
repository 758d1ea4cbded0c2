"""What can go wrong with a call, as the failure of an activation: a handler that does not catch it fails with it."""

from __future__ import annotations

from perdure.engine.handlers import ActivationError


class CallFailed(ActivationError):
    pass


def refused_address(host: str, port: int, kind: str) -> CallFailed:
    """`kind` says which class of address it is, not which address: names inside must not be found out by asking."""
    return CallFailed(
        "EGRESS_REFUSED",
        f"{host} is not called: its address is {kind}",
        details={"host": host, "port": port, "address": kind, "remedy": "the operator may allow it (http_allow)"},
    )


def refused_host(host: str, why: str) -> CallFailed:
    return CallFailed("EGRESS_REFUSED", f"{host} is not called: {why}", details={"host": host})


def invalid_url(why: str) -> CallFailed:
    return CallFailed("HTTP_URL_INVALID", f"the URL cannot be called: {why}")


def invalid_request(why: str, **details: object) -> CallFailed:
    return CallFailed("HTTP_REQUEST_INVALID", f"the request cannot be sent: {why}", details=details or None)


def invalid_response(why: str, **details: object) -> CallFailed:
    return CallFailed("HTTP_RESPONSE_INVALID", f"the response cannot be used: {why}", details=details or None)
