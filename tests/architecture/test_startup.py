"""The core install stays small and starts fast."""

import subprocess
import sys

import pytest

# What only an extra, the tests or one edge needs must not come along with the library.
HEAVY = ("aiohttp", "aiokafka", "nats", "opentelemetry", "pytest", "redis", "temporalio", "uvicorn")
IMPORT = "import perdure, sys, time; print(time.process_time()); print(*sys.modules)"


def import_in_a_new_process() -> tuple[float, set[str]]:
    done = subprocess.run([sys.executable, "-I", "-c", IMPORT], capture_output=True, text=True, check=True)
    seconds, modules = done.stdout.splitlines()
    return float(seconds), set(modules.split())


def test_importing_the_library_loads_nothing_that_is_optional() -> None:
    _, modules = import_in_a_new_process()
    assert modules.isdisjoint(HEAVY)


@pytest.mark.serial
def test_importing_the_library_takes_less_than_half_a_second_of_cpu() -> None:
    assert min(import_in_a_new_process()[0] for _ in range(3)) < 0.5
