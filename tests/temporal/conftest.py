from collections.abc import Iterator

import pytest

from tests.temporal.server import running_server


@pytest.fixture(scope="session")
def temporal_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("temporal")) as address:
        yield address
