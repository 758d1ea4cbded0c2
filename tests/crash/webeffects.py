"""A web server that writes what it is asked into the ledger, as soon as it is asked: the kill may come before it
answers, or between its answer and the record of it."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from perdure.nodes.outgoing.urls import Place
from tests.crash.ledger import Ledger


class WebEffects(dict[str, Place]):
    """Where each host is played. The server, a thread of the process that is killed, begins with the first call."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger
        self._place: Place | None = None

    def get(self, name: str, default: Any = None) -> Any:
        if name != "effects.example":
            return default
        if self._place is None:
            self._place = Place("http", "127.0.0.1", _serve(self._ledger))
        return self._place


def _serve(ledger: Ledger) -> int:
    class Effects(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            ledger.effect(str(self.headers["Idempotency-Key"]))
            body = json.dumps({"did": self.command}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = handle_one  # noqa: N815

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Effects)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])
