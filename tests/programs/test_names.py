"""The names that validation knows are the names that the environment has."""

import pytest

from perdure.programs.flow.names import ENVIRONMENT_NAMES
from perdure.testing.pure import PureRunner

DOCUMENT = {
    "nodes": [{"id": "start", "type": "start"}, {"id": "n", "type": "json", "config": {"data": None}}],
    "edges": [{"source": "start", "target": "n"}],
}


@pytest.mark.parametrize("name", sorted(ENVIRONMENT_NAMES))
def test_every_name_can_be_read(name: str) -> None:
    look = {"id": "n", "type": "json", "config": {"data": f"${{{name}}}"}}
    result = PureRunner({**DOCUMENT, "nodes": [DOCUMENT["nodes"][0], look]}).run(  # type: ignore[index]
        {"x": 1}, thread={"tenant": "t"}, lookups={"vip": "v"}
    )
    assert result.status == "COMPLETED", result.failure
